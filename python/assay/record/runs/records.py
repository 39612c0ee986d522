"""What the record gives back, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from msgspec import Struct

from assay.contracts.recorded import (
    Build,
    ExperimentDocument,
    Machine,
    WorkloadRecord,
)
from assay.judge import CellVerdict
from assay.judge.run import CellKey, Run
from assay.plan.only import Patterns
from assay.provision.machine.identity import ProcessIdentity
from assay.record.runs.run_ends import EndState

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
    experiment: ExperimentDocument
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
    """The experiments that are shown together as this one (`assay.record.runs.several`); empty: it
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
