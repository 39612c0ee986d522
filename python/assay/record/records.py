"""What the record gives back: frozen values, whose documents are plain data as handed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from assay.drive.sampler import TimedSample
from assay.judge import Ceiling, Evidence, RunWarning, Verdict, judge_run

Document = Mapping[str, Any]

END_STATES = ("done", "failed", "interrupted", "refused")
PROCESS_ENDED = "process ended"
"""Reason of an unfinished run whose process is no more: killed, or the power was cut."""


class ScriptRecord(NamedTuple):
    """The text one transaction type had in this run, in the dialect of its system."""

    name: str
    path: str
    text: str
    weight: int


@dataclass(frozen=True)
class CalibrationRecord:
    """What so many clients of a machine can do at most: measured against a server that does
    nothing."""

    driver: str
    """The engine's; a protocol has the name of its driver."""
    clients: int
    threads: int
    """Of the engine, as they were."""
    begun_unix_ns: int
    statements: int
    elapsed_ns: int
    statements_per_s: float
    """The ceiling: no run of these clients is faster."""
    client_ns_per_statement: float
    """User and system time of the client's process."""
    p50_ns: int
    """Latency of a statement that takes no time."""
    p99_ns: int
    observation: Document
    """What was measured, as the engine gave it."""
    id: int = 0
    """0 where it is not kept yet."""


@dataclass(frozen=True)
class RunSummary:
    """A run's place in its experiment, and how it ended; enough for a list of runs."""

    id: int
    experiment_id: int
    position: int
    workload: str
    test: str
    is_ad_hoc: bool
    """Its test is a script by itself, after whose file the workload is called."""
    system: str
    """Name in the registry."""
    system_label: str
    """As reports name it: name, options, settings."""
    storage: str
    clients: int
    threads: int
    protocol: str
    parameters: Mapping[str, Any]
    repetition: int
    seed: int
    cell_fingerprint: str
    state: str
    """planned, provisioning, loading, driving, checking, done, failed, interrupted or refused."""
    reason: str
    """Why it failed, was interrupted or refused; else empty."""
    verdict: str
    verdict_reason: str
    driving: Mapping[str, Any]
    """How its clients were driven (`Driving`); empty in records of before there was a choice."""
    group_clients: Mapping[str, int]
    """Clients of each group; empty: all were as the workload declares them."""
    begun_unix_ns: int | None
    ended_unix_ns: int | None

    @property
    def full_test_name(self) -> str:
        """``tpcb.simple-update``; of an ad hoc script its file, of a workload folder its name."""
        name = Path(self.workload).name
        return name if self.is_ad_hoc else f"{name}.{self.test}"

    @property
    def state_shown(self) -> str:
        """``interrupted (process ended)``."""
        return f"{self.state} ({self.reason})" if self.reason else self.state


@dataclass(frozen=True)
class StepRecord:
    """What is kept of one step of a run. A document is None where the step has none."""

    position: int
    do: str
    """Its kind: load, drive, restart, compare …"""
    name: str
    state: str
    """running, done, failed, interrupted, refused or skipped."""
    reason: str
    begun_unix_ns: int | None
    ended_unix_ns: int | None
    dataset: Document | None
    drive: Document | None
    """The drive document, without site and scripts."""
    scripts: tuple[ScriptRecord, ...]
    observation: Document | None
    """Of all its clients together."""
    agents: tuple[Document, ...]
    """The observations of each machine, where several drove the clients."""
    samples: tuple[TimedSample, ...]
    checks: tuple[Document, ...]


@dataclass(frozen=True)
class RunRecord(RunSummary):
    """All that is kept of one run. A document is None where the run did not get so far.

    What is measured of a run is its last step that observed anything: its drive, scripts,
    observation and samples are the run's own.
    """

    site: Document | None
    dataset: Document | None
    drive: Document | None
    """The drive document, without site and scripts."""
    scripts: tuple[ScriptRecord, ...]
    observation: Document | None
    samples: tuple[TimedSample, ...]
    checks: tuple[Document, ...]
    """Of all steps."""
    warnings: tuple[RunWarning, ...]
    stages: tuple[tuple[str, int], ...]
    """(state, Unix time in ns at which it began), in order."""
    steps: tuple[StepRecord, ...] = ()
    calibration: CalibrationRecord | None = None
    """The nearest one of its driver, machine and build; None where there is none."""
    machine: Document = field(default_factory=dict)

    @property
    def evidence(self) -> Evidence:
        """What it is judged by."""
        nearest = self.calibration
        return Evidence(
            state=self.state,
            reason=self.reason,
            system_label=self.system_label,
            clients=self.clients,
            driving=self.driving,
            machine=self.machine,
            deployment=self.site,
            dataset=self.dataset,
            observation=self.observation,
            checks=self.checks,
            ceiling=None if nearest is None else Ceiling(nearest.clients, nearest.statements_per_s),
        )

    @property
    def judged(self) -> Verdict:
        """As it was kept when the run ended; of a run that has not, what can be said so far."""
        if self.verdict or self.state == "refused":
            return Verdict(self.verdict, self.verdict_reason)
        return judge_run(self.evidence)[0]


@dataclass(frozen=True)
class CellRecord:
    """The verdict of a cell, as it was kept when the last of its repetitions ended."""

    fingerprint: str
    verdict: Verdict
    warnings: tuple[RunWarning, ...]
    repetitions: int
    measured: int


@dataclass(frozen=True)
class ExperimentRecord:
    """One invocation of ``assay run``: a row of ``experiments`` and its runs in planned order."""

    id: int
    title: str
    reproduces: str
    seed: int
    begun_unix_ns: int
    ended_unix_ns: int | None
    is_under_way: bool
    """Its process is alive and has not said that it ended."""
    experiment: Document
    workload: Document
    machine: Document
    build: Document
    runs: tuple[RunRecord, ...]
    cells: tuple[CellRecord, ...]
    """Of the cells whose last repetition has ended; none of before step 7."""
    path: Path
    """The record file."""
