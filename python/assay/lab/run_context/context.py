"""What the steps of a run can use: the context that all runs of an experiment share, the state
of the current run, and the consistency checks of its test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from assay import registry
from assay.contracts.events import Events
from assay.contracts.observation import Observation, Observed, StepReport
from assay.contracts.observation.clients import SharedNumbersDocument
from assay.contracts.stop import Stop
from assay.drive.prepare import Compiled
from assay.drive.transaction_log import TransactionLog
from assay.errors import Bug
from assay.experiment import Scalar
from assay.judge.agreement import Questions
from assay.judge.ended_runs import Cells
from assay.judge.result_checks import Check, check_consistency, chosen_rules, not_run
from assay.lab.pool import CommitDurability, Pool, PooledSystem
from assay.load.dataset import SameData
from assay.load.row_sources.protocol import ExperimentRows
from assay.plan import PlannedRun
from assay.probe.measure import Probe
from assay.record import Store
from assay.text import pattern
from assay.workload.values import Test, Workload

if TYPE_CHECKING:
    from assay.comparison.goals import Excess
    from assay.drive.query import StatementAnswer
    from assay.lab.backup import KeptBackup
    from assay.load.dataset import Dataset
    from assay.load.row_sources.protocol import DataRequest


class EarlierFindings(Struct):
    """Findings of earlier runs of the experiment."""

    questions: Questions = field(default_factory=Questions)
    cells: Cells = field(default_factory=Cells)
    """With every run that has ended."""
    sound: dict[int, Dataset] = field(default_factory=dict)
    """Data sets that were loaded and passed their consistency checks, each by its ``id``."""
    statements: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Fingerprint of a cell → the statements of its scripts, where its data are not Assay's."""
    same_data: SameData = field(default_factory=SameData)
    probes: dict[str, Probe] = field(default_factory=dict)
    """Of each storage that was probed, by its name."""


class Context(Struct, frozen=True):
    """What all runs of an experiment share."""

    workload: Workload
    compiled: Compiled
    rows: ExperimentRows
    store: Store
    pool: Pool
    durability: CommitDurability
    events: Events
    stop: Stop
    known: EarlierFindings = field(default_factory=EarlierFindings)
    probe_s: float = 0.0
    """How long to probe each storage before its first use; 0: not."""
    again: bool = False
    """Whether to measure what the user's cache has."""
    excess: Excess | None = None
    """From where on a run is too far beyond the goal; None: none is ended for that."""
    log: TransactionLog | None = None
    """Where single transactions are written; None: they are not."""


class Dumps(Struct, frozen=True):
    """The rows that clients left: one answer per client, or a single one."""

    answers: tuple[StatementAnswer, ...]
    own: tuple[StatementAnswer, ...]
    """The part of each client's rows that other clients cannot change; empty where the step names
    no script for it."""


