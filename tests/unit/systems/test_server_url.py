"""Server URLs: each part is read or refused, and no message has a password."""

from __future__ import annotations

import pytest

from assay.contracts import server_url
from assay.errors import ArgumentError
from assay.experiment.choices.checked_choices import system_choices
from assay.systems.mysql import MYSQL
from assay.systems.mysql_protocol import url as mysql_url
from assay.systems.postgresql.url import address_of as postgresql_address


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("se,cret", "se,cret"),
        ("se@cr:et", "se@cr:et"),
        ("se%2Fcr%3Fe%23t", "se/cr?e#t"),
        ("se%5Bcr%5D%25et", "se[cr]%et"),
        ("se[cret", "se[cret"),
        ('se"cret', 'se"cret'),
        ("sqlite,se,cret", "sqlite,se,cret"),
    ],
)
def test_a_password_may_have_any_character_also_in_a_list(written: str, meant: str) -> None:
    one = f"postgresql://me:{written}@[::1]:5433/db"
    other = f"mysql://me:{written}@host/db?ssl-mode=disabled"
    choices = system_choices([f"sqlite,{one},{other}, null[rows=1,delay=constant:1ms]"])
    assert [choice.name for choice in choices] == ["sqlite", "postgresql", "mysql", "null"]
    assert (choices[1].url, choices[2].url) == (one, other)
    address = postgresql_address(one)
    assert (address.password, address.host, address.port) == (meant, "::1", 5433)
    assert mysql_url.address_of(MYSQL.product, other).password == meant
    assert choices[1].label == "postgresql at ::1"
    assert choices[1].url_without_password == "postgresql://me@[::1]:5433/db"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:geh/eim@host/db",
        "postgresql://me:geh?eim@host/db",
        "postgresql://me:geh#eim@host/db",
        "postgresql://me:geh%eim@host/db",
        "postgresql://me:geheim@[::1/db",
        "postgresql://me:geheim@::1/db",
        "postgresql://me:geheim@host:port/db",
        "postgresql://me:geheim@host/db?geh,eim@x=1",
        "postgresql://me:geheim-@:/geheim@host/db",
        "postgresql://me:geheim@geheim?geheim@host/db",
        "postgresql://me:geheim@geheim#geheim@host/db",
        "oracel://me:geheim@host/db",
    ],
)
def test_the_password_of_a_url_that_cannot_be_read_is_not_shown(url: str) -> None:
    """What is said of it: `tests/unit/cli/transcripts/urls.txt`."""
    assert "me:geh" not in server_url.without_password(url)


def test_an_unreadable_url_is_reported_with_its_place_and_no_password() -> None:
    url = "postgresql://me:geh/eim@host[/db"
    assert server_url.without_password(url) == "postgresql://***@host[/db"
    assert server_url.place(url) == "a URL that cannot be read"
    with pytest.raises(ArgumentError):
        server_url.parts(url)


def test_what_stands_for_a_port_and_is_none_is_not_shown() -> None:
    """The ``@`` and the host were left out."""
    assert server_url.without_password("sqlite://me:geheim%2F1") == "sqlite://me:***"
    for url in ("mysql://host:3306/db", "postgresql://[::1]/db", "sqlite:///a:b"):
        assert server_url.without_password(url) == url


def test_an_at_sign_may_stand_behind_a_typed_password() -> None:
    typed = server_url.with_password("postgresql://me@host/d@b", "ge@heim")
    address = postgresql_address(typed)
    assert (address.password, address.host, address.database) == ("ge@heim", "host", "d@b")


def test_a_socket_is_named_as_its_path() -> None:
    [choice] = system_choices(["postgresql://me@%2Ftmp%2FPG/db"])
    assert choice.label == "postgresql at /tmp/pg"


def test_several_hosts_are_shown_with_their_ports_and_a_password_is_not() -> None:
    assert server_url.without_password("postgresql://a:5433,b:5434/d") == (
        "postgresql://a:5433,b:5434/d"
    )
    assert server_url.without_password("postgresql://a:5433,b/d") == "postgresql://a:5433,b/d"
    assert "geheim" not in server_url.without_password("postgresql://me:geheim,b/d")
