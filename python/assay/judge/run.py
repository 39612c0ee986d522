"""A run and its parts: what is known of one execution of a cell, from its beginning to its page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct, field

from assay.contracts.deployment import Deployment
from assay.contracts.observation import Interval, Observation, Observed, StepReport
from assay.contracts.recorded import Build, KeptDrive, Machine
from assay.contracts.storages.abilities import AccountedSecond
from assay.drive.sampling import TimedSample
from assay.experiment import (
    Driving,
    Scalar,
    ServerMachine,
    StoragePrice,
    SystemPrice,
    shown_scripts,
)
from assay.judge.result_checks import Check
from assay.load.dataset import Dataset
from assay.load.existing_data import ExistingData
from assay.plan.values import Cell, PlannedRun
from assay.probe.measure import Probe
from assay.text.phrases import reason_sentence

CellKey = tuple[str, str]
"""Fingerprint of a cell, and the name of the machine where there are several."""

EXCEEDED: Literal["exceeded"] = "exceeded"
"""The state of a run that was ended since it was far beyond the limit of a goal."""
OBSERVED_STATES = ("checking", "done", "failed")
RunVerdict = Literal["valid", "unreliable", "invalid"]
WORDS: tuple[RunVerdict, ...] = ("valid", "unreliable", "invalid")
"""From best to worst."""


class Reason(Struct, frozen=True):
    text: str
    spread: float | None = None
    """The share by which repetitions differ, if that is the reason."""


ONE_REPETITION = "one repetition"
DIFFER = "repetitions differ by "
_BETWEEN = "; "


class Verdict(Struct, frozen=True):
    word: str
    """Empty for a run that was refused or ended early, which has no number."""
    reasons: tuple[Reason, ...] = ()
    """The most direct first; of ``valid`` what was asked for and is still to be known."""

    @property
    def reason(self) -> str:
        return _BETWEEN.join(reason.text for reason in self.reasons)

    @property
    def sentence(self) -> str:
        """``unreliable: client busy``; ``valid, one repetition``."""
        return judged_in_words(self.word, self.reason)

    def without(self, said: Verdict) -> Verdict:
        """The same word with the reasons that ``said`` has not."""
        return Verdict(self.word, tuple(one for one in self.reasons if one not in said.reasons))

    @classmethod
    def because(cls, word: str, *texts: str) -> Verdict:
        return cls(word, tuple(Reason(text) for text in texts if text))

    @classmethod
    def of_record(cls, word: str, text: str) -> Verdict:
        """As a record has it, in one text. Only the reasons of ``unreliable`` are phrases of this
        program, which have no semicolons of their own; another may be a message of a system."""
        texts = text.split(_BETWEEN) if word == "unreliable" else [text] if text else []
        return cls(word, tuple(Reason(one, _spread_of_record(one)) for one in texts))


def judged_in_words(word: str, reasons: str) -> str:
    """``unreliable: client busy``, ``2 valid, one repetition``."""
    between = ", " if word.split()[-1:] == [VALID.word] else ": "
    return f"{word}{between}{reasons}" if reasons else word


def _spread_of_record(text: str) -> float | None:
    if not text.startswith(DIFFER):
        return None
    return float(text.removeprefix(DIFFER).split()[0]) / 100


VALID = Verdict("valid")
NONE = Verdict("")


class RunWarning(NamedTuple):
    """A way in which a run can mislead (`assay.judge.warning_kinds`)."""

    name: str
    detail: str
    """Its numbers in this run."""


class ScriptRecord(NamedTuple):
    """The text of a transaction type in this run, in the dialect of its system."""

    name: str
    path: str
    text: str
    weight: int


class OpenFile(NamedTuple):
    """How often the server had a file open, in the sample in which it was the most."""

    file: str
    """Its path inside the data directory."""
    handles: int


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
    observation: object
    """The engine's observation, as JSON has it; it is only kept."""
    id: int = 0
    """0: not in the record yet."""


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
    dataset: Dataset | None = None
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


