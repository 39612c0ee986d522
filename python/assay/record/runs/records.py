"""What the record gives back, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, get_args

from msgspec import Struct, field

from assay.contracts.deployment import Deployment
from assay.contracts.observation import Interval, Observation, Observed, StepReport
from assay.contracts.recorded import (
    Build,
    CellDocument,
    DatasetDocument,
    ExperimentDocument,
    KeptDrive,
    Machine,
    WorkloadRecord,
)
from assay.contracts.storages.abilities import AccountedSecond
from assay.drive.monitoring.sampler import TimedSample
from assay.experiment import Driving, Scalar, ServerMachine, StoragePrice, SystemPrice
from assay.judge import Ceiling, CellVerdict, Evidence, RunWarning, Verdict
from assay.judge.check.answers import Check
from assay.judge.evidence.values import MachineFacts
from assay.load.dataset_facts import DatasetFacts
from assay.load.existing_data import ExistingData
from assay.plan.only import Patterns
from assay.probe import Probe
from assay.provision.machine.identity import ProcessIdentity
from assay.record.machine import machines
from assay.record.runs.run_ends import EndState, RunEnd
from assay.record.runs.run_samples import OpenFile
from assay.text.reasons import sentence

Document = Mapping[str, Any]
"""As JSON has it; only kept and shown."""

CellKey = tuple[str, str]
"""Fingerprint of a cell, and the name of the machine where there are several."""
END_STATES: tuple[str, ...] = get_args(EndState)
PROCESS_ENDED = "process ended"
"""Reason of an unfinished run whose process is gone: it was killed, or the power was cut."""


class ScriptRecord(NamedTuple):
    """The text of a transaction type in this run, in the dialect of its system."""

    name: str
    path: str
    text: str
    weight: int


class CalibrationRecord(Struct, frozen=True):
    """The highest statement rate of this many clients on a machine, measured against a null
    server."""

    driver: str
    """Of the engine; a protocol has the name of its driver."""
    clients: int
    threads: int
    """Threads that the engine used."""
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
    """The engine's observation."""
    id: int = 0
    """0: not in the record yet."""

    @property
    def ceiling(self) -> Ceiling:
        return Ceiling(self.clients, self.statements_per_s)


class RunSummary(Struct, frozen=True):
    """A run's place in its experiment, and how it ended; enough for a list of runs."""

    id: int
    experiment_id: int
    position: int
    workload: str
    test: str
    is_ad_hoc: bool
    """Its test is an ad hoc script, whose file is the name of the workload."""
    system: str
    """Name in the registry."""
    system_label: str
    """As reports name it: name, options, settings."""
    storage: str
    clients: int
    parameters: Mapping[str, Scalar]
    repetition: int
    seed: int
    cell_fingerprint: str
    state: str
    """planned, provisioning, loading, driving, checking, done, failed, exceeded (ended early, far
    beyond the limit of a goal), interrupted or refused."""
    reason: str
    """Why it failed, was ended early, interrupted or refused; else empty."""
    verdict: str
    """As it was kept when the run ended."""
    verdict_reason: str
    scripts_given: str
    """Names of the script files that it ran in place of the test's own; empty: none."""
    driving: Driving | None
    """How its clients were driven; None in records of before there was a choice."""
    server_machine: ServerMachine
    """What the server was given of the machine, and its distance from the clients."""
    group_clients: Mapping[str, int]
    """Clients of each group; empty: as the workload declares them."""
    levels: Mapping[str, Scalar]
    """Of each factor of `assay.contracts.factors.OF_LEVELS`."""
    begun_unix_ns: int | None
    ended_unix_ns: int | None
    is_superseded: bool
    """It has ended, and its content has changed since: no part of the experiment's results."""
    exit_status: int
    """See `end`."""
    in_place_of: int | None
    """The repetition that it repeats, since other programs disturbed that one; None: it repeats
    none."""

    @property
    def end(self) -> RunEnd:
        """How it has ended, if it has."""
        return RunEnd(self.state, self.exit_status)

    @property
    def of_repetition(self) -> int:
        """Its repetition, or the one in whose place it was measured."""
        return self.repetition if self.in_place_of is None else self.in_place_of

    @property
    def key_of_repetition(self) -> tuple[int, int]:
        """Equal for a run and those that were measured in its place."""
        return self.experiment_id, self.of_repetition

    @property
    def identity(self) -> tuple[int | None, str, int, int]:
        """Of this run, also in a copy of its record file or merged into another one, where it has
        another number."""
        return self.begun_unix_ns, self.cell_fingerprint, self.repetition, self.seed

    @property
    def full_test_name(self) -> str:
        """``tpcb.simple-update``, of a workload folder its name; with other scripts than the
        test's own ``tpcb with read.sql``; of ad hoc scripts their files."""
        name = Path(self.workload).name
        if self.is_ad_hoc:
            return self.scripts_given or name
        return f"{name} with {self.scripts_given}" if self.scripts_given else f"{name}.{self.test}"

    @property
    def test_name(self) -> str:
        """The test, or the scripts that were run in its place."""
        return self.test if self.is_ad_hoc else self.scripts_given or self.test

    @property
    def state_shown(self) -> str:
        """``interrupted (process ended)``; without the log of a server."""
        state = f"{self.state}, superseded" if self.is_superseded else self.state
        return f"{state} ({sentence(self.reason)})" if self.reason else state


