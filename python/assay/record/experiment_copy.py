"""Takes every change of an experiment; keeps its rows a second time, in a temporary database, from
which a rescue file is made when the record file cannot be written, or has lost its content."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Self

from assay.record.file import long_texts, opening, schema
from assay.record.file.record_file import insert
from assay.record.runs import reading


class ExperimentCopy:
    """The rows of one experiment, with the numbers that they have in the record."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def of(cls, record: sqlite3.Connection, experiment_id: int) -> Self:
        """Raises `sqlite3.Error`, as where no temporary file can be written."""
        copy = cls(opening.private())
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
        with closing(opening.connect(path, "rwc", timeout_s=0)) as file:
            self._connection.backup(file)

    def write_anew(self, path: Path) -> None:
        """The same, where there is no file: the same bytes for the same rows, without a page that
        once held something else."""
        self._connection.execute("VACUUM INTO ?", (str(path),))

    def close(self) -> None:
        self._connection.close()


def _copy_rows(record: sqlite3.Connection, copy: sqlite3.Connection, experiment_id: int) -> None:
    long_texts.add(record, copy)
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
