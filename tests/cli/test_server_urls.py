"""Servers by URL: one or several, on two machines, behind a delay; what is refused, and
explained."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import forked_programs
import servers
from assay import registry
from assay.contracts.deployment import Address
from assay.errors import SystemRefused
from assay.systems import sessions
from assay.systems.mariadb.system import MARIADB
from assay.systems.mysql_protocol import url as mysql_url
from assay.systems.postgresql.url import EXPECTED
from assay.systems.postgresql.url import address_of as postgresql_address
from commands import Assay, run_in
from forked_programs import Started
from running import started, wait_for_second
from waiting import HANG_S


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
    address = Address(
        "postgresql", host="h", port=1, user="me", database="nosuch",
        origins={"user": "login name"},
    )  # fmt: skip
    error = SystemRefused("no", error_class=class_, code=code)
    found = refusal(monkeypatch, "postgresql://h:1/nosuch", address, EXPECTED, error)
    assert found.message.startswith("postgresql://h:1/nosuch: expected a PostgreSQL server")
    assert expected in found.message
    assert fix in str(found.hint)


def refusal(
    monkeypatch: pytest.MonkeyPatch, url: str, address: Address, expected: Any, error: SystemRefused
) -> SystemRefused:
    """How a session is refused that the engine refuses with this error."""

    def refusing(_address: Address) -> nullcontext[None]:
        raise error

    monkeypatch.setattr(sessions, "session", refusing)
    with pytest.raises(SystemRefused) as caught, sessions.first_session(url, address, expected):
        pass
    return caught.value


def test_a_setting_that_the_server_refuses_is_no_wrong_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = Address("postgresql", host="h", port=1, session_statements=("SET a = 'b'",))
    error = SystemRefused("session statement \"SET a = 'b'\": only a restart", code="55P02")
    found = refusal(monkeypatch, "postgresql://h:1/d", address, EXPECTED, error)
    assert "the server refuses a setting; session statement" in found.message
    assert "expected a PostgreSQL server" not in found.message


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
            "postgresql://h:1/d", "require", "28000",
            "connection requires a valid client certificate", "sslcert=FILE&sslkey=FILE", False,
        ),
        ("mariadb://h:1/d", "off", "1045", DENIED, "ssl-mode=REQUIRED", True),
        ("mariadb://h:1/d", "prefer", "1045", DENIED, "ssl-cert=FILE&ssl-key=FILE", True),
        ("mariadb://h:1/d", "off", "3159", "no", "ssl-mode=REQUIRED", False),
        ("mariadb://localhost/d", "prefer", "1045", DENIED, "?socket=FILE", True),
    ],
)  # fmt: skip
def test_a_refused_login_is_explained_by_what_the_server_misses(
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    tls: str,
    code: str,
    message: str,
    fix: str,
    is_password_doubted: bool,
) -> None:
    whole = url.replace("://", "://me:geheim@")
    if url.startswith("postgresql"):
        expected, address = EXPECTED, postgresql_address(whole)
    else:
        product = MARIADB.product
        expected, address = mysql_url.expected(product), mysql_url.address_of(product, whole)
    address = structs.replace(address, tls=tls)
    error = SystemRefused(message, error_class="authentication", code=code)
    hint = str(refusal(monkeypatch, url, address, expected, error).hint)
    assert fix in hint
    assert (CORRECT in hint) is is_password_doubted


def test_a_missing_socket_is_named_by_its_parameter(tmp_path: Path) -> None:
    _, printed = run(tmp_path, f"mysql://u@/d?socket={tmp_path}/no.sock")
    assert "correct the socket's file (socket=FILE) in the URL" in printed


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
    assert sessions._alternative_name(host) == name


WORDS = ("--transactions", "20", "--records", "r.sqlite", "--format", "json")


@contextmanager
def null_server(*words: str) -> Iterator[str]:
    """The address of the null server."""
    with null_server_process(*words) as (_, address):
        yield address


@contextmanager
def null_server_process(*words: str) -> Iterator[tuple[Started, str]]:
    """The null server and its address."""
    with forked_programs.start("assay", ["serve", "null", "--port", "0", *words]) as server:
        try:
            yield server, server.stdout.readline().strip()
        finally:
            server.kill()


@pytest.mark.parametrize("protocol", ["postgresql", "mysql"])
@pytest.mark.parametrize(
    "how", [(), ("--rows", "0"), ("--fail", "timeout@#2")], ids=["answers", "silent", "refuses"]
)
def test_a_service_without_readable_settings_is_driven(
    tmp_path: Path, protocol: str, how: tuple[str, ...]
) -> None:
    script = tmp_path / "one.sql"
    script.write_text("SELECT 1;\n")
    with null_server("--protocol", protocol, *how) as address:
        words = ["run", script, "--on", f"{protocol}://u@{address}/d", *WORDS]
        ended = forked_programs.run("assay", words, folder=tmp_path)
        assert "internal error" not in ended.stderr
        # With --refuse it also refuses the first statement of the measurement.
        assert ended.returncode == (1 if "--fail" in how else 0), ended.stderr
        report = json.loads(ended.stdout)
        assert "settings-unknown" in [one["name"] for one in report["warnings"]]


def test_a_server_that_dies_is_at_fault(tmp_path: Path) -> None:
    """Status 3, whenever it dies; a server that only disconnects its clients fails the run."""
    (tmp_path / "one.sql").write_text("SELECT 1;\n")

    def status(address: str, *, kill: Started | None = None) -> tuple[int, str]:
        run = ("run", "one.sql", "--on", f"postgresql://u@{address}/d", "-T", "600")
        with started(tmp_path, *run) as program:
            if kill is not None:
                wait_for_second(tmp_path)
                kill.kill()
            out, err = program.communicate()
            return program.wait(), out + err

    with null_server_process("--protocol", "postgresql") as (server, address):
        code, out = status(address, kill=server)
        assert code == 3, out
        assert "disconnected during the run" in out
    with null_server_process("--protocol", "postgresql", "--lose", "#9") as (_, address):
        code, out = status(address)
        assert code == 1, out


SYSTEM = registry.system("postgresql")


def test_two_servers_of_one_host_and_a_dead_one(tmp_path: Path) -> None:
    (tmp_path / "s.sql").write_text("SELECT count(*) FROM goods;\n")
    tcp = {"transport": "tcp"}
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(SYSTEM, storage, options=tcp) as first,
        servers.provisioned(SYSTEM, storage, options=tcp) as second,
    ):
        for deployment, rows in ((first, 10), (second, 20)):
            servers.ask(deployment, f"CREATE TABLE goods AS SELECT generate_series(1, {rows}) x")
        urls = [servers.url_of(SYSTEM, one) for one in (first, second)]
        ports = [one.address.port for one in (first, second)]
        dead = f"postgresql://u@{first.address.host}:1/d"
        common = ("s.sql", "--transactions", "20", "--records", "r.sqlite")
        on = f"{urls[0]},{urls[1]},{dead}"
        ended = run_in(
            tmp_path, "run", *common, "--on", on, "--repetitions", "2", "--format", "json"
        )
        names = [f"postgresql at {first.address.host}:{port}" for port in (*ports, 1)]
        runs = json.loads(ended.stdout)["tables"]["runs"]
        states = {(run["system"], run["state"]) for run in runs}
        assert states == set(zip(names, ("done", "done", "failed"), strict=True)), ended.stderr
        assert "answers-differ" in ended.stdout
        for shown in (
            run_in(tmp_path, "plan", "s.sql", "--on", on),
            run_in(tmp_path, "list", "runs", "--records", "r.sqlite"),
            run_in(tmp_path, "report", "latest", "--records", "r.sqlite"),
            run_in(
                tmp_path, "report", "latest", "--records", "r.sqlite", "--format", "openmetrics"
            ),
        ):
            assert all(name.split()[-1] in shown.stdout for name in names), shown.stdout
            assert f":{first.address.password}@" not in shown.stdout
        between = f"system={names[0]},{names[1]}"
        words = ("compare", "latest", "--between", between, "--records", "r.sqlite")
        compared = json.loads(run_in(tmp_path, *words, "--format", "json").stdout)
        verdicts = [ratio["verdict"] for ratio in compared["ratios"]]
        assert verdicts and all(
            one.startswith("not comparable: rows of goods: 10 → 20; answers to") for one in verdicts
        )
        named = run_in(
            tmp_path, "run", *common, "--on", f"old={urls[0]},new={urls[1]}", "--format", "csv"
        )
        rows = csv.DictReader(io.StringIO(named.stdout))
        assert {row["system"] for row in rows} == {"old", "new"}


RUN = (
    "run", "glidemon.tasks", "--on", "sqlite", "--set", "scale=0.0005", "--set", "queries=20",
    "--clients", "1,2", "--repetitions", "2", "--no-probe",
)  # fmt: skip
WEAKER = {"cpu_model": "Core 2 Duo E8500", "processors_usable": 1, "memory_bytes": 8_000_000_000}


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Experiment 1 of this machine, experiment 2 of what is said to be a weaker one."""
    folder = tmp_path_factory.mktemp("machines")
    here, there = folder / "here.sqlite", folder / "there.sqlite"
    for records in (here, there):
        ended = run_in(folder, *RUN, "--records", str(records))
        assert ended.returncode == 0, ended.stderr
    with sqlite3.connect(there) as connection:
        (text,) = connection.execute("SELECT machine FROM experiments").fetchone()
        facts = json.dumps({**json.loads(text), **WEAKER})
        connection.execute("UPDATE experiments SET machine = ?", (facts,))
    ended = run_in(folder, "merge", str(there), "--records", str(here))
    assert ended.returncode == 0, ended.stderr
    return here


