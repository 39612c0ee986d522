"""Takes an open file; returns it the tables of this version, or says why the file cannot be used.

The tables are SQL text in ``steps/``, described there column by column for people who ask the file
with SQL. A question::

    SELECT system_label, storage, clients, elapsed_ns / 1e9 AS elapsed_s
    FROM runs JOIN outcomes ON run_id = id WHERE experiment_id = 3 ORDER BY clients, elapsed_s;

Times are integer nanoseconds, instants are Unix time. Seeds are text: they have 64 bits without a
sign, one more than an INTEGER holds. No password is in the file (see `document`).

``PRAGMA user_version`` is the number of steps a file has been through. A step that was released
never changes; a change of the tables is a new file in ``steps/``. All missing steps happen in one
transaction. A file with more steps than this program knows is refused.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from assay.errors import ArgumentError
from assay.plan import fingerprint

APPLICATION_ID = 0x41535359
"""``ASSY`` in the file's header: identifies a record among SQLite files."""

Step = Sequence[str]
"""The statements of one step."""


def steps() -> list[Step]:
    """Every step there is, in order: ``001_….sql`` first."""
    texts = [
        file
        for file in files(__package__).joinpath("steps").iterdir()
        if file.name.endswith(".sql")
    ]
    return [_statements(file.read_text("utf-8")) for file in sorted(texts, key=lambda f: f.name)]


def prepare(connection: sqlite3.Connection, path: Path, known: Sequence[Step]) -> None:
    """Makes a new file's tables, or takes an older file through the steps it has not seen.

    ``connection`` must be in autocommit mode. Raises `ArgumentError` for a file that is newer than
    this program, or is no record file.
    """
    if version_of(connection, path, known) == len(known):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Asked again inside: another process may have done it while we waited for the lock.
        connection.create_function("cell_fingerprint_2", 1, _cell_fingerprint, deterministic=True)
        for step in known[_version(connection, path, known) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(known)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _cell_fingerprint(cell: str) -> str | None:
    """What step 7 asks of a cell; None where its document is none of a cell."""
    try:
        return fingerprint.of_document(json.loads(cell))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def version_of(connection: sqlite3.Connection, path: Path, known: Sequence[Step]) -> int:
    """How many steps the file has been through; raises as `prepare` does."""
    # Its three questions must see one state of the file: another process may be making it.
    connection.execute("BEGIN")
    try:
        return _version(connection, path, known)
    finally:
        connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection, path: Path, known: Sequence[Step]) -> int:
    application_id = _number(connection, "PRAGMA application_id")
    version = _number(connection, "PRAGMA user_version")
    is_empty = _number(connection, "SELECT count(*) FROM sqlite_master") == 0
    if application_id != APPLICATION_ID and not is_empty:
        raise ArgumentError(
            f"{path}: expected a record file of Assay, found another program's SQLite file",
            hint="name another file with --records",
        )
    if version == 0 and not is_empty:
        raise ArgumentError(
            f"{path}: this record file is damaged: its version (user_version) is 0",
            hint="name another file with --records",
        )
    if version > len(known):
        raise ArgumentError(
            f"{path}: a newer Assay wrote this record file (version {version}; this Assay reads "
            f"versions up to {len(known)})",
            hint="upgrade Assay, or name another file with --records",
        )
    return version


def _number(connection: sqlite3.Connection, question: str) -> int:
    return int(connection.execute(question).fetchone()[0])


def _statements(text: str) -> Step:
    """The text cut where SQLite says that a statement is complete."""
    statements, lines = [], ""
    for line in text.splitlines(keepends=True):
        lines += line
        if sqlite3.complete_statement(lines):
            statements.append(lines)
            lines = ""
    return statements
