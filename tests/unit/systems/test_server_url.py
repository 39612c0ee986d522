"""Server URLs: each part is read, from all its sources, or refused, and no message has a
password."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from assay.contracts import server_url
from assay.contracts.deployment import Address
from assay.errors import ArgumentError
from assay.experiment.choices import checked_choices
from assay.experiment.choices.checked_choices import system_choice, system_choices
from assay.systems.mariadb.system import MARIADB
from assay.systems.mysql.system import MYSQL
from assay.systems.mysql_protocol import url as mysql_url
from assay.systems.postgresql import url as postgresql
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


def test_an_at_sign_may_stand_behind_a_typed_password() -> None:
    typed = server_url.with_password("postgresql://me@host/d@b", "ge@heim")
    address = postgresql_address(typed)
    assert (address.password, address.host, address.database) == ("ge@heim", "host", "d@b")


def test_several_hosts_are_shown_with_their_ports_and_a_password_is_not() -> None:
    assert server_url.without_password("postgresql://a:5433,b:5434/d") == (
        "postgresql://a:5433,b:5434/d"
    )
    assert server_url.without_password("postgresql://a:5433,b/d") == "postgresql://a:5433,b/d"
    assert "geheim" not in server_url.without_password("postgresql://me:geheim,b/d")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, and nothing in the environment."""
    for variable in (*postgresql.VARIABLES, *mysql_url.VARIABLES):
        monkeypatch.delenv(variable.name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USER", "somebody")
    monkeypatch.setenv("LOGNAME", "somebody")
    monkeypatch.setattr("assay.systems.mysql_protocol.url._DEFAULT_FILES", ())
    monkeypatch.setattr(mysql_url, "DEFAULT_SOCKETS", ())
    return tmp_path


def secret(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o600)


def test_the_url_overrides_the_service_and_that_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".pg_service.conf").write_text(
        "# ours\n[other]\nhost=wrong\n\n[shop]\nhost=db.example\nport=5544\nuser=anna\n"
        "keepalives=1\npassword=of the service\n"
    )
    monkeypatch.setenv("PGSERVICE", "shop")
    monkeypatch.setenv("PGUSER", "nobody")
    monkeypatch.setenv("PGDATABASE", "sales")
    monkeypatch.setenv("PGPASSWORD", "of the environment")
    address = postgresql.address_of("postgresql://:6000")
    assert (address.host, address.port, address.user) == ("db.example", 6000, "anna")
    assert (address.database, address.password) == ("sales", "of the service")
    assert {name: address.origins[name] for name in ("host", "port", "user", "dbname")} == {
        "host": "service shop in ~/.pg_service.conf",
        "port": "URL",
        "user": "service shop in ~/.pg_service.conf",
        "dbname": "PGDATABASE",
    }
    with pytest.raises(ArgumentError, match=r"no service 'shoq' in ~/\.pg_service"):
        postgresql.address_of("postgresql://?service=shoq")


def test_a_completed_url_names_its_server_and_holds_no_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "PGHOST": "db.example",
        "PGPORT": "5544",
        "PGUSER": "us@er",
        "PGDATABASE": "my base",
        "PGPASSWORD": "geheim",
        "PGSSLMODE": "require",
        "PGOPTIONS": "-c geqo=off",
    }.items():
        monkeypatch.setenv(name, value)
    choice = system_choice("postgresql://")
    assert choice.label == "postgresql at db.example"
    assert choice.url == (
        "postgresql://us%40er@db.example:5544/my%20base?sslmode=require&options=-c%20geqo%3Doff"
    )
    assert "geheim" not in repr(choice)
    again = postgresql.address_of(choice.url)
    here = postgresql.address_of("postgresql://")
    assert again == structs.replace(here, origins=again.origins)
    assert again.password == "geheim"
    assert "SELECT set_config('geqo', 'off', false)" in again.session_statements
    whole = "postgresql://a:b@h:1/d?sslmode=disable&options=-c%20a=1"
    assert system_choice(whole).url == whole, "given parts are unchanged"


