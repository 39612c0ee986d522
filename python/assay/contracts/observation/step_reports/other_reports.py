"""What steps report that drive no clients: an update of the rows, the most sessions there can be, a
backup, the plans of statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from assay.contracts.metric import COUNT, SIZE, SPEED, WAIT, DifferenceWords, Metric
from assay.contracts.observation.parts.cache_state import CacheState
from assay.contracts.observation.parts.shape import Shape
from assay.contracts.observation.step_reports.step_report import StepReport, StepTable
from assay.contracts.warning_text import WarningText


class UpdatedTable(Shape, frozen=True):
    """One table behind an update; ``fresh_rows``: behind a load of the same input."""

    rows: int
    digest: str
    fresh_rows: int


class UpdateReport(StepReport, frozen=True, tag_field="kind", tag="update"):
    """Rows that followed changes of their input. Files and rows are those of all updates."""

    changed_files: int
    vanished_files: int
    deleted_rows: int
    inserted_rows: int
    elapsed_ns: int
    """Of one update, the median."""
    equals_fresh_load: bool
    tables: dict[str, UpdatedTable]
    updates: int = 1
    loaded_bytes: int | None = None
    """Of the files of the tables, before the first update; None: not reported by the system."""
    updated_bytes: int | None = None
    """After the last one."""
    growth_ratio: float | None = None
    """``updated_bytes`` to ``loaded_bytes``."""

    def why_failed(self) -> str | None:
        is_right = self.equals_fresh_load
        return None if is_right else "after the update the tables differ from a fresh load"


class Refusal(Shape, frozen=True, rename={"class_": "class"}):
    """How a system refused a session."""

    class_: str
    code: str
    message: str


class SessionsFound(Shape, frozen=True):
    """How many sessions were accepted, and the limit if the system states one."""

    limit: int | None
    opened: int
    refused_at: int | None
    error: Refusal | None


class LimitReport(StepReport, frozen=True, tag_field="kind", tag="limit"):
    """The most sessions, with the system's default limit and with it raised for ``upto``."""

    upto: int
    default: SessionsFound
    raised: SessionsFound


class Answered(Shape, frozen=True):
    """Transactions of one client, each sent again until it is answered."""

    transactions: int
    median_ns: int
    longest_ns: int
    """From the first try to the answer: the longest time that nothing was answered."""


def _backup(
    name: str,
    unit: str,
    meaning: str,
    words: DifferenceWords,
    read: Callable[[BackupReport], float],
) -> Metric:
    return Metric(name=f"backup_{name}", unit=unit, meaning=meaning, value=read, words=words)


class BackupReport(StepReport, frozen=True, tag_field="kind", tag="backup"):
    """A backup, what clients noticed of it, and what came back from it."""

    metrics: ClassVar[tuple[Metric, ...]] = (
        _backup("size_bytes", "bytes", "of a backup", SIZE, lambda report: report.size_bytes),
        _backup(
            "longest_read_wait_ns", "ns", "longest wait of a read meanwhile", WAIT,
            lambda report: report.reads.longest_ns,
        ),
        _backup(
            "longest_write_wait_ns", "ns", "longest wait of a write meanwhile", WAIT,
            lambda report: report.writes.longest_ns,
        ),
        _backup("restore_ns", "ns", "of restoring it", SPEED, lambda report: report.restore_ns),
    )  # fmt: skip

    way: str
    size_bytes: int
    """Of its files, holes left out."""
    shares_blocks: bool
    """Whether it takes no space of its own until the data change."""
    backup_ns: int
    """Until it was on the storage."""
    reads: Answered
    writes: Answered
    """Of a client that read, and of one that wrote, while the backup was made."""
    restore_ns: int
    """From a system without these data to the first answer of one with them."""
    equals_source: bool
    """Whether every table has the rows that it had before the backup."""
    lost_writes: int
    """Writes that were acknowledged before the backup began, and are not in it."""
    tables: dict[str, int]
    """Rows of each table, restored."""

    @property
    def elapsed_ns(self) -> int:
        return self.backup_ns

    def why_failed(self) -> str | None:
        if not self.equals_source:
            return "the restored tables differ from those that were backed up"
        if self.lost_writes:
            return f"{self.lost_writes} acknowledged writes are not in the backup"
        return None


def _backups(way: str, done: str, took_ns: int, size: int | None, equal: str | None) -> StepTable:
    """A row of the table that backups and restores share."""
    columns = ("way", "done", "seconds", "bytes", "equal")
    return StepTable("Backups and restores", columns, ((way, done, took_ns / 1e9, size, equal),))


class MadeBackupReport(StepReport, frozen=True, tag_field="kind", tag="made_backup"):
    """A backup that a later step restores; no client worked meanwhile."""

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(name="made_backup_ns", unit="ns", meaning="until a backup was on the storage",
               value=lambda report: report.took_ns, words=SPEED),
        Metric(name="made_backup_bytes", unit="bytes", meaning="of a backup that was kept",
               value=lambda report: report.size_bytes, words=SIZE),
    )  # fmt: skip
    is_beside: ClassVar[bool] = True

    way: str
    size_bytes: int
    """Of its files, holes left out."""
    shares_blocks: bool
    took_ns: int
    """Until it was on the storage."""

    def shown(self) -> Iterable[StepTable]:
        yield _backups(self.way, "backup", self.took_ns, self.size_bytes, None)


