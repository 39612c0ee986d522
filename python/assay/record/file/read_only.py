"""Takes the path of a record file; returns a connection that reads it, and changes nothing.

The file may be on a read-only medium, in a folder without write permission, or of an older version:
then it is read as it is, or from a temporary copy that is removed with the connection.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from assay.errors import ArgumentError
from assay.record.file import faults, opening, schema
from assay.record.file.record_file import insist_on_a_file, is_locked
from assay.text.mentions import phrase

_BUSY_TIMEOUT_S = 15.0


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Raises `ArgumentError` if there is no file, or it is not a record, or a newer one, and
    `SystemUnderTestError` where another process holds it."""
    insist_on_a_file(path)
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not os.access(path, os.R_OK, effective_ids=True):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except FileNotFoundError as error:
        raise ArgumentError(
            f"there are no records at {path}",
            hint=phrase("`assay run` makes them; or {}", faults.OTHER_FILE),
        ) from error
    except OSError as error:
        raise ArgumentError(
            f"{path}: the records cannot be read: {error.strerror}",
            hint=faults.OTHER_FILE,
        ) from error
    try:
        connection = _open(path) if size else opening.private()
        try:
            return _of_this_version(connection, path)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, UnicodeDecodeError) as error:
        found = faults.library_error(error)
        why = faults.locked(path) if is_locked(found) else faults.not_opened(found, path)
        raise why from error


def _open(path: Path) -> sqlite3.Connection:
    """A connection that has executed a query, which shows that it works."""
    may_write = os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    # SQLite shares its log between processes through a file beside it. Without permission to create
    # that file it can only read where a writer has created one, or where there is no log.
    modes: list[opening.Mode] = ["rw", "ro"] if may_write else ["ro"]
    for mode in modes:
        try:
            connection = _tried(opening.connect(path, mode, timeout_s=_BUSY_TIMEOUT_S))
            opening.keep_log_writable(path)
            return connection
        except sqlite3.OperationalError as error:
            if is_locked(error):  # a copy would ignore the writer's lock
                raise
            why = error
    if (copy := opening.private_copy(path)) is None:
        raise why
    return _tried(copy)


def _tried(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _of_this_version(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """The connection, or one to a migrated copy if the file is of an older version."""
    known = schema.migrations()
    if schema.version_of(connection, path, known) == schema.newest(known):
        return connection
    copy = opening.in_private(connection)
    connection.close()
    schema.prepare(copy, path, known)
    return copy
