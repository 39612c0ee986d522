"""Takes changes to the record; makes each in its own transaction, even while the file is locked, or
after it was moved, deleted or emptied.

While another process has locked the file, a change waits, and a message says so. After the time
limit, results are not lost: a rescue file is created beside the record, a record file with this
experiment, to which all further changes go. A file that was moved or deleted is still open: all
that is in it is copied to the rescue file; of one that was emptied, this experiment. ``assay
merge`` adds that to a record later (see `merging`).
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, cast

from msgspec import Struct

from assay import env_vars
from assay.contracts.stop import look
from assay.errors import AssayError, SystemUnderTestError
from assay.record.file import faults, kept_texts, record_file, schema
from assay.record.file.record_file import (
    RecordIsLocked,
    insert,
    open_file,
    reading_errors,
    transaction,
)
from assay.record.runs import reading

# Where a record file was opened, and whether it is still there and whole: a file that was moved,
# deleted or emptied stays open, and what is written to it is not found again.

_OPEN_FILES = Path("/proc/self/fd")
_LOG, _INDEX = "-wal", "-shm"
"""The endings of SQLite's files beside a record that is open."""

Identity = tuple[int, int]
"""Device and inode."""


class FilePlace(Struct):
    """A file that this process has open, as it was found at its path."""

    path: Path
    identity: Identity
    _log: Identity | None = None

    @classmethod
    def of(cls, path: Path) -> Self:
        whole = path.absolute()
        found = _identity(whole)
        return cls(whole, found or (0, 0))

    def loss(self) -> Literal["", "gone", "emptied"]:
        """What happened to the open file: nothing; it is no longer at its path; or it is there, and
        its content was removed (``truncate -s 0``)."""
        if _identity(self.path) != self.identity:
            return "gone"
        if self.path.stat().st_size == 0:
            return "emptied"
        # SQLite removes the log of an empty file that it opens: then another process has begun a
        # new record in the emptied file, which does not know of our log.
        log = _identity(f"{self.path}{_LOG}")
        self._log = self._log or log
        return "" if log == self._log else "emptied"

    def now(self) -> Path | None:
        """The path of the open file now; None where it was deleted."""
        for number in _open_numbers(self.identity):
            with suppress(OSError):
                found = (_OPEN_FILES / str(number)).readlink()
                return found if _identity(found) == self.identity else None
        return None

    def remove_log(self) -> None:
        """Removes what the library has left beside a file that is no longer there, unless another
        file has taken its place."""
        if not os.path.lexists(self.path):
            self._remove(_LOG, _INDEX)

    def empty_log(self) -> None:
        """Of an emptied file: SQLite must not write parts of the old content into it from the log
        when it is closed. The log is removed, unless another process has put its own there."""
        for number in _open_numbers(self._log):
            with suppress(OSError):
                os.ftruncate(number, 0)
        if _identity(f"{self.path}{_LOG}") == self._log:
            self._remove(_LOG, _INDEX)

    def _remove(self, *endings: str) -> None:
        for ending in endings:
            Path(f"{self.path}{ending}").unlink(missing_ok=True)


def _open_numbers(identity: Identity | None) -> list[int]:
    """The descriptors that this process has of the file."""
    return [
        int(one.name) for one in _OPEN_FILES.iterdir() if _identity(one) == identity is not None
    ]


def _identity(path: Path | str) -> Identity | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # before and after each change of a record
    except OSError:
        return None
    return found.st_dev, found.st_ino


T = TypeVar("T")
Change = Callable[[sqlite3.Connection], T]
OnMessage = Callable[[str], None]

DEFAULT_TIMEOUT_S = 600.0
_PAUSE_S = 0.2


def lock_timeout_s() -> float:
    """How long a change waits for the file. Raises `ArgumentError`."""
    return env_vars.RECORD_TIMEOUT.seconds(DEFAULT_TIMEOUT_S)


