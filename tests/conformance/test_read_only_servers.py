"""Servers and sessions that may only read."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

import servers
from able import able
from assay import _engine, registry
from assay.contracts.deployment import Deployment
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import ReachedByUrl
from assay.errors import SystemRefused
from assay.provision.engine.engine_calls import session
from commands import Assay, need
from servers import provisioned
from standbys import standby_of

POSTGRESQL = registry.system("postgresql")
TCP = {"transport": "tcp"}


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Deployment, Deployment]]:
    """A primary, and a standby that repeats what it does."""
    need("postgresql")
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(POSTGRESQL, storage, options=TCP) as primary,
    ):
        servers.ask(primary, "CREATE TABLE goods AS SELECT generate_series(1, 10) AS id")
        with standby_of(primary, storage) as standby:
            yield primary, standby


def url(deployment: Deployment, **changes: str) -> str:
    return servers.url_of(POSTGRESQL, deployment, **changes)


def test_a_standby_is_read_and_named_and_takes_no_writes(
    pair: tuple[Deployment, Deployment], assay: Assay, working_folder: Path
) -> None:
    primary, standby = pair
    (working_folder / "r.sql").write_text("SELECT count(*) FROM goods;\n")
    (working_folder / "w.sql").write_text("SELECT 1;\nUPDATE goods SET id = id WHERE id = 1;\n")
    read = assay("run", "r.sql", "--on", url(standby), "--transactions", "20")
    assert read.status == 0, read.err
    place = f"{primary.address.host}:{primary.address.port}"
    said = f"standby of {place} (pg_is_in_recovery() is true)"
    assert said in " ".join(read.out.split())
    update, load = "would send: UPDATE goods SET", "tpcb-like loads its tables"
    for why, *words in ((update, "w.sql", "--duration", "60"), (load, "tpcb", "--clients", "1")):
        written = assay("run", *words, "--on", url(standby))
        assert written.status == 3, written.out + written.err
        (run,) = written.runs
        assert f"takes no writes: it is a {said}" in run.reason
        assert why in run.reason and "name its primary" in run.reason
        assert "earlier Assay" not in run.reason


def test_one_of_several_hosts_is_chosen_as_by_libpq(pair: tuple[Deployment, Deployment]) -> None:
    primary, standby = pair
    ports = {"primary": primary.address.port, "standby": standby.address.port}
    beginning, _, _ = url(primary).rpartition("@")
    assert isinstance(POSTGRESQL, ReachedByUrl)

    def chosen(hosts: str, attrs: str) -> int | None:
        text = f"{beginning}@{hosts}/postgres?target_session_attrs={attrs}"
        with POSTGRESQL.attach(SystemChoice("postgresql", url=text)) as deployment:
            return deployment.address.port

    both = ",".join(f"127.0.0.1:{ports[name]}" for name in ("standby", "primary"))
    for attrs, name in {
        "any": "standby",
        "read-write": "primary",
        "read-only": "standby",
        "primary": "primary",
        "standby": "standby",
        "prefer-standby": "standby",
    }.items():
        assert chosen(both, attrs) == ports[name], attrs
    dead = f"127.0.0.1:1,127.0.0.1:{ports['primary']}"
    assert chosen(dead, "any") == chosen(dead, "prefer-standby") == ports["primary"]
    with pytest.raises(SystemRefused) as refused:
        chosen(dead, "standby")
    assert "127.0.0.1:1: " in refused.value.message
    assert f"127.0.0.1:{ports['primary']}: primary" in refused.value.message
    wrong = beginning.rpartition(":")[0]
    with pytest.raises(SystemRefused, match="password"):
        text = f"{wrong}:wrong@{both}/postgres"
        with POSTGRESQL.attach(SystemChoice("postgresql", url=text)):
            pass


def test_a_server_whose_sessions_only_read_says_so(
    pair: tuple[Deployment, Deployment], assay: Assay, working_folder: Path
) -> None:
    primary, _ = pair
    servers.ask(primary, "CREATE DATABASE readers")
    servers.ask(primary, "ALTER DATABASE readers SET default_transaction_read_only = on")
    (working_folder / "w.sql").write_text("INSERT INTO goods VALUES (1);\n")
    written = assay("run", "w.sql", "--on", url(primary, database="readers"))
    (run,) = written.runs
    assert written.status == 3
    assert "read-only server (default_transaction_read_only is on)" in run.reason


def test_a_server_of_mysqls_protocol_that_is_read_only_says_so(
    storage: StorageFacts, assay: Assay, working_folder: Path
) -> None:
    need("mysql")
    system = registry.system("mysql")
    (working_folder / "w.sql").write_text("DELETE FROM goods;\n")
    with servers.provisioned(system, storage, options=TCP) as deployment:
        servers.ask(deployment, "SET GLOBAL read_only = ON")
        written = assay("run", "w.sql", "--on", servers.url_of(system, deployment))
        (run,) = written.runs
        assert written.status == 3, written.out + written.err
        assert "read-only server (read_only = ON)" in run.reason
        assert "SET GLOBAL read_only = OFF" in run.reason


def test_a_replica_names_the_server_that_it_follows(storage: StorageFacts) -> None:
    need("mariadb")
    system = registry.system("mariadb")
    assert isinstance(system, ReachedByUrl)
    with servers.provisioned(system, storage, options=TCP) as deployment:
        servers.ask(deployment, "CHANGE MASTER TO master_host = '10.0.0.7', master_port = 3307")
        url = servers.url_of(system, deployment)
        with system.attach(SystemChoice("mariadb", url=url)) as found:
            assert found.role is not None
            assert found.role.described == "replica of 10.0.0.7:3307"


def test_a_file_that_cannot_be_written_says_so(
    storage: StorageFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write every file, so the answer of the operating system is given here."""
    system = registry.system("sqlite")
    assert isinstance(system, ReachedByUrl)
    with servers.provisioned(system, storage) as deployment:
        url = f"sqlite:///{deployment.address.file}"
        monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
        with system.attach(SystemChoice("sqlite", url=url)) as found:
            assert found.role is not None
            assert found.role.described.startswith("read-only file (this user may not write the f")


