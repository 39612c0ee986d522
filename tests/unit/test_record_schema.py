"""Older files are upgraded completely or not at all; newer and foreign ones are unchanged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import invented_records as invented
import pytest

from assay.errors import ArgumentError
from assay.experiment import Driving
from assay.record import Store, schema

NEXT_STEP = ["ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT 'none'"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A record of this version with one run."""
    path = tmp_path / "records.sqlite"
    invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)
    return path


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


def version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_an_older_file_takes_the_steps_it_has_not_seen_and_keeps_its_runs(
    path: Path, connection: sqlite3.Connection
) -> None:
    before = version(connection)
    schema.prepare(connection, path, [*schema.steps(), NEXT_STEP])
    assert version(connection) == before + 1
    assert connection.execute("SELECT state, note FROM runs").fetchall() == [("done", "none")]


def test_the_copy_of_an_experiment_has_the_tables_of_its_record(
    connection: sqlite3.Connection,
) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
        schema.create_like(connection, empty)
        for question in (
            "SELECT type, name, sql FROM sqlite_master ORDER BY type, name",
            "PRAGMA application_id",
            "PRAGMA user_version",
        ):
            assert empty.execute(question).fetchall() == connection.execute(question).fetchall()


def test_a_step_that_fails_leaves_the_file_as_it_was(
    path: Path, connection: sqlite3.Connection
) -> None:
    before = version(connection)
    broken = [*NEXT_STEP, "ALTER TABLE no_such_table ADD COLUMN x"]
    with pytest.raises(sqlite3.OperationalError, match="no_such_table"):
        schema.prepare(connection, path, [*schema.steps(), broken])
    assert version(connection) == before
    assert "note" not in str(connection.execute("SELECT sql FROM sqlite_master").fetchall())


def test_a_newer_file_is_refused_with_a_sentence(
    path: Path, connection: sqlite3.Connection
) -> None:
    connection.execute(f"PRAGMA user_version = {len(schema.steps()) + 1}")
    with pytest.raises(ArgumentError, match="a newer Assay wrote this record file") as refused:
        Store(path)
    assert refused.value.hint is not None and "upgrade Assay" in refused.value.hint


def test_another_programs_files_are_refused_and_unchanged(tmp_path: Path) -> None:
    text, foreign = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("not a database, and long enough to be looked at as one " * 4)
    other = sqlite3.connect(foreign)
    other.execute("CREATE TABLE theirs (x)")
    other.commit()
    other.close()
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    for file in (text, foreign):
        with pytest.raises(ArgumentError, match="expected a record file"):
            Store(file)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_reading_a_missing_record_does_not_create_it(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="there are no records at"):
        Store(tmp_path / "none.sqlite", must_exist=True)
    with pytest.raises(ArgumentError, match="expected a record file"):
        Store(tmp_path / "no" / "such" / "folder.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_every_table_and_view_has_a_description(connection: sqlite3.Connection) -> None:
    texts = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')"
    ).fetchall()
    assert len(texts) > 15
    for name, text in texts:
        assert text.splitlines()[1].startswith("  -- "), name


def test_runs_that_prepared_their_parameters_are_called_so(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    schema.prepare(connection, path, schema.steps()[:5])
    connection.execute(
        "INSERT INTO experiments "
        "VALUES (1, '', '', 'w', '', '1', 0, 1, '{}', '{}', '{}', '{}', 0, 0, '')"
    )
    texts = {
        1: "SELECT a FROM t WHERE b = :b",
        2: "SELECT a::int, '12:30', x[1:2] FROM t",
        3: "SELECT 1",
    }
    for number, text in texts.items():
        connection.execute(
            "INSERT INTO runs (id, experiment_id, position, test, system, system_label, storage, "
            "clients, threads, protocol, parameters, repetition, seed, cell, cell_fingerprint) "
            "VALUES (?, 1, ?, 't', 's', 's', 'd', 1, 0, 'simple', '{}', 1, '1', ?, '')",
            (number, number, '{"protocol": "simple"}'),
        )
        connection.execute("INSERT INTO scripts VALUES (?, 0, 's', 's.sql', ?, 1)", (number, text))
    schema.prepare(connection, path, schema.steps())
    asked = "SELECT protocol, cell ->> 'protocol' FROM runs ORDER BY id"
    found = connection.execute(asked).fetchall()
    assert found == [("prepared", "prepared"), ("simple", "simple"), ("simple", "simple")]


def test_a_cell_that_reconnects_keeps_equal_to_the_same_cell_of_a_later_version(
    tmp_path: Path,
) -> None:
    path = tmp_path / "records.sqlite"
    driving = (Driving(passes=1), Driving(passes=1, reconnect_timeout_s=5.0))
    invented.experiment(path, invented.plan([invented.SQLITE], driving=driving), 1.0)
    equal = "SELECT cell, cell_fingerprint FROM runs ORDER BY id"
    judged = "SELECT cell_fingerprint FROM cells ORDER BY rowid"
    connection = sqlite3.connect(path, isolation_level=None)
    now = connection.execute(equal).fetchall(), connection.execute(judged).fetchall()
    for statement in (
        "UPDATE cells SET cell_fingerprint = 'old' WHERE cell_fingerprint = ?",
        "UPDATE runs SET cell_fingerprint = 'old' WHERE cell_fingerprint = ?",
    ):
        connection.execute(statement, (now[0][1][1],))
    older = "UPDATE runs SET cell = replace(cell, 'reconnect_timeout_s', 'reconnect_patience_s')"
    connection.execute(older)
    connection.execute("PRAGMA user_version = 15")
    schema.prepare(connection, path, schema.steps()[:16])
    assert now == (connection.execute(equal).fetchall(), connection.execute(judged).fetchall())
    assert len(now[1]) == 2 and "reconnect_timeout_s" in now[0][1][0]


def test_open_files_that_could_not_be_counted_are_not_known_in_older_records(
    tmp_path: Path,
) -> None:
    path = tmp_path / "records.sqlite"
    connection = sqlite3.connect(path, isolation_level=None)
    schema.prepare(connection, path, schema.steps()[:18])
    kept = {"counted": (3, 2), "none open": (0, 0), "not counted": (0, None)}
    for number, (handles, files) in enumerate(kept.values()):
        connection.execute(
            "INSERT INTO samples (run_id, at_s, processes, threads, resident_bytes, virtual_bytes, "
            "open_files, cpu_ns, files) VALUES (1, ?, 1, 1, 1, 1, ?, 1, ?)",
            (number, handles, files),
        )
    schema.prepare(connection, path, schema.steps())
    found = connection.execute("SELECT open_files FROM samples ORDER BY at_s").fetchall()
    assert found == [(3,), (0,), (None,)]
