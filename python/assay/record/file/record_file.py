"""Takes the path of a record file; opens it, runs each write in its own transaction, and translates
its errors.

A committed transaction survives a killed process and a power cut (WAL, synchronous = FULL).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from assay.errors import ArgumentError, Bug
from assay.record.file import faults, opening, schema
from assay.text.files import paths

_BUSY_TIMEOUT_S = 1.0
"""How long SQLite itself waits for a lock; `writer` waits longer."""


class RecordIsLocked(Exception):
    """Another process has locked the file; a retry may succeed."""


_LOCKED = {5, 6}
"""The primary result codes BUSY and LOCKED."""


def is_locked(error: sqlite3.Error) -> bool:
    """Whether another process has locked the file; other errors are permanent."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in _LOCKED


def insist_on_a_file(path: Path) -> None:
    """Raises `ArgumentError` for a pipe or a device, on which opening could block."""
    if paths.is_something_else(path):
        raise ArgumentError(f"{path}: expected a file of records, found a pipe or a device")


def open_file(path: Path) -> sqlite3.Connection:
    """Opens ``path`` for writing; creates it, or migrates an older one.

    Raises `ArgumentError` where the file cannot be used, `RecordIsLocked`.
    """
    insist_on_a_file(path)
    is_new = not path.exists()
    try:
        connection = opening.connect(path, "rwc", timeout_s=_BUSY_TIMEOUT_S)
        try:
            schema.prepare(connection, path, schema.migrations())
            # Only after this check: another program's file must stay unchanged.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, UnicodeDecodeError) as raised:
        found = faults.library_error(raised)
        if is_locked(found):
            raise RecordIsLocked(str(path)) from raised
        if is_new and faults.is_full(found, path):
            _remove_empty(path)
        raise faults.not_opened_for_writing(found, path) from raised
    return connection


def _remove_empty(path: Path) -> None:
    """The file that a full disk has left; another process could not have written it either."""
    with suppress(OSError):
        if path.stat().st_size == 0:
            path.unlink()


@contextmanager
def transaction(connection: sqlite3.Connection, path: Path) -> Iterator[sqlite3.Connection]:
    """Runs the block in one transaction. Raises `RecordIsLocked`."""
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
    except (sqlite3.Error, UnicodeDecodeError) as raised:
        found = faults.library_error(raised)
        if is_locked(found):
            raise RecordIsLocked(str(path)) from raised
        raise faults.not_written(found, path) from raised


@contextmanager
def reading_errors(path: Path) -> Iterator[None]:
    """Translates the errors of a query; the content of the file may be damaged. Raises
    `RecordIsLocked`."""
    try:
        yield
    except sqlite3.Error as error:
        if is_locked(error):
            raise RecordIsLocked(str(path)) from error
        raise faults.not_read(error, path) from error
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise faults.damaged(error, path) from error


SqlValue = str | int | float | bytes | None


def insert(connection: sqlite3.Connection, table: str, **values: SqlValue) -> int:
    """Adds a row; returns its number."""
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    cursor = connection.execute(
        f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values())
    )
    return int(cursor.lastrowid or 0)
