"""Opens the record file, and gives each write a transaction of its own and its errors a sentence.

What a transaction held is on disk when it ends (WAL, synchronous = FULL), through a killed process
and a power cut.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.errors import ArgumentError, Bug, RunFailed
from assay.record import schema

DEFAULT_FILE_NAME = "assay-records.sqlite"

_BUSY_TIMEOUT_S = 30.0
"""How long a call waits for another process that writes into the same file."""
_OTHER_FILE = "name another file with --records"


def open_file(path: Path, *, must_exist: bool) -> sqlite3.Connection:
    """Opens ``path``; makes it, unless it ``must_exist``, and brings an older one up to date.

    Raises `ArgumentError` where the file cannot be used.
    """
    if must_exist and not path.exists():
        raise ArgumentError(
            f"there are no records at {path}",
            hint=f"`assay run` makes them; or {_OTHER_FILE}",
        )
    try:
        connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
        try:
            schema.prepare(connection, path, schema.steps())
            # Only now that the file is known to be ours: a stranger's must stay as it was.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as error:
        raise ArgumentError(
            f"{path}: expected a record file that can be read and written, found: {error}",
            hint=_OTHER_FILE,
        ) from error
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, path: Path) -> Iterator[sqlite3.Connection]:
    """All of the block or none of it."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    except sqlite3.IntegrityError as error:
        raise Bug(f"{path}: a stage reported twice, or out of order: {error}") from error
    except sqlite3.Error as error:
        raise RunFailed(
            f"{path}: the record could not be written: {error}",
            hint=f"what had been written before is safe; free space, or {_OTHER_FILE}",
        ) from error


def insert(connection: sqlite3.Connection, table: str, **values: object) -> int:
    """Adds a row; gives its number."""
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    cursor = connection.execute(
        f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values())
    )
    return int(cursor.lastrowid or 0)