def test_a_file_with_a_log_in_a_folder_that_cannot_be_written_has_the_fix(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A folder stands where SQLite would make the log, as root may write all."""
    file = tmp_path / "a.db"
    with contextlib.closing(sqlite3.connect(file)) as made:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("CREATE TABLE goods (id INTEGER)")
        made.commit()
    (tmp_path / "a.db-wal").mkdir()
    system = registry.system("sqlite")
    assert isinstance(system, ReachedByUrl)
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    choice = SystemChoice("sqlite", url=f"sqlite:///{file}")
    with pytest.raises(SystemRefused) as refused, system.attach(choice):
        pass
    assert "it has a write-ahead log, and this user may not write" in refused.value.message
    assert "PRAGMA journal_mode = DELETE" in str(refused.value.hint)


def test_a_missing_right_is_said_with_the_statement_and_what_to_do(
    pair: tuple[Deployment, Deployment], assay: Assay, working_folder: Path
) -> None:
    primary, _ = pair
    servers.ask(primary, "CREATE ROLE visitor LOGIN PASSWORD 'p'")
    (working_folder / "r.sql").write_text("-- goods\nSELECT id FROM goods WHERE id = 1;\n")
    ended = assay(
        "run", "r.sql", "--on", url(primary, user="visitor", password="p"), "--transactions", "5"
    )
    assert ended.status == 1
    said = " ".join((ended.out + ended.err).split())
    assert "r.sql, line 2: permission denied for table goods" in said
    assert "statement: SELECT id FROM goods WHERE id = 1" in said
    assert "fix: grant this user what the statement needs" in said


FUNCTIONS = {
    "postgresql": [
        "CREATE SEQUENCE s",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (2); SELECT 1'",
        "CREATE PROCEDURE p() LANGUAGE sql AS 'DELETE FROM t'",
    ],
    "mariadb": [
        "CREATE SEQUENCE s",
        "CREATE TABLE m (a int) ENGINE = MyISAM",
        "CREATE FUNCTION f() RETURNS int BEGIN INSERT INTO t VALUES (2); RETURN 1; END",
        "CREATE PROCEDURE p() DELETE FROM t",
    ],
    "mysql": [
        "CREATE TABLE m (a int) ENGINE = MyISAM",
        "CREATE FUNCTION f() RETURNS int DETERMINISTIC "
        "BEGIN INSERT INTO t VALUES (2); RETURN 1; END",
        "CREATE PROCEDURE p() DELETE FROM t",
    ],
    "sqlite": [],
}
EVERYWHERE = [
    "INSERT INTO t SELECT a + 1 FROM t", "UPDATE t SET a = 3", "DELETE FROM t", "DROP TABLE t",
    "CREATE TABLE u (a int)", "ALTER TABLE t ADD COLUMN b int",
]  # fmt: skip
OWN = {
    "postgresql": [
        "SELECT f()",
        "SELECT nextval('s')",
        "CALL p()",
        "DO $$ BEGIN DELETE FROM t; END $$",
        "WITH gone AS (DELETE FROM t RETURNING a) SELECT * FROM gone",
        "SELECT a INTO u FROM t",
        "EXPLAIN ANALYZE DELETE FROM t",
        "TRUNCATE t",
        "SELECT 1; DELETE FROM t",
        "BEGIN; DELETE FROM t; COMMIT",
    ],
    "mariadb": [
        "SELECT f()", "SELECT nextval(s)", "CALL p()", "INSERT INTO m VALUES (1)",
        "REPLACE INTO t VALUES (1)", "TRUNCATE TABLE t",
    ],
    "mysql": [
        "SELECT f()",
        "CALL p()",
        "INSERT INTO m VALUES (1)",
        "REPLACE INTO t VALUES (1)",
        "TRUNCATE TABLE t",
    ],
    "sqlite": [
        "WITH one AS (SELECT 1) INSERT INTO t SELECT * FROM one",
        "REPLACE INTO t VALUES (1)",
        "PRAGMA user_version = 7",
        "VACUUM",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", able("read only sessions"))
def test_nothing_that_writes_gets_past_a_read_only_session(
    name: str, storage: StorageFacts
) -> None:
    need(name)
    system = registry.system(name)
    dialect = system.dialect
    with provisioned(system, storage) as deployment, session(deployment.address) as opened:
        for statement in ["CREATE TABLE t (a int)", "INSERT INTO t VALUES (1)", *FUNCTIONS[name]]:
            opened.execute(statement)
        own = deployment.address.session_statements
        reading = structs.replace(
            deployment.address, session_statements=(*own, *dialect.session_read_only())
        )
        for statement in EVERYWHERE + OWN[name]:
            with session(reading) as only:
                try:
                    only.execute(statement)
                except _engine.EngineError as error:
                    code = error.code
                else:
                    code = "none"
                assert code in dialect.read_only_codes, statement
        with session(reading) as only:
            assert only.execute("SELECT a FROM t").rows == [("1",)]
        assert opened.execute("SELECT a FROM t").rows == [("1",)]
