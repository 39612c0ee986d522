"""Takes a loaded deployment and the files its rows came from; brings the rows of files up to date
that are newer than a stamp or a date."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct, structs

from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Dialect, LocksTables, Table
from assay.errors import ArgumentError, InputError
from assay.load.bibsql.bibliography import BibDocument, FileRows
from assay.load.load import OnProgress, fill
from assay.load.tables import count
from assay.text import paths


class Replaced(Struct, frozen=True):
    inserted_rows: int
    elapsed_ns: int


class LoadedTables(Struct, frozen=True):
    """Tables whose rows follow files by ``rule``."""

    deployment: Deployment
    dialect: Dialect
    tables: Sequence[Table]
    rule: FileRows

    def count(self) -> int:
        """The rows of all files."""
        table = next(table for table in self.tables if table.name == self.rule.table)
        return count(self.deployment, self.dialect, [table])[table.name]

    def replace(
        self,
        source: BibDocument,
        changed: Sequence[str],
        removed: Sequence[str] = (),
        progress: OnProgress | None = None,
    ) -> Replaced:
        """Deletes the rows of the files named in ``changed`` and ``removed`` and inserts those of
        ``changed`` anew, in one transaction; ``source`` is the engine's document that names all
        files as they are now."""
        began_ns = time.monotonic_ns()
        report = fill(
            self.deployment,
            self.dialect,
            self.tables,
            structs.replace(source, only=tuple(changed)),
            before=[
                *lock(self.dialect, self.rule),
                *deletes(self.dialect, self.rule, [*changed, *removed]),
            ],
            progress=progress,
        )
        sent = {table.name: table.rows for table in report.tables}
        return Replaced(sent.get(self.rule.table, 0), time.monotonic_ns() - began_ns)


def lock(dialect: Dialect, rule: FileRows) -> list[str]:
    """Statements that come before the deletes: another update waits until this one has ended."""
    return dialect.lock_table(rule.table) if isinstance(dialect, LocksTables) else []


def unlock(dialect: Dialect, rule: FileRows) -> list[str]:
    """Statements that come after the end of the transaction."""
    return dialect.unlock_table(rule.table) if isinstance(dialect, LocksTables) else []


def deletes(dialect: Dialect, rule: FileRows, names: Sequence[str]) -> list[str]:
    """Statements that delete the rows of the files of these names, file by file, and all rows of
    the tables that are made anew."""
    statements = []
    for name in names:
        statements += dialect.delete_where(rule.table, rule.key, [name])
    for table in rule.rebuilt:
        statements += dialect.delete_all(table)
    return statements


_DATE = re.compile(r"\d{4}-\d\d")
_LIKE_A_DATE = re.compile(
    r"|\d[^/]*|[+-]\d[^/]*|@\d+|[^/]*\bago|now|today|yesterday|tomorrow|(last|next) .*"
    r"|(mon|tues|wednes|thurs|fri|satur|sun)day",
    re.IGNORECASE,
)
"""What other programs take for a date."""
_DATE_HINT = "--newer-than 2026-11-23, --newer-than 2026-11-23T06:30, or a file whose time is meant"


class NewerThan(Struct, frozen=True):
    since_ns: int | None
    """None: the stamp is not there yet, so that every file is new."""
    stamp: Path | None = None
    """The file; None: a date was given."""

    def changed(self, files: Iterable[Path]) -> list[Path]:
        """The files that were written, or came here, then or later. Equal counts as changed: doing
        a file twice is harmless, missing one is not."""
        since_ns = self.since_ns
        if since_ns is None:
            return list(files)
        return [file for file in files if _written_ns(file) >= since_ns]

    def insist_on_past(self, now_ns: int) -> None:
        """Raises `ArgumentError` for an instant after ``now_ns``: a file that was written before it
        would never be found."""
        if self.since_ns is None or self.since_ns <= now_ns:
            return
        word = "this date" if self.stamp is None else str(self.stamp)
        raise ArgumentError(
            f"--newer-than: {word} is in the future, {_shown(self.since_ns)}; now it is "
            f"{_shown(now_ns)}",
            hint="give the time of the last update; for every file: 1970-01-01"
            if self.stamp is None
            else f"for every file: touch -d 1970-01-01 {self.stamp}",
        )

    def insist_on_own_file(self, files: Iterable[Path]) -> None:
        """Raises `ArgumentError` where the stamp, which will be set, is one of these files."""
        if self.stamp is None:
            return
        place = self.stamp.resolve()
        if any(file.resolve() == place for file in files):
            raise ArgumentError(
                f"--newer-than {self.stamp}: expected a stamp of its own, found a file to read",
                hint="--newer-than last-update",
            )


def newer_than(word: str) -> NewerThan:
    """Raises `ArgumentError` for a date that there is not, for a folder, and for a word that is
    meant as a date more likely than as a new file."""
    path = Path(word)
    if paths.is_folder(path):
        raise ArgumentError(f"--newer-than {word}: expected a file, found a folder")
    if paths.exists(path):
        return NewerThan(path.stat().st_mtime_ns, path)
    if _DATE.match(word) is None:
        if _LIKE_A_DATE.fullmatch(word):
            raise ArgumentError(
                f"--newer-than {word}: expected a date and time of ISO 8601, or a file",
                hint=f"{_DATE_HINT}; ./{word} is a new file of this name",
            )
        return NewerThan(None, path)
    try:
        # A date without a zone is local time.
        date = datetime.fromisoformat(word).astimezone()
    except (ValueError, OverflowError):
        raise ArgumentError(
            f"--newer-than {word}: expected a date and time of ISO 8601, or a file", hint=_DATE_HINT
        ) from None
    return NewerThan(int(date.timestamp()) * 1_000_000_000 + date.microsecond * 1000)


def now_ns(stamp: Path) -> int:
    """The present time by the clock of the stamp's file system.

    Raises `InputError` where the stamp could not be set later: that is known before anything is
    changed.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=stamp.parent, prefix=".assay-") as file:
            now = os.fstat(file.fileno()).st_mtime_ns
        if stamp.exists():
            found = stamp.stat()
            os.utime(stamp, ns=(found.st_atime_ns, found.st_mtime_ns))
    except OSError as error:
        raise InputError(
            f"the stamp could not be set after the update: {error.strerror}",
            file=stamp,
            hint="name a file of yours in a folder where you may write",
        ) from error
    return now


