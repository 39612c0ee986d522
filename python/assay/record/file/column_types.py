"""Takes a record that is open; raises `ValueError` where its content is not what Assay wrote: a
table or column is missing, a value is of another type than its column, or a row belongs to none.

SQLite keeps a text in a column of numbers, and rows without what they refer to, if another program
writes them. All tables are looked at by what they declare.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

from assay.record.file import opening, schema

_KEPT_AS = {
    "INTEGER": ("integer", "null"),
    "REAL": ("real", "integer", "null"),
    "TEXT": ("text", "null"),
    "BLOB": ("blob", "null"),
}
"""Declared type → what SQLite keeps in such a column; NOT NULL it checks itself."""
RunColumn = Literal["id", "experiment_id"]
"""Of the table ``runs``: one run, or all of an experiment."""


def insist_on_overview(connection: sqlite3.Connection) -> None:
    """Looks at all that is kept of no single run: experiments, runs, cells."""
    for table, columns in _tables(connection):
        if "run_id" not in columns:
            _insist_on_types(connection, table, columns)
    insist_on_owners_of_runs(connection)


def insist_on_owners_of_runs(connection: sqlite3.Connection) -> None:
    """A run whose experiment is lost would be one of the next experiment of that number."""
    _insist_on_owners(connection, "(runs)")


def insist_on_runs(connection: sqlite3.Connection, column: RunColumn, number: int) -> None:
    """Looks at all that is kept of these runs."""
    rows = f"run_id IN (SELECT id FROM runs WHERE {column} = ?)"
    for table, columns in _tables(connection):
        if "run_id" in columns:
            _insist_on_types(connection, table, columns, rows, number)


def insist_on_whole(connection: sqlite3.Connection, path: Path) -> None:
    """Looks at everything; ``connection`` is to a record of this version."""
    with closing(opening.private()) as new:
        schema.prepare(new, path, schema.migrations())
        expected = dict(_tables(new))
    found = dict(_tables(connection))
    for table, columns in expected.items():
        if table not in found:
            raise ValueError(f"there is no table {table}")
        if missing := [column for column in columns if column not in found[table]]:
            raise ValueError(f"the table {table} has no column {missing[0]}")
        _insist_on_types(connection, table, found[table])
    _insist_on_owners(connection)


def _tables(connection: sqlite3.Connection) -> Iterator[tuple[str, dict[str, str]]]:
    """Each table with the declared types of its columns."""
    question = (
        "SELECT m.name, json_group_object(c.name, c.type) FROM sqlite_master AS m, "
        "pragma_table_info(m.name) AS c WHERE m.type = 'table' GROUP BY m.name"
    )
    for table, columns in connection.execute(question).fetchall():
        yield table, json.loads(columns)


def _insist_on_types(
    connection: sqlite3.Connection,
    table: str,
    columns: dict[str, str],
    rows: str = "TRUE",
    *values: int,
) -> None:
    cases = " ".join(
        f"WHEN typeof({column}) NOT IN ({', '.join(map(repr, _KEPT_AS[declared]))}) "
        f"THEN '{column} is no {declared.lower()}, but ' || typeof({column})"
        for column, declared in columns.items()
        if declared in _KEPT_AS
    )
    question = (
        f"SELECT rowid, CASE {cases} END AS wrong FROM {table} "
        f"WHERE {rows} AND wrong IS NOT NULL LIMIT 1"
    )
    if wrong := connection.execute(question, values).fetchone():
        raise ValueError(f"row {wrong[0]} of {table}: {wrong[1]}")


def _insist_on_owners(connection: sqlite3.Connection, of: str = "") -> None:
    if wrong := connection.execute(f"PRAGMA foreign_key_check{of}").fetchone():
        table, row, owners, _ = wrong
        raise ValueError(f"row {row} of {table} belongs to none of {owners}")
