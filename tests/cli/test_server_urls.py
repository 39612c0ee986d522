"""The URL of no server or of another server: the message has the URL, what was expected, the cause
and the fix, and no password."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from test_foreign_servers import null_server

import forked_programs
from assay.contracts.deployment import Address
from assay.errors import SystemRefused
from assay.systems import first_session
from assay.systems.mariadb import MARIADB
from assay.systems.mysql_protocol import url as mysql_url
from assay.systems.postgresql.url import EXPECTED
from assay.systems.postgresql.url import address_of as postgresql_address

BIN = Path(sys.executable).parent


def run(folder: Path, url: str, *, language: str = "sql") -> tuple[int, str]:
    """Exit code and standard error."""
    script = folder / f"one.{language}"
    script.write_text("SELECT a FROM t WHERE id = 1;\n" if language == "cql" else "SELECT 1;\n")
    words = ["run", script.name, "--transactions", "1", "--on", url]
    ended = forked_programs.run("assay", words, folder=folder)
    return ended.returncode, ended.stderr


@pytest.mark.parametrize("scheme", ["postgresql", "mariadb"])
def test_a_port_where_nothing_listens(tmp_path: Path, scheme: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        code, printed = run(tmp_path, f"{scheme}://u:secret@{place}/d")
    assert code == 3
    assert f"{scheme}://u@{place}/d: expected a " in printed
    assert f"server at {place}; " in printed
    assert "Connection refused" in printed
    assert "start the server, or correct host and port in the URL" in printed
    assert "secret" not in printed


@pytest.mark.parametrize(
    ("protocol", "asked"), [("postgresql", "sslmode=require"), ("mysql", "ssl-mode=required")]
)
def test_missing_tls_is_reported_with_the_parameters_of_the_url(
    tmp_path: Path, protocol: str, asked: str
) -> None:
    with null_server("--protocol", protocol) as address:
        code, printed = run(tmp_path, f"{protocol}://u@{address}/d?{asked}")
    assert code == 3
    parameter = asked.partition("=")[0]
    assert f"{parameter} (URL) asks for it" in printed
    assert f"turn TLS on in the server, or ask for less with {parameter} (URL)" in printed


def test_a_server_of_another_protocol_is_recognised_by_its_greeting(tmp_path: Path) -> None:
    with null_server("--protocol", "mysql") as address:
        code, printed = run(tmp_path, f"postgresql://u@{address}/d")
        assert code == 3
        assert "answers there: mariadb:// in the URL" in printed
        code, printed = run(tmp_path, f"cassandra://u:p@{address}/d?tls=require", language="cql")
    assert code == 3
    assert "answers there: mariadb:// in the URL" in printed


@pytest.mark.parametrize(
    ("class_", "code", "expected", "fix"),
    [
        ("authentication", "28000", "the name of this account, me, is used", "USER:PASSWORD@"),
        (
            "unknown object",
            "3D000",
            "with a database 'nosuch' for user 'me'",
            "create the database",
        ),
        ("timeout", "silent", "server at h:1", "may stay silent"),
        ("timeout", "no connection", "server at h:1", "firewall"),
        ("timeout", "", "server at h:1", "log"),
        ("authentication", "certificate", "server at h:1; no", "X.509 version 3"),
    ],
)
def test_a_refusal_is_explained(
    monkeypatch: pytest.MonkeyPatch, class_: str, code: str, expected: str, fix: str
) -> None:
    def refusing(_address: Address) -> nullcontext[None]:
        raise SystemRefused("no", error_class=class_, code=code)

    monkeypatch.setattr(first_session, "session", refusing)
    address = Address(
        driver="postgresql",
        host="h",
        port=1,
        user="me",
        database="nosuch",
        origins={"user": "login name"},
    )
    with (
        pytest.raises(SystemRefused) as refusal,
        first_session.first_session("postgresql://h:1/nosuch", address, EXPECTED),
    ):
        pass
    assert refusal.value.message.startswith("postgresql://h:1/nosuch: expected a PostgreSQL server")
    assert expected in refusal.value.message
    assert fix in str(refusal.value.hint)


NO_LINE = 'no pg_hba.conf entry for host "h", user "me", database "d", no encryption'
DENIED = "Access denied for user 'me'@'h' (using password: YES)"
CORRECT = "correct user and password"


@pytest.mark.parametrize(
    ("url", "tls", "code", "message", "fix", "is_password_doubted"),
    [
        ("postgresql://h:1/d", "off", "28000", NO_LINE, "sslmode=require", False),
        ("postgresql://h:1/d", "require", "28000", NO_LINE, "add a line for", False),
        ("postgresql://h:1/d", "prefer", "clear text", "no", "sslmode=require", False),
        ("postgresql://h:1/d", "off", "28P01", "no", CORRECT, True),
        (
            "postgresql://h:1/d",
            "require",
            "28000",
            "connection requires a valid client certificate",
            "sslcert=FILE&sslkey=FILE",
            False,
        ),
        ("mariadb://h:1/d", "off", "1045", DENIED, "ssl-mode=REQUIRED", True),
        ("mariadb://h:1/d", "prefer", "1045", DENIED, "ssl-cert=FILE&ssl-key=FILE", True),
        ("mariadb://h:1/d", "off", "3159", "no", "ssl-mode=REQUIRED", False),
        ("mariadb://localhost/d", "prefer", "1045", DENIED, "?socket=FILE", True),
    ],
)
def test_a_refused_login_is_explained_by_what_the_server_misses(
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    tls: str,
    code: str,
    message: str,
    fix: str,
    is_password_doubted: bool,
) -> None:
    def refusing(_address: Address) -> nullcontext[None]:
        raise SystemRefused(message, error_class="authentication", code=code)

    monkeypatch.setattr(first_session, "session", refusing)
    whole = url.replace("://", "://me:geheim@")
    if url.startswith("postgresql"):
        expected, address = EXPECTED, postgresql_address(whole)
    else:
        product = MARIADB.product
        expected, address = mysql_url.expected(product), mysql_url.address_of(product, whole)
    address = replace(address, tls=tls)
    with (
        pytest.raises(SystemRefused) as refusal,
        first_session.first_session(url, address, expected),
    ):
        pass
    hint = str(refusal.value.hint)
    assert fix in hint
    assert (CORRECT in hint) is is_password_doubted


def test_a_missing_socket_is_named_by_its_parameter(tmp_path: Path) -> None:
    _, printed = run(tmp_path, f"mysql://u@/d?socket={tmp_path}/no.sock")
    assert "correct the socket's file (socket=FILE) in the URL" in printed


def test_a_missing_database_is_explained(tmp_path: Path) -> None:
    code, printed = run(tmp_path, "mariadb://u@127.0.0.1:1")
    assert code == 2
    assert "statements run in that database" in printed


def test_a_folder_that_is_missing_is_named_with_a_hint_that_works(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    code, printed = run(tmp_path, "sqlite:///away/x.db")
    assert code == 2
    assert "there is no folder away" in printed
    assert "mkdir -p away && touch away/x.db" in printed
    assert "an absolute path has four slashes: sqlite:////away/x.db" in printed
    _, printed = run(tmp_path, f"sqlite://{tmp_path}/there/x.db")
    assert f"an absolute path has four slashes: sqlite:///{tmp_path}/there/x.db" in printed
    assert "touch" not in printed
    _, printed = run(tmp_path, "sqlite:///x.db")
    assert "there is no file x.db" in printed and "make it with: touch x.db" in printed


def test_a_file_that_is_no_database_is_refused_before_anything_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear database,\n", encoding="utf-8")
    (tmp_path / "empty").touch()
    begins = r"that begins with 'Dear database,\n'"  # escaped once
    for url, found in (
        ("sqlite:///letter.txt", f"expected a SQLite database, found a file {begins}"),
        ("duckdb:///letter.txt", f"expected a DuckDB database, found a file {begins}"),
        ("duckdb:///empty", "expected a DuckDB database, found a file that is empty"),
        (f"sqlite:///{tmp_path}", "expected a file, found the folder"),
    ):
        code, printed = run(tmp_path, url)
        assert (code, found in printed) == (2, True), printed
    assert run(tmp_path, "sqlite:///empty")[0] == 0, "an empty file is an empty database"


def test_a_plan_says_where_each_part_of_an_address_comes_from(tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    environment = {"PGHOST": "db.example", "PGUSER": "me", "PGPASSWORD": "geheim", "HOME": "/tmp"}
    ended = forked_programs.run(
        "assay",
        ["plan", "one.sql", "--on", "postgresql:///shop"],
        folder=tmp_path,
        environment={**os.environ, **environment},
    )
    assert ended.returncode == 0, ended.stderr
    assert (
        "postgresql at db.example: postgresql://me@db.example/shop; host: PGHOST, port: default"
        in (ended.stderr)
    )
    assert "password: PGPASSWORD" in ended.stderr
    assert "geheim" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("host", "name"),
    [("db.example", "DNS:db.example"), ("10.0.0.7", "IP:10.0.0.7"), ("::1", "IP:::1")],
)
def test_the_name_in_a_new_certificate_is_of_the_hosts_kind(host: str, name: str) -> None:
    assert first_session._alternative_name(host) == name
