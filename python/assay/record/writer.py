"""Takes changes to the record; makes each in its own transaction, even while the file is locked, or
after it was moved or deleted.

While another process has locked the file, a change waits, and a message says so. After the time
limit, results are not lost: a rescue file is created beside the record, a record file with this
experiment and its current run, to which all further changes go. A file that was moved or deleted is
still open: all that is in it is copied to the rescue file. ``assay merge`` adds that to a record
later (see `merging`).
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from assay import env_vars
from assay.errors import ArgumentError, SystemUnderTestError
from assay.record import faults
from assay.record.file import RecordIsLocked, insert, open_file, reading_errors, transaction
from assay.record.file_place import FilePlace

T = TypeVar("T")
Change = Callable[[sqlite3.Connection], T]
OnMessage = Callable[[str], None]

DEFAULT_TIMEOUT_S = 600.0
_PAUSE_S = 0.2


def lock_timeout_s() -> float:
    """How long a change waits for the file. Raises `ArgumentError`."""
    text = env_vars.RECORD_TIMEOUT.get()
    if text is None:
        return DEFAULT_TIMEOUT_S
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 86400:
        raise ArgumentError(
            f"{env_vars.RECORD_TIMEOUT.name}: expected seconds from 0 to 86400, found {text!r}"
        )
    return value


class Writer:
    """An open record file, or the rescue file in its place."""

    def __init__(self, path: Path, *, waiting: OnMessage, warning: OnMessage) -> None:
        self.path = path
        self._timeout_s = lock_timeout_s()
        self._waiting, self._warning = waiting, warning
        self._is_rescue = False
        self._rows: dict[str, list[dict[str, Any]]] = {}
        """Rows of the current experiment, and of its runs that have not ended."""
        self._changes: list[Change[Any]] = []
        """Changes of the current run, to be repeated in a rescue file."""
        self.connection = self._safely(lambda: open_file(path))
        self._place = FilePlace.of(path)

    def change(self, change: Change[T]) -> T:
        """Makes the change. Raises `SystemUnderTestError` if it cannot be made, and no experiment
        has begun that could be rescued."""
        self._leave_lost_file()
        found = self._safely(lambda: self._in_transaction(change))
        self._changes.append(change)
        self._leave_lost_file()
        return found

    def read(self, question: Change[T]) -> T:
        """Runs a query; waits for a lock like `change`."""

        def answer() -> T:
            with reading_errors(self.path):
                return question(self.connection)

        return self._safely(answer)

    def experiment_begins(self, experiment_id: int) -> None:
        self._rows = {
            table: self._rows_of(f"SELECT * FROM {table} WHERE {which}")
            for table, which in (
                ("experiments", f"id = {experiment_id}"),
                ("continuations", f"experiment_id = {experiment_id}"),
                ("runs", f"experiment_id = {experiment_id} AND ended_unix_ns IS NULL"),
            )
        }
        self._changes = []

    def run_begins(self) -> None:
        self._changes = []

    def run_ended(self, run_id: int) -> None:
        self._changes = []
        self._rows["runs"] = [row for row in self._rows.get("runs", []) if row["id"] != run_id]

    def runs_spared(self, positions: Iterable[int]) -> None:
        self._changes = []
        gone = set(positions)
        self._rows["runs"] = [
            row for row in self._rows.get("runs", []) if row["position"] not in gone
        ]

    def close(self) -> None:
        self.connection.close()

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
                f"{faults.OTHER_FILE}",
            )
        self._move_to_rescue()
        return action()

    def _can_rescue(self) -> bool:
        """Whether an experiment has begun, and the locked file is not the rescue file itself."""
        return bool(self._rows) and not self._is_rescue

    def _move_to_rescue(self) -> None:
        rescue = _unused_path(self.path)
        connection = open_file(rescue)
        with transaction(connection, rescue):
            for table, rows in self._rows.items():
                for row in rows:
                    insert(connection, table, **row)
            for change in self._changes:
                change(connection)
        self.connection.close()
        command = shlex.join(["assay", "merge", str(rescue), "--records", str(self.path)])
        self._warning(
            f"{self.path} is locked by another process; results are kept in {rescue}. "
            f"When it is unlocked: {command}"
        )
        self._go_on_in(rescue, connection)

    def _leave_lost_file(self) -> None:
        """Where the file was moved or deleted: goes on in a rescue file, with all that is in it."""
        if self._place.is_there():
            return
        moved_to = self._place.now()
        lost = f"{self.path} was {f'moved to {moved_to}' if moved_to else 'deleted'}"
        if not self._rows:
            raise SystemUnderTestError(
                f"{lost} while it was in use", hint="run the command again, or put the file back"
            )
        rescue = _unused_path(self.path)
        try:
            with contextlib.closing(sqlite3.connect(rescue)) as copy:
                self.connection.backup(copy)
            # The log of its last transactions has stayed at the old path.
            checkpoint = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            raise faults.not_written(error, rescue) from error
        connection = open_file(rescue)
        self.connection.close()
        if checkpoint[0] == 0:
            self._place.remove_log()
        self._warning(
            f"{lost} during the experiment; all that was in it, and all further results, are kept "
            f"in {rescue}. To go on as before: "
            + shlex.join(["assay", "merge", str(rescue), "--records", str(moved_to or self.path)])
        )
        self._go_on_in(rescue, connection)

    def _go_on_in(self, rescue: Path, connection: sqlite3.Connection) -> None:
        self.connection, self.path, self._is_rescue = connection, rescue, True
        self._place = FilePlace.of(rescue)

    def _rows_of(self, question: str) -> list[dict[str, Any]]:
        cursor = self.connection.execute(question)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _unused_path(record: Path) -> Path:
    """A new file beside the record, or else in the temporary directory."""
    folder = record.absolute().parent
    if not os.access(folder, os.W_OK):
        folder = Path(tempfile.gettempdir())
    number = 1
    while (path := folder / f"{record.name}.rescue-{os.getpid()}-{number}").exists():
        number += 1
    return path