def test_a_password_file_is_read_as_libpq_reads_it(home: Path) -> None:
    secret(
        home / ".pgpass",
        "# host:port:database:user:password\nother:*:*:*:wrong\n"
        "db\\:1:5432:*:anna:se\\:cr\\\\et:more\n*:*:sales:*:second\nlocalhost:*:*:*:third\n",
    )

    def found(url: str) -> tuple[str | None, str]:
        address = postgresql.address_of(url)
        return address.password, address.origins["password_from"]

    assert found("postgresql://anna@db%3A1/x") == ("se:cr\\et:more", "~/.pgpass, line 3")
    assert found("postgresql://x@h/sales") == ("second", "~/.pgpass, line 4")
    assert found("postgresql://x@/y") == ("third", "~/.pgpass, line 5")
    assert found("postgresql://x@h/y") == (None, "no line of ~/.pgpass fits")
    assert found("postgresql://x:own@h/sales") == ("own", "URL")
    (home / ".pgpass").chmod(0o644)
    password, why = found("postgresql://x@h/sales")
    assert password is None
    assert "others can read it: chmod 600 ~/.pgpass" in why


@pytest.mark.parametrize(
    ("url", "tls", "ca_file"),
    [
        ("postgresql://h/", "prefer", None),
        ("postgresql://h/?sslmode=allow", "allow", None),
        ("postgresql://h/?sslmode=verify-full", "verify", None),
        ("postgresql://h/?sslrootcert=system", "verify", None),
        ("postgresql://h/?sslmode=require&sslrootcert={ca}", "verify-ca", "{ca}"),
        ("postgresql://h/?sslmode=prefer&sslrootcert={ca}", "prefer", None),
        ("postgresql:///?sslmode=require", "off", None),
        ("mariadb://h/d", "prefer", None),
        ("mariadb://h/d?ssl-ca={ca}", "verify-ca", "{ca}"),
        ("mariadb://h/d?ssl-ca={ca}&ssl-mode=VERIFY_IDENTITY", "verify", "{ca}"),
        ("mariadb://h/d?ssl-ca={ca}&ssl-mode=required", "require", None),
    ],
)
def test_which_certificates_are_verified(
    home: Path, url: str, tls: str, ca_file: str | None
) -> None:
    ca = home / "ca+1.pem"
    ca.touch()
    address_of = of if url.startswith("mariadb") else postgresql.address_of
    address = address_of(url.format(ca=ca))
    assert address.tls == tls
    assert address.ca_file == (ca_file and ca_file.format(ca=ca))


def test_certificates_in_the_home_are_found(home: Path) -> None:
    folder = home / ".postgresql"
    folder.mkdir()
    for name in ("root.crt", "postgresql.crt"):
        (folder / name).touch()
    with pytest.raises(ArgumentError, match="expected its key as well"):
        postgresql.address_of("postgresql://h/?sslmode=require")
    secret(folder / "postgresql.key", "")
    address = postgresql.address_of("postgresql://h/?sslmode=require")
    assert (address.tls, address.ca_file) == ("verify-ca", str(folder / "root.crt"))
    assert address.cert_file == str(folder / "postgresql.crt")
    assert address.origins["sslkey"] == "~/.postgresql/postgresql.key"
    for bad, message in {
        "sslrootcert=/nowhere&sslmode=verify-ca": "sslrootcert=/nowhere in the URL: there is no",
        "sslrootcert=system&sslmode=require": "needs sslmode=verify-full",
        "sslcert=/nowhere": "sslcert=/nowhere in the URL: there is no such file",
        "options=-B%201": "expected -c NAME=VALUE, found -B",
        "connect_timeout=soon": "connect_timeout=soon in the URL: expected a whole number",
    }.items():
        with pytest.raises(ArgumentError, match=message):
            postgresql.address_of(f"postgresql://h/?{bad}")
    (folder / "postgresql.key").chmod(0o644)
    with pytest.raises(ArgumentError, match="others can read the key"):
        postgresql.address_of("postgresql://h/?sslmode=require")