class RestoredBackupReport(StepReport, frozen=True, tag_field="kind", tag="restored_backup"):
    """A backup that was restored."""

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(name="restored_backup_ns", unit="ns", meaning="until a table of it was read",
               value=lambda report: report.took_ns, words=SPEED),
    )  # fmt: skip
    is_beside: ClassVar[bool] = True

    way: str
    took_ns: int
    """From a system without these data until its first table was read."""
    equals_source: bool
    """Whether every table has the rows that it had when the backup was made."""

    def why_failed(self) -> str | None:
        is_right = self.equals_source
        return None if is_right else "the restored tables differ from those that were backed up"

    def shown(self) -> Iterable[StepTable]:
        equal = "yes" if self.equals_source else "no"
        yield _backups(self.way, "restore", self.took_ns, None, equal)


def _size(name: str, meaning: str) -> Metric:
    return Metric(
        name=name, unit="bytes", meaning=meaning, words=SIZE,
        value=lambda report: getattr(report, name),
    )  # fmt: skip


class SpaceReuseReport(StepReport, frozen=True, tag_field="kind", tag="space_reuse"):
    """The size of the files of tables whose rows were deleted and inserted again."""

    metrics: ClassVar[tuple[Metric, ...]] = (
        _size("reinserted_bytes", "of the files, after all rows were deleted and inserted again"),
        _size("deleted_bytes", "of the files, after all rows were deleted"),
        _size("last_bytes", "of the files, after all cycles of deleting and inserting"),
    )

    cycles: int
    """How often."""
    loaded_bytes: int
    deleted_bytes: int
    """After the first deletion."""
    reinserted_bytes: int
    """After the first insertion of the same rows."""
    last_bytes: int
    """After the last one."""
    first_ratio: float
    """``reinserted_bytes`` to ``loaded_bytes``: 1 where the space is reused."""
    last_ratio: float
    equals_load: bool
    """Whether the tables hold the rows that were loaded."""

    def why_failed(self) -> str | None:
        is_right = self.equals_load
        return None if is_right else "the rows that were inserted again differ from those loaded"


class NativeClientsReport(StepReport, frozen=True, tag_field="kind", tag="native_clients"):
    """Processes of the system's own client program, one for each client."""

    program: str
    clients: int
    elapsed_ns: int
    """From the start of the first process to the end of the last."""
    fastest_ns: int
    median_ns: int
    """Of one process, from the start of the first."""
    rows: int
    """Lines that the first process wrote."""
    expected_rows: int | None
    """None: not known for these data."""
    failed: int
    """Processes whose exit status was not 0."""
    wrong: int
    """Others with another number of rows than expected."""
    outputs: int
    """How many different outputs there were: 1 where all clients were answered alike."""
    first_error: str
    threads: int | None
    """Of the process with the most, as the next two. None: all ended before they were sampled."""
    virtual_bytes: int | None
    resident_bytes: int | None
    cpu_ns: int
    """Of all processes together."""
    program_version: str = ""
    """As the program says it: of a library it need not be that of the library."""
    cache_state: CacheState | None = None
    """What was done to the caches before; None: nothing."""

    def why_failed(self) -> str | None:
        if self.failed:
            return f"{self.failed} of {self.clients} client programs failed: {self.first_error}"
        if self.wrong:
            return (
                f"{self.wrong} of {self.clients} client programs returned another number of rows "
                f"than the {self.expected_rows} expected"
            )
        if self.outputs > 1:
            return f"the client programs were answered in {self.outputs} different ways"
        return None


class StatementPlan(Shape, frozen=True):
    """How the system says that it will execute a statement."""

    transaction: str
    statement: str
    """With its values as ``:name``."""
    plan: str | None
    """Its lines, without estimates; None: the system did not say it."""
    fingerprint: str | None
    before: str | None = None
    """The fingerprint of the step before of this kind; None: there is none."""

    @property
    def is_changed(self) -> bool:
        return None not in (self.fingerprint, self.before) and self.fingerprint != self.before


class PlansReport(StepReport, frozen=True, tag_field="kind", tag="plans"):
    """The plan of each statement."""

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            name="plans_changed",
            unit="count",
            meaning="statements with another plan after the drive than before",
            value=lambda report: sum(one.is_changed for one in report.statements),
            words=COUNT,
        ),
        Metric(
            name="plans_known",
            unit="count",
            meaning="statements whose plan the system said",
            value=lambda report: sum(one.plan is not None for one in report.statements),
        ),
    )
    warning_texts: ClassVar[Mapping[str, WarningText]] = {
        "plan-changed": WarningText(
            "a statement had another plan after the drive than before: its numbers are of both",
            'see both plans with --detail; `do = "analyze"` before the drive, or no change of '
            "indexes and statistics in it",
            limits=True,
        )
    }
    is_beside: ClassVar[bool] = True

    statements: tuple[StatementPlan, ...]

    def warnings(self) -> Iterable[tuple[str, str]]:
        for one in self.statements:
            if one.is_changed:
                yield "plan-changed", f"{one.transaction}: {one.before} became {one.fingerprint}"

    def shown(self) -> Iterable[StepTable]:
        rows = tuple(
            (one.transaction, one.statement, one.fingerprint, one.plan) for one in self.statements
        )
        yield StepTable("Plans", ("transaction", "statement", "fingerprint", "plan"), rows)
