"""Takes an open file; returns it the tables and views of this version, or says why the file cannot
be used.

The tables are SQL text in ``tables/``, the views in ``views/``, described there column by column
for people who query the file with SQL; the views of metrics are made of their catalogue. As in::

    SELECT system_label, storage, clients, elapsed_ns / 1e9 AS elapsed_s
    FROM runs JOIN outcomes ON run_id = id WHERE experiment_id = 3 ORDER BY clients, elapsed_s;

Times are integer nanoseconds, instants are Unix time. Seeds are text: they are unsigned 64-bit
numbers, which do not fit into an INTEGER. No password is in the file (see `document`).

``PRAGMA user_version`` is the number of the last file of ``tables/`` applied to a file. A released
one never changes; a change of the tables is a new file. All missing ones are applied in one
transaction. A file with more than this version knows is refused, and so is one of before the first.
Views hold nothing, and are made anew where they differ from this version's.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from assay.errors import ArgumentError, InputError
from assay.record.file import faults
from assay.text import paths
from assay.text.phrases import phrase

APPLICATION_ID = 0x41535359
"""``ASSY`` in the file's header: identifies a record among SQLite files."""
_APPLICATION_ID_AT = 68
"""Its place in the header of the file."""
_COMPANIONS = ("-wal", "-shm", "-journal")
"""What follows the name of a record file in those of files that belong to it."""

_FIRST_VERSION = 25
"""That of ``025_….sql``, which creates all tables. Files of before it are not read."""

Migration = Sequence[str]
"""Its statements, without their semicolons."""


def migrations() -> Sequence[Migration]:
    """All of them, in order: the first one creates the tables, each other one changes them."""
    return _texts("tables")


def views() -> Migration:
    # Here: packages that bring metrics may import the record.
    from assay.record.metrics import catalogue

    return [
        *(statement for file in _texts("views") for statement in file),
        *catalogue.metric_views(),
    ]


@cache
def _texts(folder: str) -> Sequence[Migration]:
    """The statements of each file, by the files' names."""
    files = sorted(Path(__file__).parent.joinpath(folder).glob("*.sql"))
    return [_statements(file.read_text("utf-8")) for file in files]


def insist_on_no_record(path: Path) -> None:
    """Raises `InputError` where the file is a record file, or belongs to one, by whatever link: no
    output replaces it."""
    real = path.resolve()
    names = [real.name, *(real.name.removesuffix(end) for end in _COMPANIONS)]
    if any(_has_application_id(real.with_name(name)) for name in dict.fromkeys(names) if name):
        raise InputError(
            "is a record file, which no output replaces", file=path, hint="write to another file"
        )


def _has_application_id(path: Path) -> bool:
    try:
        _, head = paths.read_beginning(path, _APPLICATION_ID_AT + 4)
    except (OSError, ValueError):
        return False
    return int.from_bytes(head[_APPLICATION_ID_AT:]) == APPLICATION_ID


def prepare(connection: sqlite3.Connection, path: Path, known: Sequence[Migration]) -> None:
    """Creates the tables of a new file, or applies the missing migrations to an older one; makes
    the views that are not this version's.

    ``connection`` must be in autocommit mode. Raises `ArgumentError` for a file that is newer than
    this version, too old for it, or is not a record file.
    """
    wanted = set(views())
    if version_of(connection, path, known) == newest(known) and _views(connection) == wanted:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again inside: another process may have migrated it while we waited for the lock.
        missing = newest(known) - max(_version(connection, path, known), _FIRST_VERSION - 1)
        for migration in known[len(known) - missing :]:
            for statement in migration:
                connection.execute(statement)
        _make_views(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {newest(known)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def newest(known: Sequence[Migration]) -> int:
    """The version of a file to which all of these have been applied."""
    return _FIRST_VERSION - 1 + len(known)


def _views(connection: sqlite3.Connection) -> set[str]:
    """The statements that created the views of a file."""
    made = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'view'")
    return {statement for (statement,) in made}


def _make_views(connection: sqlite3.Connection) -> None:
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall()
    for (name,) in names:
        connection.execute(f'DROP VIEW "{name}"')
    for statement in views():
        connection.execute(statement)


def version_of(connection: sqlite3.Connection, path: Path, known: Sequence[Migration]) -> int:
    """The number of the last migration applied to the file, 0 of an empty one; raises as `prepare`
    does."""
    # One transaction, so that the three queries see one state: another process may be creating it.
    connection.execute("BEGIN")
    try:
        return _version(connection, path, known)
    finally:
        if connection.in_transaction:  # a full disk has ended it
            connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection, path: Path, known: Sequence[Migration]) -> int:
    application_id = _number(connection, "PRAGMA application_id")
    version = _number(connection, "PRAGMA user_version")
    is_empty = _number(connection, "SELECT count(*) FROM sqlite_master") == 0
    if application_id != APPLICATION_ID and not is_empty:
        raise ArgumentError(
            f"{path}: expected a record file of Assay, found another program's SQLite file",
            hint=faults.OTHER_FILE,
        )
    if version == 0 and not is_empty:
        raise ArgumentError(
            f"{path}: this record file is damaged: its version (user_version) is 0",
            hint=faults.OTHER_FILE,
        )
    if version > newest(known):
        raise ArgumentError(
            f"{path}: a newer Assay wrote this record file (version {version}; this Assay reads "
            f"versions up to {newest(known)})",
            hint=phrase("upgrade Assay, or {}", faults.OTHER_FILE),
        )
    if 0 < version < _FIRST_VERSION:
        raise ArgumentError(
            f"{path}: an Assay of before the first release wrote this record file (version "
            f"{version}; this Assay reads versions from {_FIRST_VERSION} on)",
            hint=phrase("run its experiments again: {}", faults.OTHER_FILE),
        )
    return version


def _number(connection: sqlite3.Connection, question: str) -> int:
    return int(connection.execute(question).fetchone()[0])


def _statements(text: str) -> Migration:
    """The text split into complete statements, without comments and empty lines before them."""
    statements, lines = [], ""
    for line in text.splitlines(keepends=True):
        if not lines and (line.startswith("--") or not line.strip()):
            continue
        lines += line
        if sqlite3.complete_statement(lines):
            statements.append(lines.strip().removesuffix(";"))
            lines = ""
    return statements