class Writer:
    """An open record file, or the rescue file in its place."""

    def __init__(self, path: Path, *, waiting: OnMessage, warning: OnMessage) -> None:
        self.path = path
        self._timeout_s = lock_timeout_s()
        self._waiting, self._warning = waiting, warning
        self._is_rescue = False
        self._copy: ExperimentCopy | None = None
        """Of the experiment that has begun."""
        self.connection = self._safely(lambda: open_file(path))
        self._place = FilePlace.of(path)
        try:
            self.read(record_file.insist_on_owners_of_runs)
        except AssayError:
            self.connection.close()
            raise

    def change(self, change: Change[T]) -> T:
        """Makes the change. Raises `SystemUnderTestError` if it cannot be made, and no experiment
        has begun that could be rescued."""
        self._leave_lost_file()
        try:
            made = self._safely(lambda: self._in_transaction(change))
        except AssayError:
            if not self._leave_lost_file():
                raise
            made = self._safely(lambda: self._in_transaction(change))
        self._copy_too(change)
        self._leave_lost_file()
        return made

    def read(self, question: Change[T]) -> T:
        """Runs a query; waits for a lock like `change`."""

        def answer() -> T:
            with reading_errors(self.path):
                return question(self.connection)

        if self._copy is not None:
            self._leave_lost_file()
        return self._safely(answer)

    def experiment_begins(self, experiment_id: int) -> None:
        self._forget_copy()
        try:
            self._copy = ExperimentCopy.of(self.connection, experiment_id)
        except sqlite3.Error as error:
            self._without_copy(error)

    def experiment_ended(self) -> None:
        self._forget_copy()

    def close(self) -> None:
        self._forget_copy()
        self.connection.close()

    def _copy_too(self, change: Change[Any]) -> None:
        if self._copy is not None:
            try:
                self._copy.change(change)
            except sqlite3.Error as error:  # the record has the change
                self._without_copy(error)

    def _without_copy(self, error: sqlite3.Error) -> None:
        self._forget_copy()
        self._warning(
            f"expected a temporary file with a copy of this experiment, found: {error}. The "
            f"experiment goes on in {self.path}, and is not kept elsewhere if that file is lost"
        )

    def _forget_copy(self) -> None:
        if self._copy is not None:
            self._copy.close()
            self._copy = None

    def _in_transaction(self, change: Change[T]) -> T:
        with transaction(self.connection, self.path) as connection:
            return change(connection)

    def _safely(self, action: Callable[[], T]) -> T:
        """Runs the action as soon as the file is unlocked; after the time limit, or after an
        interrupt while waiting, on the rescue file."""
        deadline_s = time.monotonic() + self._timeout_s
        is_waiting = False
        try:
            while True:
                try:
                    return action()
                except RecordIsLocked:
                    if time.monotonic() >= deadline_s:
                        break
                if not is_waiting:
                    is_waiting = True
                    self._waiting(
                        f"waiting for {self.path}, which another process has locked "
                        f"(at most {self._timeout_s:g} s)"
                    )
                look()
                time.sleep(_PAUSE_S)
        except KeyboardInterrupt:
            if is_waiting and self._can_rescue():
                self._move_to_rescue()
                action()
            raise
        if not self._can_rescue():
            raise SystemUnderTestError(
                f"{self.path} was locked by another process for {self._timeout_s:g} s",
                hint="close the program that has locked it (a database browser, another assay), or "
                + faults.OTHER_FILE,
            )
        self._move_to_rescue()
        return action()

    def _can_rescue(self) -> bool:
        """Whether an experiment has begun, and the locked file is not the rescue file itself."""
        return self._copy is not None and not self._is_rescue

    def _move_to_rescue(self) -> None:
        rescue = self._rescued_copy()
        self.connection.close()
        self._warning(
            f"{self.path} is locked by another process; results are kept in {rescue}. "
            f"When it is unlocked: {_merging(rescue, self.path)}"
        )
        self._go_on_in(rescue)

    def _rescued_copy(self) -> Path:
        """A new rescue file with this experiment."""
        rescue = _unused_path(self.path)
        try:
            cast(ExperimentCopy, self._copy).write(rescue)
        except sqlite3.Error as error:
            raise faults.not_written(error, rescue) from error
        return rescue

    def _leave_lost_file(self) -> bool:
        """Where the file was moved, deleted or emptied: goes on in a rescue file, with all that is
        known of its content. Returns whether it was."""
        loss = self._place.loss()
        if not loss:
            return False
        moved_to = self._place.now() if loss == "gone" else None
        lost = f"{self.path} was " + (
            "emptied" if loss == "emptied" else f"moved to {moved_to}" if moved_to else "deleted"
        )
        if self._copy is None:
            raise SystemUnderTestError(
                f"{lost} while it was in use", hint="run the command again, or put the file back"
            )
        if loss == "emptied":
            rescue, kept = self._rescued_copy(), "this experiment"
            self._place.empty_log()
            self.connection.close()
        else:
            rescue, kept = self._rescued_file(), "all that was in it"
        self._warning(
            f"{lost} during the experiment; {kept}, and all further results, are kept "
            f"in {rescue}. To go on as before: {_merging(rescue, moved_to or self.path)}"
        )
        self._go_on_in(rescue)
        return True

    def _rescued_file(self) -> Path:
        """A new rescue file with all that is in the open file, which is closed."""
        rescue = _unused_path(self.path)
        try:
            with contextlib.closing(record_file.connect(rescue, "rwc", timeout_s=0)) as copy:
                self.connection.backup(copy)
            # The log of its last transactions has stayed at the old path.
            checkpoint = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            raise faults.not_written(error, rescue) from error
        self.connection.close()
        if checkpoint[0] == 0:
            self._place.remove_log()
        return rescue

    def _go_on_in(self, rescue: Path) -> None:
        self.connection, self.path, self._is_rescue = open_file(rescue), rescue, True
        self._place = FilePlace.of(rescue)


