"""Embedded systems: brought up on a storage, queried, and taken down."""

from __future__ import annotations

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Column, Table
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.dialects.sqlite import SqliteDialect
from assay.errors import ArgumentError, SystemRefused
from assay.load.tables import drop_abandoned
from assay.provision.engine.engine_calls import session
from assay.provision.running_system import provision
from assay.systems.null.system import NULL
from assay.systems.sqlite.system import SHELL, SQLITE
from programs import need_program


@pytest.fixture(autouse=True)
def _own_places(storage: StorageFacts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DATA_DIRECTORY", storage.directory)


def _ask(deployment: Deployment, statement: str) -> list[tuple[str | None, ...]]:
    with session(deployment.address) as opened:
        return list(opened.execute(statement).rows)


def test_a_private_database_has_the_requested_settings_and_is_removed_afterwards() -> None:
    asked = {"journal_mode": "WAL", "synchronous": "1", "page_size": "8192", "temp_store": "memory"}
    choice = SystemChoice("sqlite", settings=asked, options={"busy_timeout_s": "2.5"})
    with provision(choice, StorageChoice(), connections=300) as deployment:
        file = Path(deployment.address.file or "")
        assert file.parent == deployment.data_directory
        assert deployment.storage.directory in str(file)
        assert (
            deployment.settings.items()
            >= {
                "journal_mode": "wal",
                "synchronous": "normal",
                "page_size": "8192",
                "temp_store": "memory",
                "foreign_keys": "off",
            }.items()
        )
        assert deployment.durability_lowered_by == ("synchronous = normal",)
        assert deployment.connection_limit is None and deployment.server_pid is None
        assert deployment.options == {"busy_timeout_s": "2.5", "buffer": "", "write_queue": "on"}
        assert deployment.version.startswith("SQLite 3.")
        _ask(deployment, "CREATE TABLE t AS VALUES (1), (2)")
        assert _ask(deployment, "PRAGMA synchronous") == [("1",)], "in every session"
        with session(deployment.address) as opened:
            opened.execute("INSERT INTO t VALUES (3)")
            log = Path(f"{file}-wal").stat().st_size
            assert SQLITE.size_on_disk_bytes(deployment) == file.stat().st_size + log > log > 0
            sample = SQLITE.sample(deployment)
            assert sample is not None
            assert (sample.processes, sample.open_files) == (1, 3), "file, log, and its index"
        assert SQLITE.why_it_died(deployment) is None
    assert not file.parent.exists()
    assert "is gone" in (SQLITE.why_it_died(deployment) or "")


class _OtherDrop(SqliteDialect):
    """Of a system that drops tables in another way."""

    name = "other"

    def drop_table(self, table: Table) -> list[str]:
        return [f"DROP TABLE {table.name} PURGE"]


def test_a_dialect_that_does_not_fit_is_not_taken_for_tables_that_were_left() -> None:
    table = Table("t", (Column("a", "int"),))
    with provision(SystemChoice("sqlite"), StorageChoice(), connections=None) as deployment:
        with pytest.raises(SystemRefused, match="refuses how the dialect other drops a table"):
            drop_abandoned(deployment, _OtherDrop(), [table])
        _ask(deployment, "CREATE TABLE t (a int)")
        with pytest.raises(ArgumentError, match="tables that an earlier Assay left in"):
            drop_abandoned(deployment, _OtherDrop(), [table])


@pytest.mark.slow
def test_the_defaults_are_those_of_the_library() -> None:
    with provision(SystemChoice("sqlite"), StorageChoice(), connections=None) as deployment:
        assert (
            deployment.settings.items() >= {"journal_mode": "delete", "synchronous": "full"}.items()
        )
        assert deployment.durability_lowered_by == ()
        need_program(SHELL)
        command, environment = SQLITE.client_command(deployment.address)
        ended = subprocess.run(
            command, input="SELECT 6 * 7;", capture_output=True, text=True, env=dict(environment)
        )
        assert (ended.stdout, ended.stderr) == ("42\n", "")


@pytest.mark.parametrize(
    ("choice", "words", "hint"),
    [
        (SystemChoice("sqlite", settings={"journal_mod": "wal"}), "not one that can",
         "journal_mode"),
        (SystemChoice("sqlite", settings={"cache_size": "1; DROP"}), "a whole number, found", ""),
        (SystemChoice("sqlite", settings={"page_size": "1000"}), "512, 1024", ""),
        (SystemChoice("sqlite", settings={"synchronous": "fast"}), "off, normal, full", ""),
        (SystemChoice("sqlite", options={"busy_timeout_s": "-1"}), "expected a number of seconds",
         ""),
        (SystemChoice("null", options={"delay": "1ms"}), "expected a distribution", ""),
        (SystemChoice("null", settings={"fsync": "off"}), "no settings", "delay"),
        (SystemChoice("null", url="null:///?colour=red"), "no option", ""),
    ],
)  # fmt: skip
def test_invalid_settings_are_refused(choice: SystemChoice, words: str, hint: str) -> None:
    with (
        pytest.raises((ArgumentError, SystemRefused), match=words) as caught,
        provision(choice, StorageChoice(), connections=1),
    ):
        pytest.fail("it cannot be as asked")
    assert hint in (caught.value.hint or "")


def test_a_file_is_reached_by_url_and_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "my base.db"
    with closing(sqlite3.connect(file)) as made:
        made.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (7)")
    for url in ["sqlite:///my%20base.db", f"sqlite:///{file}"]:
        choice = SystemChoice("sqlite", url=url, settings={"cache_size": "-4000"})
        with provision(choice, StorageChoice(), connections=1) as deployment:
            assert not deployment.is_private
            assert _ask(deployment, "SELECT a FROM t") == [("7",)]
            assert deployment.settings["cache_size"] == "-4000"
    assert file.exists()
    for url, settings, words in [
        (f"sqlite://{file}", {}, "there is no (file|folder)"),
        ("sqlite:///none.db", {}, "no file none.db"),
        ("sqlite://host/x.db", {}, "expected sqlite:///"),
        (f"sqlite:///{file}", {"journal_mode": "wal"}, "is kept in the database file"),
    ]:
        refused = SystemChoice("sqlite", url=url, settings=settings)
        with pytest.raises(ArgumentError, match=words), SQLITE.attach(refused):
            pytest.fail("it cannot be reached")


def test_a_null_system_behaves_as_configured_and_is_separate_from_others() -> None:
    choice = SystemChoice("null", options={"rows": "2", "refuse_after": "3"})
    with (
        provision(choice, StorageChoice(), connections=9) as deployment,
        provision(choice, StorageChoice(), connections=9) as other,
    ):
        assert deployment.connection_limit == 3
        assert _ask(deployment, "SELECT anything") == [("1",), ("2",)]
        _ask(deployment, 'CREATE TABLE "t" (a int)')
        assert _ask(deployment, 'SELECT count(*) FROM "t"') == [("0",)]
        assert _ask(other, 'SELECT count(*) FROM "t"') == [("1",), ("2",)], "not its table"
        with session(deployment.address), session(deployment.address), session(deployment.address):
            with pytest.raises(SystemRefused) as caught, session(deployment.address):
                pytest.fail("the fourth is refused")
            assert caught.value.error_class == "too many connections"
            assert _ask(other, "BEGIN") == []
        assert NULL.size_on_disk_bytes(deployment) == 0
        assert NULL.why_it_died(deployment) is None
    url = SystemChoice("null", url="null:///?rows=1")
    with provision(url, StorageChoice(), connections=None) as deployment:
        assert _ask(deployment, "SELECT 1") == [("1",)]
        assert (deployment.options["rows"], deployment.is_private) == ("1", False)
