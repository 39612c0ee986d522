"""What the steps of a run can use: the context that all runs of an experiment share, and the state
of the current run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from assay import registry
from assay.contracts.events import Events
from assay.contracts.observation import Observation, Observed, StepReport
from assay.contracts.observation.parts.shared_numbers import SharedNumbersDocument
from assay.contracts.stop import Stop
from assay.drive.prepare import Compiled
from assay.drive.transaction_log import TransactionLog
from assay.errors import Bug
from assay.judge.cells import Cells
from assay.judge.check.answers import Check
from assay.judge.check.questions import Questions
from assay.lab.pool import CommitDurability, Pool, PooledSystem
from assay.load.row_sources.protocol import ExperimentRows
from assay.load.same_data import SameData
from assay.plan import PlannedRun
from assay.probe import Probe
from assay.record import Store
from assay.workload.values import Test, Workload

if TYPE_CHECKING:
    # It imports all metrics, also those of other packages, whose steps import this module.
    from assay.comparison.excess import Excess
    from assay.drive.query import StatementAnswer
    from assay.lab.backup.kept import KeptBackup
    from assay.load.dataset import Dataset
    from assay.load.row_sources.request import DataRequest


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
