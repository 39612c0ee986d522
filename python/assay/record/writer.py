"""Takes changes to the record; makes each in a transaction of its own, also if the file is locked.

While another process holds the file, a change waits, and says so. Behind the limit it does not give
up what was measured: a rescue file is made beside the record, a record file of its own with this
experiment and its run under way, and everything from here on goes there. ``assay merge`` takes it
into the record later (see `merging`).
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from assay import env_vars
from assay.errors import ArgumentError, SystemUnderTestError
from assay.record.file import RecordIsLocked, insert, open_file, reading_errors, transaction

T = TypeVar("T")
Change = Callable[[sqlite3.Connection], T]
OnMessage = Callable[[str], None]

DEFAULT_PATIENCE_S = 600.0
_PAUSE_S = 0.2


def patience_s() -> float:
    """How long a change waits for the file. Raises `ArgumentError`."""
    text = env_vars.RECORD_PATIENCE.get()
    if text is None:
        return DEFAULT_PATIENCE_S
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 86400:
        raise ArgumentError(
            f"{env_vars.RECORD_PATIENCE.name}: expected seconds from 0 to 86400, found {text!r}"
        )
    return value


class Writer:
    """An open record file, and where it is now."""

    def __init__(self, path: Path, *, waiting: OnMessage, warning: OnMessage) -> None:
        self.path = path
        self._patience_s = patience_s()
        self._waiting, self._warning = waiting, warning
        self._is_rescue = False
        self._rows: dict[str, list[dict[str, Any]]] = {}
        """Of the experiment under way, and of its runs that have not ended."""
        self._changes: list[Change[Any]] = []
        """Of the run under way: what the rescue file must hold again."""
        self.connection = self._safely(lambda: open_file(path))

    def change(self, change: Change[T]) -> T:
        """Makes the change. Raises `SystemUnderTestError` where it cannot be made and nothing has
        begun yet that could be rescued."""
        found = self._safely(lambda: self._in_transaction(change))
        self._changes.append(change)
        return found

    def read(self, question: Change[T]) -> T:
        """An answer that the work goes on with."""

        def asked() -> T:
            with reading_errors(self.path):
                return question(self.connection)

        return self._safely(asked)

    def experiment_begins(self, experiment_id: int) -> None:
        self._rows = {
            table: self._rows_of(f"SELECT * FROM {table} WHERE {key} = {experiment_id}")
            for table, key in (("experiments", "id"), ("runs", "experiment_id"))
        }
        self._changes = []

    def run_begins(self) -> None:
        self._changes = []

    def run_ended(self, run_id: int) -> None:
        self._changes = []
        self._rows["runs"] = [row for row in self._rows.get("runs", []) if row["id"] != run_id]

    def close(self) -> None:
        self.connection.close()

    def _in_transaction(self, change: Change[T]) -> T:
        with transaction(self.connection, self.path) as connection:
            return change(connection)

    def _safely(self, action: Callable[[], T]) -> T:
        """The action, as soon as the file lets us; behind the limit, or where somebody interrupts
        the waiting, on the rescue file."""
        deadline_s = time.monotonic() + self._patience_s
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
                        f"wait for {self.path}, which another process has locked "
                        f"(at most {self._patience_s:g} s)"
                    )
                time.sleep(_PAUSE_S)
        except KeyboardInterrupt:
            if is_waiting and self._can_rescue():
                self._move_to_rescue()
                action()
            raise
        if not self._can_rescue():
            raise SystemUnderTestError(
                f"{self.path} was locked by another process for {self._patience_s:g} s",
                hint="end what holds it (a database browser, another assay), or name another "
                "file with --records",
            )
        self._move_to_rescue()
        return action()

    def _can_rescue(self) -> bool:
        """Whether anything has begun, and the rescue file is not what is locked."""
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
        self._warning(
            f"{self.path} is locked by another process; what is measured is kept in {rescue}. "
            f"When the lock is gone: assay merge {rescue} --records {self.path}"
        )
        self.connection, self.path, self._is_rescue = connection, rescue, True

    def _rows_of(self, question: str) -> list[dict[str, Any]]:
        cursor = self.connection.execute(question)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _unused_path(record: Path) -> Path:
    """Beside the record, else where temporary files go."""
    folder = record.absolute().parent
    if not os.access(folder, os.W_OK):
        folder = Path(tempfile.gettempdir())
    number = 1
    while (path := folder / f"{record.name}.rescue-{os.getpid()}-{number}").exists():
        number += 1
    return path
