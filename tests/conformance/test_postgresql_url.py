"""PostgreSQL's URLs are read as libpq reads them, and unusable parts are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ArgumentError, SystemMissing
from assay.systems.postgresql import installation
from assay.systems.postgresql.url import VARIABLES, address_of


@pytest.fixture(autouse=True)
def _no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable.name, raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")


def test_every_part_of_a_url_is_read(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    address = address_of(
        "postgresql://us%40er:pa%2Fss%40@db.example:6000/my%20base"
        f"?sslmode=verify-full&sslrootcert={tmp_path}/ca.pem"
    )
    assert address.driver == "postgresql"
    assert (address.host, address.port, address.unix) == ("db.example", 6000, None)
    assert (address.user, address.password, address.database) == ("us@er", "pa/ss@", "my base")
    assert (address.tls, address.ca_file) == ("verify", f"{tmp_path}/ca.pem")


def test_missing_parts_of_a_url_are_as_with_libpq(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "somebody")
    monkeypatch.setenv("LOGNAME", "somebody")
    bare = address_of("postgres://")
    assert bare.unix == "/var/run/postgresql/.s.PGSQL.5432"
    assert (bare.user, bare.database, bare.password, bare.tls) == (
        "somebody",
        "somebody",
        None,
        "off",
    )
    tcp = address_of("postgres://user@[::1]/")
    assert (tcp.host, tcp.port, tcp.database, tcp.tls) == ("::1", 5432, "user", "prefer")
    monkeypatch.setenv("PGPASSWORD", "secret")
    assert address_of("postgres://").password == "secret"


def test_a_folder_as_host_means_a_socket() -> None:
    by_parameter = address_of("postgresql://user@/base?host=/run/PG/&port=6543")
    by_host = address_of("postgresql://user@%2Frun%2FPG:6543/base")
    assert by_parameter.unix == by_host.unix == "/run/PG/.s.PGSQL.6543"
    assert by_parameter.host is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://u:secret@h:port/", "port"),
        ("postgresql://u:secret@h:70000/", "port"),
        ("postgresql://u:secret@h/?port=0", "port=0"),
        ("postgresql://u:secret@h:0/", "port=0"),
        ("postgresql://u:secret@h/?sslmode=yes", "sslmode=yes"),
        ("postgresql://u:secret@h/?ssl_mode=require", "'ssl_mode'"),
        ("postgresql://u@h/?password=secret", "'password'"),
    ],
)
def test_unusable_parts_are_named_without_the_password(url: str, expected: str) -> None:
    with pytest.raises(ArgumentError, match=expected) as refusal:
        address_of(url)
    assert "secret" not in f"{refusal.value} {refusal.value.hint}"


def test_missing_programs_are_reported_with_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_POSTGRESQL_BIN", "/nowhere")
    with pytest.raises(SystemMissing, match="/nowhere") as missing:
        installation.find_server()
    assert "apt-get install postgresql" in str(missing.value.hint)
