"""Takes a record file that is open; gives its experiments and runs, and several experiments as
one."""

from __future__ import annotations

import dataclasses
import functools
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from assay.contracts.recorded import Command, Machine
from assay.errors import ArgumentError, YouError
from assay.experiment import Experiment
from assay.experiment.settings_catalogue import of_records
from assay.judge import CellVerdict
from assay.judge.run import CellKey, Run, RunSummary
from assay.plan import Plan, PlannedRun
from assay.plan.forecast import CellTimes
from assay.record import under_way
from assay.record.file import faults, record_file
from assay.record.file.record_file import RecordIsLocked, open_for_reading, reading_errors
from assay.record.runs import reading, run_names
from assay.record.runs.reading import KeptDocuments, cells_of_runs
from assay.record.runs.records import ExperimentRecord
from assay.record.under_way import UnfinishedExperiment
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

    def runs(
        self, last: int | None = None, damage: list[YouError] | None = None
    ) -> list[RunSummary]:
        """Every run of every experiment, or of the ``last`` ones: the newest last, in planned order
        within one. ``damage``: is given an error for each run that cannot be read, which is left
        out; None: the first one is raised."""
        wrong = None if damage is None else list[ValueError]()
        found = self._read(lambda connection: reading.runs(connection, last, wrong))
        if damage is not None:
            damage += (faults.damaged(error, self.path) for error in wrong or ())
        return found

    def run(self, run_id: int) -> Run:
        """All that is kept of one run; `ArgumentError` where there is none of that number."""
        return self._read(lambda connection: reading.run(connection, run_id))

    def documents(self, run_id: int) -> KeptDocuments:
        """Those of a run that are shown as they are on record."""
        return self._read(lambda connection: reading.documents_of_run(connection, run_id))

    def experiment(self, experiment_id: int) -> ExperimentRecord:
        return self._read(
            lambda connection: reading.experiment(connection, self.path, experiment_id)
        )

    def latest(self) -> ExperimentRecord:
        """The experiment that was begun last."""
        return self.find("latest")

    def last_two(self) -> tuple[str, int, int | None]:
        """The workload of the last experiment, this, and the one of that workload before it."""
        return self._read(lambda connection: reading.last_two(connection, self.path))

    def find(self, reference: str) -> ExperimentRecord:
        """``latest``, ``3``, ``experiment 3``: that experiment; ``run:17``: with that run only."""
        return self._read(lambda connection: reading.find(connection, self.path, reference))

    def times(self, cells: Iterable[str]) -> dict[str, CellTimes]:
        """How long earlier runs of these cells took, by fingerprint."""
        asked = tuple(cells)
        return self._read(lambda connection: under_way.times_taken(connection, asked))

    def sizes_on_disk(self, runs: Iterable[PlannedRun]) -> dict[int, int]:
        """How many bytes of data earlier runs of the same test had in the same system, by the
        position of each run."""
        asked = tuple(runs)
        return self._read(lambda connection: under_way.sizes_on_disk(connection, asked))

    def data_bytes(self, workload: str, run: PlannedRun, input_fingerprint: str = "") -> int | None:
        """What the data of this run took on disk in earlier runs, at most."""
        return self._read(
            lambda connection: under_way.data_bytes(connection, workload, run, input_fingerprint)
        )

    def unfinished(self, command: Command, plan: Plan) -> UnfinishedExperiment | None:
        """The command's last experiment, if it would be continued."""
        return self._read(
            lambda connection: under_way.unfinished_experiment(connection, command, plan)
        )


