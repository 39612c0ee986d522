"""What the record gives back, as frozen values: experiments, runs, how they ended, their steps,
and the step whose numbers are those of the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from msgspec import Struct

from assay.contracts.deployment import Deployment
from assay.contracts.recorded import Build, Machine
from assay.errors import RunFailed, SystemUnderTestError, YouError
from assay.experiment import Experiment
from assay.judge import CellVerdict
from assay.judge.run import EXCEEDED, CalibrationRecord, CellKey, Run, RunSummary, StepRecord
from assay.plan.values import Patterns
from assay.provision.machine.process_table import ProcessIdentity
from assay.record.runs import typed
from assay.workload.steps import Drive, Step
from assay.workload.workload_record import WorkloadRecord

EndState = Literal["done", "failed", "exceeded", "interrupted", "refused"]
"""How a run has ended."""
REFUSED: Literal["refused"] = "refused"
ENDED = ("done", "failed", EXCEEDED, REFUSED)
"""States of runs that are not repeated when their experiment is continued."""

EXIT_STATUS = f"""coalesce(runs.exit_status, CASE
    WHEN runs.state <> 'failed' THEN 0
    WHEN EXISTS (SELECT 1 FROM observations WHERE run_id = runs.id) THEN {RunFailed.exit_code}
    ELSE {SystemUnderTestError.exit_code} END)"""
"""Of a row of ``runs``, in SQL; in an older record, which lacks it, it follows from the state and
the observation."""


class RunEnd(NamedTuple):
    state: str
    exit_status: int = 0
    """1: it was measured and failed; 2: it cannot be done as asked; 3: it could not be measured
    because of the system under test or the machine; 0: neither. A run that was refused, or ended
    early since it was far beyond the limit of a goal, has 0 of its own."""

    @property
    def is_refused(self) -> bool:
        return self.state == REFUSED


def end_of(run: RunSummary) -> RunEnd:
    return RunEnd(run.state, run.exit_status)


def exit_status(ends: Iterable[RunEnd]) -> int:
    """Of an experiment: 1 if a run was measured and failed; otherwise 2 if one cannot be done as
    asked, or all were refused, so that nothing was measured; otherwise 3 if one could not be
    measured. A refused run beside others is no failure."""
    found = tuple(ends)
    statuses = {end.exit_status for end in found}
    if found and all(end.is_refused for end in found):
        statuses.add(YouError.exit_code)
    return min(statuses - {0}, default=0)


END_STATES: tuple[str, ...] = get_args(EndState)
PROCESS_ENDED = "process ended"
"""Reason of an unfinished run whose process is gone: it was killed, or the power was cut."""


class ContinuationRecord(Struct, frozen=True):
    """A process that went on with an experiment after another one had ended."""

    position: int
    """1-based."""
    begun_unix_ns: int
    ended_process_id: int
    """Of the process before."""
    last_unix_ns: int
    """When that last entered a stage of a run."""
    run_position: int | None
    """The run that it was at, which begins again; None: it was between two, or the run is no longer
    planned."""
    run_state: str
    """Of the run that it was at; empty: it was between two."""
    changes: Mapping[str, tuple[Any, Any]]
    """Of machine, build and content: ``machine.kernel`` → before, now."""
    is_asked_otherwise: bool
    """The experiment file had changed."""
    process: ProcessIdentity
    ended_unix_ns: int | None
    """When the process before had executed what was asked (a part of the runs: ``--only``) and
    ended; None: it was interrupted."""

    @property
    def is_interruption(self) -> bool:
        return self.ended_unix_ns is None

    @property
    def differences(self) -> list[str]:
        """``machine.kernel was 6.1.0, is 6.2.0``."""
        return [f"{name} was {was}, is {now}" for name, (was, now) in self.changes.items()]


class ExperimentRecord(Struct, frozen=True):
    """One invocation of ``assay run``: a row of ``experiments`` and its runs in planned order."""

    id: int
    title: str
    reproduces: str
    seed: int
    begun_unix_ns: int
    ended_unix_ns: int | None
    is_under_way: bool
    """It has not ended, and its process is alive."""
    runs_planned: int
    runs_ended: int
    """Of those planned: done, failed or refused. Both count all runs of the experiment, also where
    ``runs`` holds one of them."""
    continued_by: str
    """The command that continues the experiment; empty: none does."""
    experiment: Experiment
    workload: WorkloadRecord
    machine: Machine
    build: Build
    runs: tuple[Run, ...]
    cells: Mapping[CellKey, CellVerdict]
    """Verdict and warnings, as they were kept with the cell's last repetition. Cells
    that are not complete, or were kept by an earlier Assay, are judged when the record is read."""
    path: Path
    """The record file."""
    continuations: tuple[ContinuationRecord, ...] = ()
    only: Patterns = ()
    """By which the runs were chosen that were to be executed; empty: all were."""
    parts: tuple[ExperimentRecord, ...] = ()
    """The experiments that are shown together as this one (`assay.record.reader`); empty: it
    is a single one."""

    @property
    def each(self) -> tuple[ExperimentRecord, ...]:
        """Those of which its runs are."""
        return self.parts or (self,)

    def place_of(self, run: Run) -> int:
        """Of the run's experiment in `each`."""
        return next((at for at, one in enumerate(self.each) if one.id == run.experiment_id), 0)

    @property
    def is_unfinished(self) -> bool:
        """Whether runs are left, executed later or never."""
        return self.runs_ended < self.runs_planned


IS_RESULT: Final = "is_result"
"""In a drive document: its step was declared to be the result of the test."""


def step_of_numbers(steps: Sequence[StepRecord]) -> StepRecord | None:
    """The declared result counts where it has an observation; of the others, one with an
    observation that is shown for the run before one with a drive, and that before any other."""
    candidates = [
        *(step for step in steps if step.driven is not None and (step.drive or {}).get(IS_RESULT)),
        *(step for step in reversed(steps) if step.observation and not step.is_beside),
        *(step for step in reversed(steps) if step.drive is not None),
        *(step for step in reversed(steps) if step.observation is not None),
    ]
    return candidates[0] if candidates else None


def parts_of_run(
    steps: Sequence[StepRecord],
    deployment: Deployment | None,
    calibrated: Iterable[CalibrationRecord],
    ended_unix_ns: int | None = None,
) -> dict[str, Any]:
    """Fields of a run that follow from its steps and its deployment, by their names.
    ``ended_unix_ns``: None, it is under way."""
    measured = step_of_numbers(steps) or _NO_STEP
    return {
        **{part: getattr(measured, part) for part in _OF_ONE_STEP},
        "steps": tuple(steps),
        "seconds": measured.driven.intervals if measured.driven else measured.seconds,
        "checks": tuple(check for step in steps for check in step.checks),
        "data": next((one.dataset for one in reversed(steps) if one.dataset is not None), None),
        "calibration": typed.nearest_calibration(
            calibrated, deployment, measured.observation, ended_unix_ns
        ),
    }


_NO_STEP = StepRecord(0, "", "", "")
_OF_ONE_STEP = (
    "drive", "scripts", "observation", "samples", "open_files", "storage_requests",
)  # fmt: skip


def gives_the_numbers(steps: Sequence[Step], step: Step) -> bool:
    """Whether ``step`` will be it, of the steps of its test."""
    results = [one for one in steps if isinstance(one, Drive) and one.is_result]
    measuring = [one for one in steps if one.has_clients or one.updates_rows]
    return any(one is step for one in results or measuring[-1:])
