"""What steps report that drive no clients: the contract of their types, which register metrics and
warnings of their own; the reports of the program's own steps; and how kept ones are read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import msgspec

from assay.contracts.documents import Shape, ShapeError, read_shape
from assay.contracts.metric import (
    COUNT,
    SIZE,
    SPEED,
    WAIT,
    DifferenceWords,
    ReportColumn,
    WarningText,
    no_value,
)
from assay.contracts.observation.costs import CacheState
from assay.contracts.observation.observation import VERSION, Observation
from assay.contracts.plugins import ContractBroken

_LONGEST = 200
"""Characters of a value that is shown as it is kept."""


class StepTable(NamedTuple):
    """What a report shows of it."""

    title: str
    """Tables of one title are shown as one, with the run and the step of each row."""
    columns: tuple[str, ...]
    """Their titles."""
    rows: tuple[tuple[str | int | float | None, ...], ...]
    """Numbers are aligned to the right; None: there is no such value."""


class StepReport(Shape, frozen=True):
    """The base of the types, which are declared with ``tag_field="kind"`` and a ``tag`` of their
    own. Fields end in their units (``_ns``, ``_bytes``)."""

    metrics: ClassVar[tuple[ReportColumn, ...]] = ()
    """Their ``value`` reads them from the report. Names of another package's begin with the kind
    and an underscore."""
    warning_texts: ClassVar[Mapping[str, WarningText]] = {}
    """Its own warnings, by name."""
    is_beside: ClassVar[bool] = False
    """Whether it says something of a run whose numbers another step measured."""

    @classmethod
    def kind(cls) -> str:
        """Its tag: ``kind`` in its documents, and the name of its entry point."""
        return str(cls.__struct_config__.tag)

    @property
    def elapsed_ns(self) -> int | None:
        """By which repetitions are judged; None: there is no such time."""
        return None

    def why_failed(self) -> str | None:
        """One sentence: why the run failed by what is reported here; None: it did not."""
        return None

    def warnings(self) -> Iterable[tuple[str, str]]:
        """Name and detail of each."""
        return ()

    def shown(self) -> Iterable[StepTable]:
        """What a report shows of it, beside what the workload declares."""
        return ()


class UnreadReport(StepReport, frozen=True):
    """In place of a report whose type no installed package has, or has otherwise."""

    is_beside: ClassVar[bool] = True

    content: dict[str, Any]
    """As it is kept."""
    why: str

    @property
    def document(self) -> dict[str, Any]:
        return self.content

    def shown(self) -> Iterable[StepTable]:
        shown = [
            (name, msgspec.json.encode(value).decode())
            for name, value in self.content.items()
            if name != "kind"
        ]
        yield StepTable(
            "A report as it is kept",
            ("key", "value"),
            tuple(
                (name, text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
                for name, text in shown
            ),
        )


Observed = Observation | StepReport
"""What a step may report: of the clients that it drove, or of what it did in their place."""


def read_observation(document: Any, name: str = "observation") -> Observation:
    """Raises `ShapeError` where a key is missing, is of another type, or is not known."""
    if not isinstance(document, Mapping):
        raise ShapeError(f"{name}: expected an object, got {type(document).__name__}")
    if (version := document.get("version")) != VERSION:
        newer = isinstance(version, int) and version > VERSION
        why = ": it was made by a newer Assay" if newer else ""
        raise ShapeError(f"{name}.version: expected {VERSION}, found {version!r}{why}")
    return read_shape(Observation, document, name)


class _Head(msgspec.Struct):
    """By which it is decided how a document is read."""

    version: int | None = None
    kind: str | None = None


def decode_observed(
    text: str, types: Mapping[str, type[StepReport]], name: str = "observation"
) -> Observed:
    """As `read_observed`, of JSON text."""
    return _decoded(text) or read_observed(json.loads(text), types, name)


def decode_observation(text: str) -> Observation:
    """As `read_observation`, of JSON text."""
    return _decoded(text) or read_observation(json.loads(text))


def _decoded(text: str) -> Observation | None:
    """An observation of clients, which may be large, directly from its text; None where it is none,
    or something is wrong with it."""
    try:
        head = msgspec.json.decode(text, type=_Head)
        if head.version != VERSION or head.kind is not None:
            return None
        return msgspec.json.decode(text, type=Observation)
    except msgspec.MsgspecError:
        return None


def read_observed(
    document: Any, types: Mapping[str, type[StepReport]], name: str = "observation"
) -> Observed:
    """The same of any step's report. ``types``: by their kinds; a report of another kind, or not of
    the shape that a package's type has now, is given as it is kept."""
    if not isinstance(document, Mapping):
        raise ShapeError(f"{name}: expected an object, got {type(document).__name__}")
    kind = document.get("kind")
    if not isinstance(kind, str):
        return read_observation(document, name)
    if (shape := types.get(kind)) is None:
        return UnreadReport(
            dict(document), f"no package that is installed, and can be used, has the kind {kind!r}"
        )
    try:
        return read_shape(shape, document, name)
    except ShapeError as error:
        if shape.__module__.partition(".")[0] == __name__.partition(".")[0]:
            raise
        return UnreadReport(
            dict(document), f"the package of {kind!r} expects it otherwise ({error})"
        )


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
) -> ReportColumn:
    return ReportColumn(name=f"backup_{name}", unit=unit, meaning=meaning, value=read, words=words)