class RunSummary(Struct, frozen=True, kw_only=True):
    """A run's place in its experiment, and how it ended; enough for a list of runs."""

    id: int
    experiment_id: int
    planned: PlannedRun
    """What it is an execution of. Of a run on record, what only its execution needs is not known:
    how many clients its steps have, how long they work, and its content."""
    workload: str
    """That of its experiment."""
    is_ad_hoc: bool = False
    """Its test is an ad hoc script, whose file is the name of the workload."""
    system_label: str
    """As reports name it: name, options, settings."""
    storage: str
    """As reports name it."""
    cell_fingerprint: str
    """All that `cell` is of (`assay.plan.fingerprint`)."""
    state: str
    """planned, provisioning, loading, driving, checking, done, failed, exceeded (ended early, far
    beyond the limit of a goal), interrupted or refused."""
    reason: str = ""
    """Why it failed, was ended early, interrupted or refused; else empty."""
    verdict: str = ""
    """As it was kept when the run ended."""
    verdict_reason: str = ""
    begun_unix_ns: int | None = None
    ended_unix_ns: int | None = None
    is_superseded: bool = False
    """It has ended, and its content has changed since: no part of the experiment's results."""
    exit_status: int = 0
    """See `assay.record.runs.records`."""

    @property
    def cell(self) -> Cell:
        """What it is a repetition of."""
        return self.planned.cell

    @property
    def position(self) -> int:
        return self.planned.position

    @property
    def repetition(self) -> int:
        return self.planned.repetition

    @property
    def in_place_of(self) -> int | None:
        return self.planned.in_place_of

    @property
    def seed(self) -> int:
        return self.planned.seed

    @property
    def test(self) -> str:
        return self.cell.test

    @property
    def system(self) -> str:
        """Name in the registry."""
        return self.cell.system.name

    @property
    def clients(self) -> int:
        return self.cell.clients

    @property
    def parameters(self) -> Mapping[str, Scalar]:
        return self.cell.parameters

    @property
    def scripts_given(self) -> str:
        """Names of the script files that it ran in place of the test's own; empty: none."""
        return shown_scripts(self.cell.scripts)

    @property
    def driving(self) -> Driving:
        """How its clients were driven."""
        return self.cell.driving

    @property
    def server_machine(self) -> ServerMachine:
        """What the server was given of the machine, and its distance from the clients."""
        return self.cell.system.machine

    @property
    def group_clients(self) -> Mapping[str, int]:
        """Clients of each group; empty: as the workload declares them."""
        return self.cell.group_clients

    @property
    def levels(self) -> Mapping[str, Scalar]:
        """Of each factor of `assay.contracts.factors.OF_LEVELS`."""
        return self.cell.levels

    @property
    def of_repetition(self) -> int:
        """Its repetition, or the one in whose place it was measured."""
        return self.planned.of_repetition

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
        return f"{state} ({reason_sentence(self.reason)})" if self.reason else state


class Run(RunSummary, frozen=True, kw_only=True):
    """All of one run: it is filled while it is executed, kept, read back, judged and reported. A
    part is None, or empty, where the run did not get so far.

    The drive, scripts, observation and samples of the run are those of one step
    (`assay.record.runs.records`).
    """

    drive: KeptDrive | None = None
    """The drive document, without the deployment and scripts."""
    scripts: tuple[ScriptRecord, ...] = ()
    observation: Observed | None = None
    samples: tuple[TimedSample, ...] = ()
    checks: tuple[Check, ...] = ()
    """Of all steps."""
    warnings: tuple[RunWarning, ...] = ()
    stages: tuple[tuple[str, int], ...] = ()
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
    (`assay.record.machines`); empty: all are of one."""
    build: Build = field(default_factory=Build)
    """Versions of Assay and of its engine, that executed it."""
    deployment: Deployment | None = None
    """The last one, as the record has it: without passwords."""
    data: Dataset | None = None
    """What it was filled with last."""
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
    def measurement(self) -> Observation:
        """The same, of a run that has one."""
        assert self.driven is not None, f"run {self.id}: its clients were not driven"
        return self.driven

    @property
    def reports(self) -> tuple[StepReport, ...]:
        """Of its steps that drove no clients, in order."""
        return tuple(step.reported for step in self.steps if step.reported is not None)

    @property
    def cell_key(self) -> CellKey:
        """Equal for the repetitions of a cell: runs of two machines are none."""
        return self.cell_fingerprint, self.machine_name

    @property
    def system_on_machine(self) -> str:
        """The name of its system; where several machines are shown, ``SYSTEM on MACHINE``."""
        named = f" on {self.machine_name}" if self.machine_name else ""
        return f"{self.system_label}{named}"

    @property
    def judged(self) -> Verdict:
        return Verdict.of_record(self.verdict, self.verdict_reason)

    @property
    def named_run(self) -> str:
        """``run 17 (SYSTEM, 8 clients)``, where one of several repetitions is meant."""
        return f"run {self.id} ({self.name})" if self.id else self.name

    @property
    def name(self) -> str:
        """``SYSTEM, 8 clients``."""
        return f"{self.system_label}, {self.clients} client{'' if self.clients == 1 else 's'}"

    @property
    def may_commit(self) -> bool:
        """Whether what it measured may have committed something: queries need no durability."""
        return self.is_measured and (self.driven is None or self.driven.commits != 0)

    @property
    def is_embedded(self) -> bool:
        """Whether the system worked in the client's own process."""
        return self.deployment is None or self.deployment.is_embedded

    @property
    def is_measured(self) -> bool:
        """Whether it was measured to its end, right or wrong. An observation that was cut short
        does not count: its clients did not do the planned work."""
        if self.observation is None or self.state not in OBSERVED_STATES:
            return False
        return self.driven is None or self.driven.ended_by == "stop"