def set_stamp(stamp: Path, instant_ns: int) -> None:
    """Gives the stamp this time, and makes it where it is not there: never with another time."""
    try:
        if stamp.exists():
            os.utime(stamp, ns=(instant_ns, instant_ns))
            return
        descriptor, name = tempfile.mkstemp(dir=stamp.parent, prefix=".assay-")
        os.close(descriptor)
        os.utime(name, ns=(instant_ns, instant_ns))
        Path(name).replace(stamp)
    except OSError as error:
        raise InputError(
            f"the tables are up to date, but the stamp could not be set: {error.strerror}",
            file=stamp,
            hint="nothing is lost: the next update reads these files again",
        ) from error


def _shown(instant_ns: int) -> str:
    """In local time."""
    try:
        return datetime.fromtimestamp(instant_ns / 1e9).astimezone().isoformat(" ", "seconds")
    except (ValueError, OverflowError, OSError):
        return f"{instant_ns // 1_000_000_000} s after 1970"


def _written_ns(file: Path) -> int:
    """The later of two times: a file that is moved here, or copied with its old time, changes only
    the second (ctime). A first one in the future was set by hand and says nothing: by it the file
    would be new for every update."""
    try:
        found = file.stat()
        is_future = found.st_mtime_ns > time.time_ns()
        return found.st_ctime_ns if is_future else max(found.st_mtime_ns, found.st_ctime_ns)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=file) from error
