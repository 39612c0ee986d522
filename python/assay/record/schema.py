"""Takes an open file; returns it the tables of this version, or says why the file cannot be used.

The tables are SQL text in ``steps/``, described there column by column for people who query the
file with SQL, as in::

    SELECT system_label, storage, clients, elapsed_ns / 1e9 AS elapsed_s
    FROM runs JOIN outcomes ON run_id = id WHERE experiment_id = 3 ORDER BY clients, elapsed_s;

Times are integer nanoseconds, instants are Unix time. Seeds are text: they are unsigned 64-bit
numbers, which do not fit into an INTEGER. No password is in the file (see `document`).

``PRAGMA user_version`` is the number of migration steps applied to a file. A released step never
changes; a change of the tables is a new file in ``steps/``. All missing steps are applied in one
transaction. A file with more steps than this version knows is refused.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from assay.errors import ArgumentError, InputError
from assay.plan import fingerprint
from assay.record import faults
from assay.text.files import shared_files

APPLICATION_ID = 0x41535359
"""``ASSY`` in the file's header: identifies a record among SQLite files."""
_APPLICATION_ID_AT = 68
"""Its place in the header of the file."""
_COMPANIONS = ("-wal", "-shm", "-journal")
"""What follows the name of a record file in those of files that belong to it."""

Step = Sequence[str]
"""The statements of one step."""


def steps() -> list[Step]:
    """All migration steps, in order: ``001_….sql`` first."""
    texts = [
        file
        for file in files(__package__).joinpath("steps").iterdir()
        if file.name.endswith(".sql")
    ]
    return [_statements(file.read_text("utf-8")) for file in sorted(texts, key=lambda f: f.name)]


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
        _, head = shared_files.read(path, _APPLICATION_ID_AT + 4)
    except (OSError, ValueError):
        return False
    return int.from_bytes(head[_APPLICATION_ID_AT:]) == APPLICATION_ID


def prepare(connection: sqlite3.Connection, path: Path, known: Sequence[Step]) -> None:
    """Creates the tables of a new file, or applies the missing steps to an older one.

    ``connection`` must be in autocommit mode. Raises `ArgumentError` for a file that is newer than
    this version, or is not a record file.
    """
    if version_of(connection, path, known) == len(known):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again inside: another process may have migrated it while we waited for the lock.
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


def create_like(record: sqlite3.Connection, empty: sqlite3.Connection) -> None:
    """Creates in an empty database what a prepared record has, without its rows: in a tenth of the
    time that all steps take."""
    made = record.execute(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL "
        # Names that begin as its own do are made by the library.
        "AND substr(name, 1, 7) <> substr('sqlite_master', 1, 7) ORDER BY type <> 'table', rowid"
    )
    empty.execute("BEGIN")
    for (statement,) in made.fetchall():
        empty.execute(statement)
    for pragma in ("application_id", "user_version"):
        empty.execute(f"PRAGMA {pragma} = {_number(record, f'PRAGMA {pragma}')}")
    empty.execute("COMMIT")


def _cell_fingerprint(cell: str) -> str | None:
    """The SQL function of steps 7 and 16; None where the document does not describe a cell."""
    try:
        return fingerprint.of_document(json.loads(cell))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def version_of(connection: sqlite3.Connection, path: Path, known: Sequence[Step]) -> int:
    """The number of steps applied to the file; raises as `prepare` does."""
    # One transaction, so that the three queries see one state: another process may be creating it.
    connection.execute("BEGIN")
    try:
        return _version(connection, path, known)
    finally:
        if connection.in_transaction:  # a full disk has ended it
            connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection, path: Path, known: Sequence[Step]) -> int:
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
    if version > len(known):
        raise ArgumentError(
            f"{path}: a newer Assay wrote this record file (version {version}; this Assay reads "
            f"versions up to {len(known)})",
            hint=f"upgrade Assay, or {faults.OTHER_FILE}",
        )
    return version


def _number(connection: sqlite3.Connection, question: str) -> int:
    return int(connection.execute(question).fetchone()[0])


def _statements(text: str) -> Step:
    """The text split into complete statements."""
    statements, lines = [], ""
    for line in text.splitlines(keepends=True):
        lines += line
        if sqlite3.complete_statement(lines):
            statements.append(lines)
            lines = ""
    return statements