def test_a_report_of_both_has_the_machine_as_a_factor(assay: Assay, record: Path) -> None:
    ended = assay("report", "1", "2", "--records", str(record), "--format", "json")
    assert ended.status == 0, ended.err
    document = json.loads(ended.out)
    assert document["experiment"]["experiments"] == [1, 2]
    machines = document["experiment"]["machines"]
    weaker = next(name for name, facts in machines.items() if facts["processors_usable"] == 1)
    cells = document["tables"]["cells"]
    assert len(cells) == 4 and {cell["measured"] for cell in cells} == {2}
    assert {cell["machine"] for cell in cells} == set(machines) and len(machines) == 2
    runs = document["tables"]["runs"]
    assert {run["experiment"] for run in runs if run["machine"] == weaker} == {2}
    assert "machine" in {answer["factor"] for answer in document["answers"]}
    rows = [*csv.DictReader(io.StringIO(assay(
        "report", "1,2", "--records", str(record), "--format", "csv"
    ).out))]  # fmt: skip
    assert {row["machine"] for row in rows} == set(machines)
    for form in ("table", "markdown", "html", "openmetrics", "hdr-log"):
        made = assay("report", "1,2", "--records", str(record), "--format", form)
        assert made.status == 0, made.err
        assert weaker.split()[0] in made.out, form


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("1", "1"), "experiment 1 is named twice"),
        (("=1",), "expected the name of a machine"),
        (("1", "9"), "there is no experiment 9"),
        (("x=run:1",), "a run alone names no machine, found 'x=run:1'"),
        (("a=b=1",), "expected an experiment or a record file"),
        (("1", "{folder}/there.sqlite:1"), "expected experiments of one record file"),
    ],
)
def test_what_cannot_be_reported_together_is_said(
    assay: Assay, record: Path, words: tuple[str, ...], said: str
) -> None:
    words = tuple(word.format(folder=record.parent) for word in words)
    ended = assay("report", *words, "--records", str(record))
    assert ended.status == 2 and said in ended.err, ended.err


