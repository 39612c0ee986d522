"""Takes a record file that is open; gives its experiments and runs."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from assay.contracts.recorded import Command
from assay.judge.run import Run, RunSummary
from assay.plan import Plan, PlannedRun
from assay.plan.forecast import CellTimes
from assay.record.file import column_types, faults
from assay.record.file.read_only import open_for_reading
from assay.record.file.record_file import RecordIsLocked, reading_errors
from assay.record.progress import estimates
from assay.record.progress.estimates import UnfinishedExperiment
from assay.record.runs import reading
from assay.record.runs.records import ExperimentRecord
from assay.record.writer import Change

T = TypeVar("T")


class RecordQuestions(ABC):
    """What can be asked of a record."""

    @property
    @abstractmethod
    def path(self) -> Path:
        """Where the records are kept."""

    @abstractmethod
    def _read(self, question: Change[T]) -> T:
        """The answer to a question."""

    def runs(self, last: int | None = None) -> list[RunSummary]:
        """Every run of every experiment, or of the ``last`` ones: the newest last, in planned order
        within one."""
        return self._read(lambda connection: reading.runs(connection, last))

    def run(self, run_id: int) -> Run:
        """All that is kept of one run; `ArgumentError` where there is none of that number."""
        return self._read(lambda connection: reading.run(connection, run_id))

    def experiment(self, experiment_id: int) -> ExperimentRecord:
        """One experiment with all its runs."""
        return self._read(
            lambda connection: reading.experiment(connection, self.path, experiment_id)
        )

    def latest(self) -> ExperimentRecord:
        """The experiment that was begun last."""
        return self.find("latest")

    def find(self, reference: str) -> ExperimentRecord:
        """``latest``, ``3``, ``experiment 3``: that experiment; ``run:17``: with that run only."""
        return self._read(lambda connection: reading.find(connection, self.path, reference))

    def times(self, cells: Iterable[str]) -> dict[str, CellTimes]:
        """How long earlier runs of these cells took, by fingerprint."""
        asked = tuple(cells)
        return self._read(lambda connection: estimates.times(connection, asked))

    def sizes_on_disk(self, runs: Iterable[PlannedRun]) -> dict[int, int]:
        """How many bytes of data earlier runs of the same test had in the same system, by the
        position of each run."""
        asked = tuple(runs)
        return self._read(lambda connection: estimates.sizes_on_disk(connection, asked))

    def data_bytes(self, workload: str, run: PlannedRun, input_fingerprint: str = "") -> int | None:
        """What the data of this run took on disk in earlier runs, at most."""
        return self._read(
            lambda connection: estimates.data_bytes(connection, workload, run, input_fingerprint)
        )

    def unfinished(self, command: Command, plan: Plan) -> UnfinishedExperiment | None:
        """The command's last experiment, if it would be continued."""
        return self._read(lambda connection: estimates.unfinished(connection, command, plan))


class Reader:
    """A record file that is only read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection = open_for_reading(path)
        try:
            self.read(column_types.insist_on_overview)
        except BaseException:
            self.close()
            raise

    def read(self, question: Change[T]) -> T:
        """Raises `SystemUnderTestError` where another process holds the file for too long."""
        try:
            with reading_errors(self._path):
                return question(self._connection)
        except RecordIsLocked as error:
            raise faults.locked(self._path) from error

    @property
    def is_copy(self) -> bool:
        """Whether it reads a copy, which does not follow the file: of an older version, of one that
        is empty yet, or on a medium that cannot be written."""
        _, _, path = self.read(
            lambda connection: connection.execute("PRAGMA database_list").fetchone()
        )
        return not path

    def close(self) -> None:
        self._connection.close()