OPTIONS = r"""
!include more.cnf
[mysqld]
user = wrong
[client]
user = anna        # of us
password = "se#cr\"et\\"
port=3307
loose-connect_timeout = 7
[mysql]
database = shop
[client_test]
user = tester
"""


def of(url: str) -> Address:
    return mysql_url.address_of(MARIADB.product, url)


def test_option_files_are_read_as_the_clients_read_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "more.cnf").write_text("[client]\nhost=from.more\nuser=before\nssl-ca='/no such'\n")
    secret(home / ".my.cnf", OPTIONS)
    monkeypatch.setenv("MYSQL_HOST", "weakest")
    address = of("mariadb://?ssl-mode=preferred")
    assert (address.host, address.port, address.user) == ("from.more", 3307, "anna")
    assert (address.database, address.password) == ("shop", 'se#cr"et\\')
    assert (address.connect_timeout_s, address.tls) == (7.0, "prefer")
    assert address.origins["host"] == "[client] in ~/more.cnf"
    assert address.origins["password_from"] == "[client] in ~/.my.cnf"
    assert of("mariadb://?defaults-group-suffix=_test&ssl-mode=disabled").user == "tester"
    assert system_choice("mariadb://?ssl-mode=disabled").url == (
        "mariadb://anna@from.more:3307/shop?ssl-mode=disabled"
    )
    other = home / "other.cnf"
    other.write_text("[client]\nssl\nssl-verify-server-cert\n")
    only = of(f"mariadb://u@/d?defaults-file={other}")
    assert (only.host, only.tls, only.password) == ("weakest", "verify", None)
    with pytest.raises(ArgumentError, match="defaults-file=/nowhere in the URL: there is no"):
        of("mariadb://h/d?defaults-file=/nowhere")
    other.chmod(0o666)
    assert of(f"mariadb://u@/d?defaults-file={other}").tls == "prefer", "others can write it"


