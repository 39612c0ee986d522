"""Takes the path of a record file; returns a connection that reads it, and changes nothing.

The file may be on a read-only medium, in a folder without write permission, or of an older version:
then it is read as it is, or from a temporary copy that is removed with the connection.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from pathlib import Path
from urllib.parse import quote

from assay.errors import ArgumentError
from assay.record import faults, schema
from assay.record.file import insist_on_a_file, is_locked

_BUSY_TIMEOUT_S = 15.0


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Raises `ArgumentError` if there is no file, or it is not a record, or a newer one, and
    `SystemUnderTestError` where another process holds it."""
    insist_on_a_file(path)
    try:
        size = path.stat().st_size
        with path.open("rb"):
            pass
    except FileNotFoundError as error:
        raise ArgumentError(
            f"there are no records at {path}",
            hint=f"`assay run` makes them; or {faults.OTHER_FILE}",
        ) from error
    except OSError as error:
        raise ArgumentError(
            f"{path}: the records cannot be read: {error.strerror}",
            hint=faults.OTHER_FILE,
        ) from error
    try:
        connection = _open(path) if size else sqlite3.connect("", isolation_level=None)
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
    log = Path(f"{path}-wal")
    may_write = os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    # SQLite shares its log between processes through a file beside it. Without permission to create
    # that file it can only read where a writer has created one, or where there is no log.
    modes = ["mode=rw"] if may_write else []
    modes.append("mode=ro")
    for mode in modes:
        try:
            return _connect(path, mode)
        except sqlite3.OperationalError as error:
            if is_locked(error):  # the other modes would ignore the writer's lock
                raise
    if log.exists() and log.stat().st_size:
        return _copy_with_log(path, log)
    return _connect(path, "immutable=1")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    name = quote(os.fsencode(path.absolute()))
    connection = sqlite3.connect(
        f"file:{name}?{mode}", uri=True, timeout=_BUSY_TIMEOUT_S, isolation_level=None
    )
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _copy_with_log(path: Path, log: Path) -> sqlite3.Connection:
    """A copy with the transactions that a killed writer left in the log."""
    with tempfile.TemporaryDirectory(prefix="assay-records-") as folder:
        copy = Path(shutil.copyfile(path, Path(folder, "records")))
        shutil.copyfile(log, f"{copy}-wal")
        whole = sqlite3.connect(copy, isolation_level=None)
        try:
            return _in_private(whole)
        finally:
            whole.close()


def _of_this_version(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """The connection, or one to a migrated copy if the file is of an older version."""
    known = schema.steps()
    if schema.version_of(connection, path, known) == len(known):
        return connection
    copy = _in_private(connection)
    connection.close()
    schema.prepare(copy, path, known)
    return copy


def _in_private(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A copy in a temporary database that SQLite removes with the connection."""
    copy = sqlite3.connect("", isolation_level=None)
    connection.backup(copy)
    copy.execute("PRAGMA journal_mode = MEMORY")
    return copy