class BackupReport(StepReport, frozen=True, tag_field="kind", tag="backup"):
    """A backup, what clients noticed of it, and what came back from it."""

    metrics: ClassVar[tuple[ReportColumn, ...]] = (
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

    metrics: ClassVar[tuple[ReportColumn, ...]] = (
        ReportColumn(name="made_backup_ns", unit="ns", meaning="until a backup was on the storage",
               value=lambda report: report.took_ns, words=SPEED),
        ReportColumn(name="made_backup_bytes", unit="bytes", meaning="of a backup that was kept",
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

    metrics: ClassVar[tuple[ReportColumn, ...]] = (
        ReportColumn(name="restored_backup_ns", unit="ns", meaning="until a table of it was read",
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


def _size(name: str, meaning: str) -> ReportColumn:
    return ReportColumn(
        name=name, unit="bytes", meaning=meaning, words=SIZE,
        value=lambda report: getattr(report, name),
    )  # fmt: skip


class SpaceReuseReport(StepReport, frozen=True, tag_field="kind", tag="space_reuse"):
    """The size of the files of tables whose rows were deleted and inserted again."""

    metrics: ClassVar[tuple[ReportColumn, ...]] = (
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

    metrics: ClassVar[tuple[ReportColumn, ...]] = (
        ReportColumn(
            name="plans_changed",
            unit="count",
            meaning="statements with another plan after the drive than before",
            value=lambda report: sum(one.is_changed for one in report.statements),
            words=COUNT,
        ),
        ReportColumn(
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


def validate_step_report(report: Any) -> None:
    """Raises `ContractBroken` with every violation."""
    violations = list(_violations(report))
    if violations:
        raise ContractBroken(f"the report {report!r} of a step", violations)


def _violations(report: Any) -> Iterator[str]:
    if not isinstance(report, type) or not issubclass(report, StepReport):
        yield f"expected a class derived from StepReport, found {report!r}"
        return
    declared = report.__struct_config__
    if declared.tag_field != "kind" or not isinstance(declared.tag, str):
        yield 'expected a class declared with tag_field="kind" and tag="NAME"'
        return
    if not declared.frozen:
        yield "expected a class declared with frozen=True"
    for metric in report.metrics:
        if not isinstance(metric, ReportColumn):
            yield f"metrics: expected ReportColumn, found {metric!r}"
        elif not metric.name.startswith(f"{declared.tag}_"):
            yield f"metrics: expected names that begin with {declared.tag}_, found {metric.name!r}"
        elif not metric.unit or not metric.meaning or metric.value is no_value:
            yield f"metrics: {metric.name}: expected a unit, a meaning and a value"
    for name, text in report.warning_texts.items():
        if not isinstance(text, WarningText):
            yield f"warning_texts: {name}: expected WarningText, found {text!r}"