class StepRecord(Struct, frozen=True):
    """The record of one step of a run. A document is None where the step has none."""

    position: int
    do: str
    """Its kind: load, drive, restart, compare …"""
    name: str
    state: str
    """running, done, failed, exceeded, interrupted, refused or skipped."""
    reason: str = ""
    begun_unix_ns: int | None = None
    ended_unix_ns: int | None = None
    dataset: DatasetDocument | None = None
    drive: KeptDrive | None = None
    """The drive document, without the deployment and scripts."""
    scripts: tuple[ScriptRecord, ...] = ()
    observation: Observed | None = None
    """What it reported; of all its clients together."""
    samples: tuple[TimedSample, ...] = ()
    checks: tuple[Check, ...] = ()
    open_files: tuple[OpenFile, ...] = ()
    storage_requests: tuple[AccountedSecond, ...] = ()
    """By the storage's own account, in the measurement; empty where it keeps none."""
    seconds: tuple[Interval, ...] = ()
    """Those that had passed, where the step is under way or was interrupted; with an observation
    these are its intervals."""

    @property
    def driven(self) -> Observation | None:
        """The observation, where clients were driven."""
        return self.observation if isinstance(self.observation, Observation) else None

    @property
    def reported(self) -> StepReport | None:
        """What it reported, where it drove no clients."""
        return self.observation if isinstance(self.observation, StepReport) else None

    @property
    def is_beside(self) -> bool:
        """Whether it reported something beside the numbers of its run."""
        return self.reported is not None and self.reported.is_beside


class RunFacts(Struct, frozen=True):
    """What judging and reporting read of a run's documents, typed."""

    deployment: Deployment | None = None
    dataset: DatasetFacts | None = None
    machine: MachineFacts = field(default_factory=MachineFacts)