class RunState(Struct):
    """The state of a run in progress: the results of its steps so far."""

    context: Context
    planned: PlannedRun
    pooled: PooledSystem | None = None
    """The system of the run; None: its steps bring up their own."""
    request: DataRequest | None = None
    """The data loaded last."""
    called_functions: frozenset[str] = frozenset()
    """Those of its clients that users of the server defined."""
    next_transaction: int = 0
    """Above the numbers of all transactions since the data were loaded."""
    shared_numbers: tuple[SharedNumbersDocument, ...] = ()
    """How far the numbers came that clients share, since the data were loaded."""
    steps_taken: int = 0
    """The current one included."""
    seconds_measured: int = 0
    """Of the current step, so far."""
    reports: dict[str, Observed] = field(default_factory=dict)
    """By the name of the step."""
    new_report: Observed | None = None
    """Of the current step."""
    dumps: dict[str, Dumps] = field(default_factory=dict)
    backups: dict[str, KeptBackup] = field(default_factory=dict)
    """By the name of the step that made them; those that are not restored yet."""
    checks: list[Check] = field(default_factory=list)
    lost_in_checks: str | None = None
    """Why the system could not answer its consistency checks; None: it did."""
    must_be_discarded: bool = False
    """Whether the system must not be used by another run."""

    @property
    def workload(self) -> Workload:
        return self.context.workload

    @property
    def test(self) -> Test:
        return self.workload.test(self.planned.cell.test)

    @property
    def report(self) -> Observed | None:
        """The report of the last step that has one which is shown for the run."""
        every = reversed(self.reports.values())
        return next((one for one in every if not getattr(one, "is_beside", False)), None)

    @property
    def observation(self) -> Observation | None:
        """The last report, where it is the observation of clients."""
        return self.report if isinstance(self.report, Observation) else None

    def driven(self, step: str) -> Observation:
        """The observation of the clients of that step; raises `Bug` where it has none."""
        found = self.reports.get(step)
        if not isinstance(found, Observation):
            raise Bug(f"the step {step} has not driven any clients")
        return found

    def up(self) -> PooledSystem:
        """The system of the run; raises `Bug` where it was not brought up."""
        if self.pooled is None:
            raise Bug(f"{self.planned.cell.system.label} is not running")
        return self.pooled

    def observed(self, name: str, report: Observed) -> None:
        """Keeps the report of the current step; raises `PluginFailed` where its type could not be
        read again."""
        if isinstance(report, StepReport):
            registry.check_step_report(type(report))
        self.reports[name] = self.new_report = report
        self.context.store.observed(report)

    def add(self, **values: Any) -> None:
        """Adds the findings of a later step to the last observation, where reports read them."""
        if self.observation is not None:
            name = next(name for name, one in self.reports.items() if one is self.observation)
            self.reports[name] = whole = replace(self.observation, **values)
            self.context.store.amended(whole)

    def checked(self, checks: list[Check]) -> None:
        """Keeps the checks of the current step; a step calls this once."""
        self.checks += checks
        self.context.store.checked(checks)


_NO_LETTER = pattern(r"\W")
_OF_COUNTS = pattern(r":(?:ok|unknown)_\w")
"""Of a lost generator it is not known how many transactions of each type it did."""


def broken_rules(state: RunState, parameters: Mapping[str, Scalar]) -> list[Check]:
    """The result of each consistency check, run now, with the counts of the run so far."""
    workload, pooled = state.workload, state.up()
    observations = [one for one in state.reports.values() if isinstance(one, Observation)]
    known = chosen_rules(workload.checks_for(pooled.system.dialect), state.test.checks)
    lost = [name for one in observations for name in one.lost_generators]
    not_counted = [one for one in known if lost and _OF_COUNTS.search(one.text)]
    found = check_consistency(
        pooled.deployment,
        [one for one in known if one not in not_counted],
        counts_of_outcomes(workload, state.planned.cell.clients, observations)
        | workload.with_defaults(parameters),
        workload.identifiers_for(parameters),
        pooled.system.dialect,
        workload.folder,
    )
    why = f"it counts transactions of each type, and {', '.join(lost)}"
    found += [not_run(Path(one.path).stem, one.title, why) for one in not_counted]
    for check in found:
        check["title"] = workload.checks[check["id"]].title
    return found


def counts_of_outcomes(
    workload: Workload, clients: int, observations: Iterable[Observation]
) -> dict[str, Scalar]:
    """Name → value of what a check may use beside the parameters: ``:clients``, and for each script
    ``:ok_SCRIPT`` and ``:unknown_SCRIPT``, how many of its transactions ended so since the data
    were loaded, the warm-up included. A ``-`` or other sign of its name is a ``_``."""
    ok: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for observation in observations:
        for measured in observation.outcomes_by_transaction:
            ok[measured.name] += measured.ok
            unknown[measured.name] += measured.unknown
        for warm in observation.warm_up:
            ok[warm.name] += warm.ok
            unknown[warm.name] += warm.unknown
    counted: dict[str, Scalar] = {"clients": clients}
    for name in workload.scripts:
        word = _NO_LETTER.sub("_", name)
        counted |= {f"ok_{word}": ok[name], f"unknown_{word}": unknown[name]}
    return counted


def rules_not_expressible(state: RunState) -> list[Check]:
    """The checks of the test that have no text in the system's language, each with the reason."""
    workload, dialect = state.workload, state.up().system.dialect
    return [
        not_run(
            check.name,
            check.title,
            workload.why_not_expressible(check.name, dialect)
            or f"it has no text in {dialect.language}",
        )
        for check in chosen_rules(workload.checks.values(), state.test.checks)
        if not workload.is_spoken(check.name, dialect)
    ]