def test_localhost_means_the_socket_as_with_the_clients_but_not_in_a_url(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MYSQL_UNIX_PORT", "/run/it.sock")
    assert of("mariadb:///d").unix == "/run/it.sock"
    assert system_choice("mariadb:///d").label == "mariadb at /run/it.sock"
    monkeypatch.setenv("MYSQL_HOST", "localhost")
    assert of("mariadb:///d").unix == "/run/it.sock"
    assert of("mariadb:///d").origins["socket"] == "MYSQL_UNIX_PORT"
    assert of("mariadb://localhost/d").host == "localhost"
    assert of("mariadb://:3307/d").port == 3307
    monkeypatch.setenv("MYSQL_HOST", "db")
    monkeypatch.setenv("MYSQL_TCP_PORT", "x")
    with pytest.raises(ArgumentError, match=r"port=x \(MYSQL_TCP_PORT\): expected a number"):
        of("mariadb:///d")


def test_an_unreadable_file_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in another user's home directory."""

    def closed(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    for name in ("is_file", "exists", "is_dir"):
        monkeypatch.setattr(Path, name, closed)
    assert postgresql.address_of("postgresql://u@h/d").password is None
    assert of("mariadb://u@h/d").password is None
    monkeypatch.setenv("PGUSER", "\udcff")
    with pytest.raises(ArgumentError, match=r"user \(PGUSER\): expected UTF-8"):
        postgresql.address_of("postgresql://h/d")


@pytest.mark.parametrize(
    ("url", "environment", "said"),
    [
        ("cassandra://u@a:1,b:2/d", {}, "expected one host in the URL, found several: a:1,b:2"),
        ("mongodb://a,b/d", {}, "expected one host in the URL, found several: a,b"),
        ("postgresql://a,b/?port=1,2,3", {}, "port=1,2,3 in the URL: expected 2, one for each"),
        ("postgresql://h/", {"PGHOSTADDR": "10.0.0.1,10.0.0.2"}, "host=h in the URL: expected 2"),
        ("postgresql://h/?target_session_attrs=slave", {}, "target_session_attrs=slave in the URL"),
        ("postgresql://h/", {"PGHOSTADDR": "db"}, "hostaddr=db (PGHOSTADDR): expected an IP"),
        ("postgresql://h/", {"PGREQUIREAUTH": "none"}, "require_auth=none (PGREQUIREAUTH): not"),
        ("postgresql://h/", {"PGCHANNELBINDING": "require"}, "only disable or prefer is supported"),
        ("postgresql://h/", {"PGSSLCRL": "f"}, "sslcrl=f (PGSSLCRL): not supported"),
        ("postgresql://h/?channel_binding=require", {}, "parameter 'channel_binding' is not one"),
    ],
)
def test_what_is_not_done_is_refused_and_not_passed_over(
    url: str, environment: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ArgumentError) as refused:
        checked_choices.system_choices([url])
    assert said in refused.value.message


def test_what_asks_for_nothing_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCHANNELBINDING", "prefer")
    assert postgresql.address_of("postgresql://h/").host == "h"


def test_a_service_that_asks_for_what_is_not_done_is_refused(home: Path) -> None:
    (home / ".pg_service.conf").write_text("[shop]\nhost=h\nrequirepeer=postgres\n")
    with pytest.raises(ArgumentError, match=r"requirepeer=postgres \(service shop in ~/"):
        postgresql.address_of("postgresql://?service=shop")


def test_an_address_stands_beside_the_host_that_certificates_are_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGHOSTADDR", "10.0.0.1")
    address = postgresql.address_of("postgresql://db.example/")
    assert (address.host, address.host_address) == ("db.example", "10.0.0.1")
    assert address.origins["hostaddr"] == "PGHOSTADDR"
    assert postgresql.address_of("postgresql://").host == "10.0.0.1"
    (choice,) = checked_choices.system_choices(["postgresql://db.example/"])
    assert "hostaddr=10.0.0.1" in str(choice.url)


@pytest.mark.parametrize(
    ("url", "environment", "places"),
    [
        ("postgresql://u:p@a:1,[::1]:2/d", {}, [("a", 1), ("::1", 2)]),
        ("postgresql://u:p@a,b:5433/d", {}, [("a", 5432), ("b", 5433)]),
        ("postgresql://u:p@a,b/d", {"PGPORT": "7"}, [("a", 7), ("b", 7)]),
        ("postgresql://u:p@/d?host=a%2Cb&port=1%2C2", {}, [("a", 1), ("b", 2)]),
        ("postgresql://u:p@/d", {"PGHOST": "a,b", "PGPORT": "3,4"}, [("a", 3), ("b", 4)]),
    ],
)
def test_several_servers_are_listed_as_for_libpq(
    url: str,
    environment: dict[str, str],
    places: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PGTARGETSESSIONATTRS", "read-write")
    for form in (url, postgresql.complete(url).url):
        asked = postgresql.servers_of(form)
        assert asked.session_attrs == "read-write"
        assert [(one.host, one.port) for one in asked.addresses] == places
        assert {one.password for one in asked.addresses} == {"p"}
    (choice,) = checked_choices.system_choices([url])
    assert choice.url_without_password == postgresql.complete(url).url.replace(":p@", "@")


def test_settings_of_the_environment_are_of_each_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGTZ", "Asia/Tokyo")
    (statement,) = postgresql.address_of("postgresql://h/").session_statements
    assert statement == "SELECT set_config('timezone', 'Asia/Tokyo', false)"


def test_an_option_of_a_file_that_cannot_be_honoured_is_refused(home: Path) -> None:
    secret(home / ".my.cnf", "[client]\nssl-crl = /x\n")
    with pytest.raises(ArgumentError, match=r"ssl-crl \(\[client\] in ~/\.my\.cnf\): not supp"):
        of("mariadb://h/d")


def test_a_login_path_is_said_not_to_be_read(home: Path) -> None:
    (home / ".mylogin.cnf").touch()
    origins = of("mariadb://u@h/d").origins
    assert origins["password_from"] == "none found; ~/.mylogin.cnf is encrypted and not read"
