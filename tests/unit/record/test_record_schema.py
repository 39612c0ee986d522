"""Older files are upgraded completely or not at all; newer and foreign ones are unchanged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import invented_records as invented
from assay.errors import ArgumentError
from assay.record import Store
from assay.record.file import schema

NEXT = ["ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT 'none'"]


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
    schema.prepare(connection, path, [*schema.migrations(), NEXT])
    assert version(connection) == before + 1
    assert connection.execute("SELECT state, note FROM runs").fetchall() == [("done", "none")]


def test_views_that_are_not_of_this_version_are_made_anew(
    path: Path, connection: sqlite3.Connection
) -> None:
    views = "SELECT name, sql FROM sqlite_master WHERE type = 'view' ORDER BY name"
    before = connection.execute(views).fetchall()
    connection.execute("DROP VIEW service")
    connection.execute("CREATE VIEW service AS SELECT 1 AS earlier")
    connection.execute("CREATE VIEW of_an_earlier_version AS SELECT 2 AS two")
    with Store(path):
        pass
    assert connection.execute(views).fetchall() == before


def test_a_step_that_fails_leaves_the_file_as_it_was(
    path: Path, connection: sqlite3.Connection
) -> None:
    before = version(connection)
    broken = [*NEXT, "ALTER TABLE no_such_table ADD COLUMN x"]
    with pytest.raises(sqlite3.OperationalError, match="no_such_table"):
        schema.prepare(connection, path, [*schema.migrations(), broken])
    assert version(connection) == before
    assert "note" not in str(connection.execute("SELECT sql FROM sqlite_master").fetchall())


def test_a_newer_file_is_refused_with_a_sentence(
    path: Path, connection: sqlite3.Connection
) -> None:
    connection.execute(f"PRAGMA user_version = {schema.newest(schema.migrations()) + 1}")
    with pytest.raises(ArgumentError, match="a newer Assay wrote this record file") as refused:
        Store(path)
    assert refused.value.hint is not None and "upgrade Assay" in refused.value.hint


def test_a_file_of_before_the_first_release_is_refused_and_unchanged(
    path: Path, connection: sqlite3.Connection
) -> None:
    connection.execute("PRAGMA user_version = 24")
    connection.close()
    before = path.read_bytes()
    for must_exist in (False, True):
        with pytest.raises(ArgumentError, match="before the first release") as refused:
            Store(path, must_exist=must_exist)
        assert refused.value.hint is not None and "--records" in refused.value.hint
    assert path.read_bytes() == before


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