def test_the_clients_of_a_distant_server_wait_for_each_round_trip(
    assay: Assay, tmp_path: Path
) -> None:
    (tmp_path / "two.sql").write_text("SELECT 1;\nSELECT 2;\n")
    words = ["--on", "null[protocol=postgresql]", "--rtt", "0,30ms", "--transactions", "5"]
    ended = assay("run", "two.sql", *words, "--format", "json")
    assert ended.status == 0, ended.err
    near, far = ended.runs
    assert (near.server_machine.rtt_s, far.server_machine.rtt_s) == (0, 0.03)
    assert far.system_label == "null protocol=postgresql rtt=30ms"
    assert near.deployment is not None
    assert near.deployment.delay is None
    assert far.deployment is not None
    assert far.deployment.delay is not None
    assert 0.03 <= far.deployment.delay.measured_rtt_s < 3
    assert far.deployment.delay.round_trip_cpu_s > 0
    assert near.driven is not None
    assert far.driven is not None
    # Two statements, each a round trip.
    assert near.driven.all_ok.latency.min_ns < 60_000_000 <= far.driven.all_ok.latency.min_ns
    rows = ended.document["tables"]["runs"]
    assert [row["rtt_s"] for row in rows] == [0, 0.03]
    measured = [None, far.deployment.delay.measured_rtt_s]
    assert [row["measured_rtt_s"] for row in rows] == measured
    assert "(30 ms asked; by a proxy" in assay("report", "--detail", "--format", "markdown").out


