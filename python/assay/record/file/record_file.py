"""Takes the path of a record file; opens it to be written or read, each write in its own
transaction; insists on its content, and translates its errors. The only place that opens one."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from assay.errors import ArgumentError, Bug
from assay.record.file import faults, schema
from assay.text import paths
from assay.text.phrases import phrase

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
        connection = connect(path, "rwc", timeout_s=_BUSY_TIMEOUT_S)
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
    except faults.OF_CONTENT as error:
        raise faults.damaged(error, path) from error


SqlValue = str | int | float | bytes | None


def insert(connection: sqlite3.Connection, table: str, /, **values: SqlValue) -> int:
    """Adds a row; returns its number."""
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    cursor = connection.execute(
        f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values())
    )
    return int(cursor.lastrowid or 0)


def value(connection: sqlite3.Connection, question: str, *asked: SqlValue) -> Any:
    """The one value of the one row that answers the question."""
    (found,) = connection.execute(question, asked).fetchone()
    return found


_LOG = ("-wal", "-shm")
Mode = Literal["rwc", "rw", "ro"]


def connect(path: Path, mode: Mode, *, timeout_s: float) -> sqlite3.Connection:
    """A connection in autocommit mode; ``rwc`` creates a file that is not there. Raises
    `sqlite3.Error`."""
    keep_log_writable(path)
    return _connect(path, f"mode={mode}", timeout_s)


def keep_log_writable(path: Path) -> None:
    """Lets all write the log of a record who may write the record, and its owner. SQLite makes the
    log with the mode of the record: after a look at a read-only one it would stay read-only, and
    the record could not be written when it is writable again."""
    with contextlib.suppress(OSError):
        real = path.resolve()
        wanted = stat.S_IMODE(real.stat().st_mode) | stat.S_IWUSR
        for end in _LOG:
            with contextlib.suppress(FileNotFoundError):
                log = Path(f"{real}{end}")
                mode = stat.S_IMODE(log.stat().st_mode)
                if wanted & ~mode:
                    log.chmod(mode | wanted)


def private_database() -> sqlite3.Connection:
    """A new temporary database, which SQLite removes with the connection."""
    return sqlite3.connect("", isolation_level=None)


def as_private_database(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A copy in a temporary database."""
    copy = private_database()
    connection.backup(copy)
    copy.execute("PRAGMA journal_mode = MEMORY")
    return copy


def private_copy(path: Path) -> sqlite3.Connection | None:
    """A copy of a file beside which SQLite can make no files, with the transactions that a killed
    writer left in its log. None where this process has the file open. Raises `sqlite3.Error`."""
    with paths.opening:
        if paths.is_open_here(path):
            return None
        log = Path(f"{path}-wal")
        if not (log.exists() and log.stat().st_size):
            return _in_private(_connect(path, "immutable=1", 0))
        with tempfile.TemporaryDirectory(prefix="assay-records-") as folder:
            copy = Path(shutil.copyfile(path, Path(folder, "records")))
            shutil.copyfile(log, f"{copy}-wal")
            return _in_private(_connect(copy, "mode=rw", 0))


def _in_private(whole: sqlite3.Connection) -> sqlite3.Connection:
    try:
        return as_private_database(whole)
    finally:
        whole.close()


def _connect(path: Path, how: str, timeout_s: float) -> sqlite3.Connection:
    name = quote(os.fsencode(path.absolute()))
    with paths.opening:
        return sqlite3.connect(
            f"file:{name}?{how}", uri=True, timeout=timeout_s, isolation_level=None
        )


_READERS_TIMEOUT_S = 15.0


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
            f"{path}: the records cannot be read: {error.strerror}", hint=faults.OTHER_FILE
        ) from error
    try:
        connection = _open_to_read(path) if size else private_database()
        try:
            return _of_this_version(connection, path)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, UnicodeDecodeError) as error:
        found = faults.library_error(error)
        why = faults.locked(path) if is_locked(found) else faults.not_opened(found, path)
        raise why from error


def _open_to_read(path: Path) -> sqlite3.Connection:
    """A connection that has executed a query, which shows that it works."""
    may_write = os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    # SQLite shares its log between processes through a file beside it. Without permission to create
    # that file it can only read where a writer has created one, or where there is no log.
    modes: list[Mode] = ["rw", "ro"] if may_write else ["ro"]
    for mode in modes:
        try:
            connection = _tried(connect(path, mode, timeout_s=_READERS_TIMEOUT_S))
            keep_log_writable(path)
            return connection
        except sqlite3.OperationalError as error:
            if is_locked(error):  # a copy would ignore the writer's lock
                raise
            why = error
    if (copy := private_copy(path)) is None:
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
    copy = as_private_database(connection)
    connection.close()
    schema.prepare(copy, path, known)
    return copy


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
    """Looks at all that is kept of no single run: experiments, cells, and whose the runs are."""
    for table, columns in _tables(connection):
        if "run_id" not in columns and table != "runs":
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
        elif table == "runs":
            _insist_on_types(connection, table, columns, f"{column} = ?", number)


def wrong_runs(connection: sqlite3.Connection) -> dict[int, str]:
    """By the number of a run, what is wrong with its row."""
    return dict(_wrong_rows(connection, "runs", dict(_tables(connection))["runs"], "TRUE"))


def insist_on_whole(connection: sqlite3.Connection, path: Path) -> None:
    """Looks at everything; ``connection`` is to a record of this version."""
    with closing(private_database()) as new:
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
    for row, wrong in _wrong_rows(connection, table, columns, rows, *values):
        raise ValueError(f"row {row} of {table}: {wrong}")


def _wrong_rows(
    connection: sqlite3.Connection, table: str, columns: dict[str, str], rows: str, *values: int
) -> Iterator[tuple[int, str]]:
    cases = " ".join(
        f"WHEN typeof({column}) NOT IN ({', '.join(map(repr, _KEPT_AS[declared]))}) "
        f"THEN '{column} is no {declared.lower()}, but ' || typeof({column})"
        for column, declared in columns.items()
        if declared in _KEPT_AS
    )
    question = (
        f"SELECT rowid, CASE {cases} END AS wrong FROM {table} WHERE {rows} AND wrong IS NOT NULL"
    )
    return connection.execute(question, values)


def _insist_on_owners(connection: sqlite3.Connection, of: str = "") -> None:
    if wrong := connection.execute(f"PRAGMA foreign_key_check{of}").fetchone():
        table, row, owners, _ = wrong
        raise ValueError(f"row {row} of {table} belongs to none of {owners}")