class Reader:
    """A record file that is only read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection = open_for_reading(path)
        try:
            self.read(record_file.insist_on_overview)
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


def joined_experiments(
    experiments: Sequence[ExperimentRecord], named: Mapping[int, str] | None = None
) -> ExperimentRecord:
    """``named``: number of an experiment → what its machine is called. A single experiment is
    returned with that name. Raises `ArgumentError` where they are of different files or did
    different work."""
    parts = tuple(_on(one, (named or {}).get(one.id, "")) for one in experiments)
    first = parts[0]
    _insist_on_one_record(parts)
    _insist_on_one_work(parts)
    if len(parts) == 1:
        return first
    runs = tuple(
        run_names.with_machines(run_names.named([run for one in parts for run in one.runs]))
    )
    ended = [one.ended_unix_ns for one in parts]
    return replace(
        first,
        title=" and ".join(dict.fromkeys(one.title for one in parts)),
        reproduces=next((one.reproduces for one in parts if one.reproduces), ""),
        begun_unix_ns=min(one.begun_unix_ns for one in parts),
        ended_unix_ns=max(one for one in ended if one) if all(ended) else None,
        is_under_way=any(one.is_under_way for one in parts),
        runs_planned=sum(one.runs_planned for one in parts),
        runs_ended=sum(one.runs_ended for one in parts),
        continued_by=next((one.continued_by for one in parts if one.continued_by), ""),
        experiment=_asked(one.experiment for one in parts),
        workload=max(parts, key=lambda part: part.begun_unix_ns).workload,
        runs=runs,
        cells={**cells_of_runs(runs), **_judged_by_one(parts, runs)},
        continuations=tuple(went_on for one in parts for went_on in one.continuations),
        parts=tuple(
            replace(one, runs=tuple(run for run in runs if run.experiment_id == one.id))
            for one in parts
        ),
    )


def _on(experiment: ExperimentRecord, name: str) -> ExperimentRecord:
    """With that name of its machine."""
    if not name:
        return experiment
    runs = tuple(replace(run, machine={**run.machine, "name": name}) for run in experiment.runs)
    machine: Machine = {**experiment.machine, "name": name}
    return replace(experiment, machine=machine, runs=runs)


def _insist_on_one_record(parts: Sequence[ExperimentRecord]) -> None:
    """The numbers of runs are those of one file."""
    paths = list(dict.fromkeys(one.path.resolve() for one in parts))
    if len(paths) > 1:
        raise ArgumentError(
            f"expected experiments of one record file, found {' and '.join(map(str, paths))}",
            hint=f"assay merge {paths[1]} --records {paths[0]}",
        )


def _insist_on_one_work(parts: Sequence[ExperimentRecord]) -> None:
    """A report has the tests and tables of one workload, as it was then."""
    works = {(one.workload.name, one.workload.fingerprint): one for one in reversed(parts)}
    if len(works) > 1:
        *_, other, first = works.values()
        names = [one.workload.name for one in (first, other)]
        what = f"{names[0]} and {names[1]}" if names[0] != names[1] else f"two texts of {names[0]}"
        raise ArgumentError(
            f"expected experiments of one workload, found {what} (experiments {first.id} and "
            f"{other.id})",
            hint=f"assay compare {first.id} {other.id}{of_records(first.path)}",
        )


def _judged_by_one(
    parts: Sequence[ExperimentRecord], runs: Sequence[Run]
) -> dict[CellKey, CellVerdict]:
    """The verdicts on cells that one experiment alone has, as it has them."""
    experiments: dict[tuple[str, str], set[int]] = {}
    was: dict[tuple[str, str], tuple[str, str]] = {}
    before = {run.id: run for one in parts for run in one.runs}
    for run in runs:
        experiments.setdefault(run.cell_key, set()).add(run.experiment_id)
        was[run.cell_key] = before[run.id].cell_key
    numbered = {one.id: one for one in parts}
    return {
        key: numbered[number].cells[was[key]]
        for key, (number, *others) in experiments.items()
        if not others and was[key] in numbered[number].cells
    }


def _asked(experiments: Iterable[Experiment]) -> Experiment:
    """What was asked of any of them: levels after one another, a flag where one has it."""
    return functools.reduce(_both_asked, experiments)


def _both_asked(asked: Experiment, other: Experiment) -> Experiment:
    names = [field.name for field in fields(Experiment)]
    both = {name: _both(getattr(asked, name), getattr(other, name)) for name in names}
    return dataclasses.replace(asked, **both)


def _both(value: Any, other: Any) -> Any:
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return type(value)([*value, *(level for level in other if level not in value)])
    if isinstance(value, dict) and isinstance(other, dict):
        both = {name: _both(value[name], level) for name, level in other.items() if name in value}
        return type(value)({**value, **other, **both})
    return value or other