def test_a_storage_has_a_round_trip_time_of_its_own(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "s.sql").write_text("SELECT 1;\n")
    (tmp_path / "e.toml").write_text(
        'script = "s.sql"\nsystems = "null[protocol=postgresql]"\nstorages = ["here", "san"]\n'
        'rtt = [0, "10ms"]\n[drive]\ntransactions = 5\n'
        '[storage.san]\nkind = "here"\nrtt = "30ms"\nrole = "solid-state"\n'
    )
    ended = assay("run", "e.toml", "--format", "json")
    assert ended.status == 0, ended.err
    delays = [
        (run.storage, run.deployment.delay.rtt_s if run.deployment.delay else 0)
        for run in ended.runs
        if run.deployment
    ]
    assert delays == [("here", 0), ("san", 0.03), ("here", 0.01)]
    assert len({run.cell_fingerprint for run in ended.runs}) == 3
    rows = ended.document["tables"]["runs"]
    assert [(row["rtt_s"], row["storage_in_force"]) for row in rows] == [
        (0, []), (0.03, ["rtt=30ms", "role=solid-state"]), (0.01, []),
    ]  # fmt: skip
    for form in ("table", "markdown", "html"):
        assert "30ms" in assay("report", "--detail", "--format", form).out
    between = assay("compare", "latest", "--between", "storage", "--format", "json").document
    assert (
        len({one["cell"] for one in between["ratios"]}) == 1
    )  # with no round-trip time, and with that of the storage
    refused = assay("run", "s.sql", "--on", "sqlite", "--storage", "here[rtt=1ms]")
    assert (refused.status, "no connection to delay" in refused.err) == (2, True)


def test_a_proxy_by_itself_says_what_it_adds_and_ends_in_order() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = ["serve", "delay", "--to", f"127.0.0.1:{server.getsockname()[1]}", "--rtt", "20ms"]
        with forked_programs.start("assay", words) as proxy:
            line = proxy.stdout.readline()
            found = re.match(
                r"127\.0\.0\.1:(\d+), round trip (?:[2-9]\d|\d{3})(?:\.\d+)? ms ", line
            )
            assert found, line
            with socket.create_connection(("127.0.0.1", int(found[1]))) as client:
                client.sendall(b"x")
                behind, _ = server.accept()
                with behind:
                    assert behind.recv(1) == b"x"
                    began = time.monotonic()
                    behind.sendall(b"y")
                    assert client.recv(1) == b"y"
                    assert time.monotonic() - began >= 0.01
            proxy.send_signal(signal.SIGTERM)
            _, said = proxy.communicate(timeout=HANG_S)
    assert "1 connection" in said