class RunRecord(RunSummary, frozen=True, dict=True):
    """The record of one run. A document is None where the run ended before there was one.

    The drive, scripts, observation and samples of the run are those of one step
    (`assay.record.runs.step_of_numbers`).
    """

    deployment_document: Document | None
    """The deployment, whole; see `deployment`."""
    dataset: DatasetDocument | None
    """What it was filled with, whole; see `data`."""
    drive: KeptDrive | None
    """The drive document, without the deployment and scripts."""
    scripts: tuple[ScriptRecord, ...]
    observation: Observed | None
    samples: tuple[TimedSample, ...]
    checks: tuple[Check, ...]
    """Of all steps."""
    warnings: tuple[RunWarning, ...]
    stages: tuple[tuple[str, int], ...]
    """(state, Unix time in ns at which it began), in order."""
    open_files: tuple[OpenFile, ...] = ()
    """Those with the most handles first; of the same step as the samples."""
    storage_requests: tuple[AccountedSecond, ...] = ()
    """By the storage's own account, in the measurement; of the same step as the samples."""
    steps: tuple[StepRecord, ...] = ()
    seconds: tuple[Interval, ...] = ()
    """Of the measurement, or what has passed of it: one of each second and group."""
    calibration: CalibrationRecord | None = None
    """The nearest one of its driver, machine and build; None where there is none."""
    probe: Probe | None = None
    """The last one of its storage in its experiment; None where there is none."""
    machine: Machine = field(default_factory=Machine)
    machine_name: str = ""
    """A factor of its cell, where runs of several machines are shown together
    (`assay.record.machine.machines`); empty: all are of one."""
    build: Build = field(default_factory=Build)
    """Versions of Assay and of its engine, that executed it."""
    cell: CellDocument = field(default_factory=CellDocument)
    """All that its fingerprint is of (`assay.plan.fingerprint`)."""
    facts: RunFacts = field(default_factory=RunFacts)
    existing_data: ExistingData | None = None
    """What the tables that it named held, of a server or file by URL that Assay did not fill; None:
    it did, or an earlier Assay did not look."""
    storage_price: StoragePrice | None = None
    """As it was given with the experiment."""
    system_price: SystemPrice | None = None
    """Of its whole system, as it was given with the experiment."""
    required_rate_per_s: float | None = None
    """Of the experiment; None: not asked for."""

    @property
    def driven(self) -> Observation | None:
        """The observation, where clients were driven."""
        return self.observation if isinstance(self.observation, Observation) else None

    @property
    def reports(self) -> tuple[StepReport, ...]:
        """Of its steps that drove no clients, in order."""
        return tuple(step.reported for step in self.steps if step.reported is not None)

    @property
    def deployment(self) -> Deployment | None:
        return self.facts.deployment

    @property
    def data(self) -> DatasetFacts | None:
        return self.facts.dataset

    @property
    def cell_key(self) -> CellKey:
        """Equal for the repetitions of a cell: runs of two machines are none."""
        return self.cell_fingerprint, self.machine_name

    @property
    def machine_shown(self) -> str:
        """The name of its machine, also where all runs are of one."""
        return self.machine_name or machines.short_name(self.machine)

    @property
    def system_on_machine(self) -> str:
        """The name of its system; where several machines are shown, ``SYSTEM on MACHINE``."""
        named = f" on {self.machine_name}" if self.machine_name else ""
        return f"{self.system_label}{named}"

    @property
    def may_commit(self) -> bool:
        return self.evidence.may_commit

    @cached_property
    def evidence(self) -> Evidence:
        """The values by which the run is judged; made once, since every section asks for them."""
        nearest = self.calibration
        return Evidence(
            state=self.state,
            reason=self.reason,
            system_label=self.system_label,
            clients=self.clients,
            driving=self.driving or Driving(),
            machine=self.facts.machine,
            deployment=self.deployment,
            dataset=self.data,
            existing_data=self.existing_data,
            observation=self.observation,
            reports=self.reports,
            checks=self.checks,
            ceiling=None if nearest is None else nearest.ceiling,
            run=self.id,
            of_repetition=self.of_repetition,
        )

    @property
    def judged(self) -> Verdict:
        return Verdict.of_record(self.verdict, self.verdict_reason)


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
    runs: tuple[RunRecord, ...]
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

    def place_of(self, run: RunRecord) -> int:
        """Of the run's experiment in `each`."""
        return next((at for at, one in enumerate(self.each) if one.id == run.experiment_id), 0)

    @property
    def is_unfinished(self) -> bool:
        """Whether runs are left, executed later or never."""
        return self.runs_ended < self.runs_planned