def _merging(rescue: Path, record: Path) -> str:
    return shlex.join(["assay", "merge", str(rescue), "--records", str(record)])


def _unused_path(record: Path) -> Path:
    """A new file beside the record, or else in the temporary directory."""
    folder = record.absolute().parent
    if not os.access(folder, os.W_OK):
        folder = Path(tempfile.gettempdir())
    number = 1
    while (path := folder / f"{record.name}.rescue-{os.getpid()}-{number}").exists():
        number += 1
    return path


class ExperimentCopy:
    """The rows of one experiment, with the numbers that they have in the record."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def of(cls, record: sqlite3.Connection, experiment_id: int) -> Self:
        """Raises `sqlite3.Error`, as where no temporary file can be written."""
        copy = cls(record_file.private_database())
        schema.prepare(copy._connection, Path(":memory:"), schema.migrations())
        copy._connection.execute("PRAGMA journal_mode = MEMORY")
        copy.change(lambda connection: _copy_rows(record, connection, experiment_id))
        return copy

    def change(self, change: Callable[[sqlite3.Connection], Any]) -> None:
        """Makes a change that the record has. Raises `sqlite3.Error`."""
        self._connection.execute("BEGIN")
        try:
            change(self._connection)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def write(self, path: Path) -> None:
        """Makes a record file of it. Raises `sqlite3.Error`."""
        with closing(record_file.connect(path, "rwc", timeout_s=0)) as file:
            self._connection.backup(file)

    def write_anew(self, path: Path) -> None:
        """The same, where there is no file: the same bytes for the same rows, without a page that
        once held something else."""
        self._connection.execute("VACUUM INTO ?", (str(path),))

    def close(self) -> None:
        self._connection.close()


def _copy_rows(record: sqlite3.Connection, copy: sqlite3.Connection, experiment_id: int) -> None:
    kept_texts.add_texts(record, copy)
    own = "experiment_id = ?"
    of_runs = "run_id IN (SELECT id FROM runs WHERE experiment_id = ?)"
    for table, which in (
        ("experiments", "id = ?"),
        *((table, own) for table in ("continuations", "runs", "cells")),
        *((table, of_runs) for table in reading.tables_of_runs(record)),
    ):
        rows = record.execute(f"SELECT * FROM {table} WHERE {which}", (experiment_id,))
        names = [column[0] for column in rows.description]
        for row in rows:
            insert(copy, table, **dict(zip(names, row, strict=True)))
