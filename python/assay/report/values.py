"""The neutral `Report`: tables, built once from records, and written in each format.

A cell holds both its text for people (``shown``) and its value for programs (``number``, in the
unit in which it was measured). The formats do not change numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar

from msgspec import Struct, field

from assay.contracts.factors import PROTOCOL
from assay.contracts.metric import ReportColumn
from assay.contracts.observation import EncodedHistogram, Observation
from assay.experiment import Scalar
from assay.judge.run import NONE, Verdict
from assay.plan import cell_names
from assay.record import ExperimentRecord, Run
from assay.report.figure import Figure
from assay.text import units

if TYPE_CHECKING:
    from assay.comparison.conclusions import Question
    from assay.comparison.effects import SettingEffects
    from assay.comparison.sentences import Line

CLAIMS = "claims"
"""The name of the table of a paper's judged claims."""
MEASURED, SPEED_UP = "measured", "speed-up"
PUBLISHED, PUBLISHED_SPEED_UP = "published", "published speed-up"
"""Roles of columns that charts compare; published columns stand in the order of the measured
ones."""

TidyValue = str | int | float | bool | None | list[str]
TidyRow = Mapping[str, TidyValue]
"""Of a tidy table: each column by its name."""

Part = TypeVar("Part")


class MadeWhenAsked(Mapping[str, Part]):
    """Parts by name, each made once, when a form first asks for it: most forms need few."""

    def __init__(self, makers: Mapping[str, Callable[[], Part]]) -> None:
        self._makers = makers
        self._made: dict[str, Part] = {}

    @property
    def made(self) -> set[str]:
        """The names of those that were asked for."""
        return set(self._made)

    def __getitem__(self, name: str) -> Part:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class Number(Struct, frozen=True):
    """A number with its unit, sample count, range and verdict."""

    value: int | float
    unit: str
    """``ns``, ``bytes``, ``bytes_per_s``, ``per_s``, ``count``, ``ratio``, or the unit a published
    number is in."""
    n: int | None = None
    """The number of runs or samples behind it."""
    low: int | float | None = None
    high: int | float | None = None
    """The smallest and the largest value, if it is the median of several."""
    judged: Verdict = NONE
    """`NONE` for numbers that are not measurements."""
    resolution: int | None = None
    """Of a percentile: the width of its bucket of the histogram."""

    @property
    def verdict(self) -> str:
        """``valid``, ``unreliable``, ``invalid``, or empty."""
        return self.judged.word


class ReportCell(Struct, frozen=True):
    shown: str
    number: Number | None = None
    is_absent: bool = False
    """``shown`` says why there is no value (``one storage``, ``n<368``, ``failed``)."""
    level: Scalar | None = None
    """Of a label: the factor's level, with its type."""
    note: str = ""
    """A footnote: its number is shown in the cell (`assay.report.columns`)."""
    runs: tuple[int, ...] = ()
    """Numbers of the runs that it is about; in the labels of a row, of those of the whole row."""


def cell_of(column: ReportColumn, source: Any) -> ReportCell:
    """What people see of the source of a row."""
    if column.cell is not None:
        made: ReportCell = column.cell(source)
        return made
    known = column.known(source)
    return ReportCell("" if known is None else str(known))


class Row(Struct, frozen=True):
    cells: tuple[ReportCell, ...]
    block: Mapping[str, Scalar] = field(default_factory=dict)
    """Factors that this row shares with its neighbours, printed once above them; a text that is
    no level of a factor has the name ""."""
    is_published: bool = False
    """Its numbers are printed ones, between measured ones."""

    @property
    def block_title(self) -> str:
        return ", ".join(
            f"{name} = {cell_names.level_text(level)}" if name else cell_names.level_text(level)
            for name, level in self.block.items()
        )

    @property
    def runs(self) -> tuple[int, ...]:
        """Those of all of its cells."""
        return tuple(dict.fromkeys(run for cell in self.cells for run in cell.runs))


class ReportTable(Struct, frozen=True):
    name: str
    """For programs; unique in the report."""
    title: str
    columns: tuple[ReportColumn, ...]
    """Their titles are unique."""
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    label_columns: int = 1
    """How many leading columns identify a row within its block."""
    is_detail: bool = False
    """Left out unless details are shown."""
    is_answer: bool = False
    """What the experiment was made for: it stands before the summary at the end of a run."""
    of_all: str = ""
    """What holds for all its rows (a limit, a verdict), said once below the title."""


class Section(Struct, frozen=True):
    title: str
    lines: tuple[str, ...] = ()
    """The first sums the section up; a short form has that one alone."""
    tables: tuple[ReportTable, ...] = ()
    figures: tuple[Figure, ...] = ()
    """For forms with charts."""
    part_of: str = ""
    """The title of the section of results that it explains; empty: it stands for itself."""

    @property
    def answers(self) -> tuple[ReportTable, ...]:
        return tuple(table for table in self.tables if table.is_answer)

    def shown_tables(self, with_detail: bool) -> tuple[ReportTable, ...]:
        return tuple(table for table in self.tables if with_detail or not table.is_detail)

    def is_shown(self, with_detail: bool) -> bool:
        """Whether anything stands below its title."""
        return bool(self.lines or self.shown_tables(with_detail))


class WarningNote(Struct, frozen=True):
    """A way in which this report can mislead: its cause, its details here, its fix."""

    name: str
    cause: str
    details: tuple[str, ...]
    fix: str

    @property
    def sentence(self) -> str:
        """Cause and details; the details alone where the cause is not known."""
        details = "; ".join(self.details)
        if not (self.cause and details):
            return self.cause or details
        # Not two pairs of brackets, one behind the other.
        return (
            f"{self.cause}: {details}" if self.cause.endswith(")") else f"{self.cause} ({details})"
        )


def number_in(row: TidyRow, column: str) -> float | None:
    value = row[column]
    return value if isinstance(value, int | float) else None


def whole_in(row: TidyRow, column: str) -> int | None:
    """The same of a whole number."""
    value = row[column]
    return value if isinstance(value, int) else None


def word_in(row: TidyRow, column: str) -> str:
    """Empty where there is none."""
    value = row[column]
    return value if isinstance(value, str) else ""


class Tidy(TypedDict):
    """A report for programs. Both are empty of a comparison."""

    experiment: Mapping[str, Any]
    """What was run, when, on what (`assay.report.build.facts`)."""
    tables: Mapping[str, Sequence[TidyRow]]


class Report(Struct, frozen=True):
    title: str
    experiments: tuple[int, ...]
    """Their numbers; none: of a comparison, whose facts name its experiments."""
    record: Path
    facts: Mapping[str, str]
    """What was run, when, on which machine: name → text."""
    sections: tuple[Section, ...]
    warnings: tuple[WarningNote, ...]
    cell_count: int
    tidy: Tidy = field(default_factory=lambda: Tidy(experiment={}, tables={}))
    """The same for programs (`assay.report.tidy`)."""
    histograms: Callable[[], Iterable[TimedHistogram]] = tuple
    """Those of latency, second by second, for formats that write them."""
    summary: Section = Section("Summary")
    """The question, the main number of each cell and its verdict; for forms that begin with it."""
    questions: tuple[Question, ...] = ()
    """What each factor changes, with its conclusions; for forms that begin with them."""
    effects: tuple[SettingEffects, ...] = ()
    """What each factor of a grid of settings changes over all of it."""
    runs: tuple[RunOfCell, ...] = ()
    """What is known of each run, for forms in which a number leads to its run."""

    @property
    def reference(self) -> str:
        """By which it is asked for: ``3``, or ``3,5`` for several experiments together."""
        return ",".join(map(str, self.experiments))

    @property
    def of(self) -> str:
        """``experiment 3``, ``experiments 3, 5``; empty of a comparison."""
        return units.numbered("experiment", self.experiments)

    @property
    def answers(self) -> list[Line]:
        """The sentences with which a form begins."""
        from assay.comparison import sentences

        return [*sentences.effect_lines(self.effects), *sentences.lines(self.questions)]


def text(shown: object) -> ReportCell:
    return ReportCell(str(shown))


def absent(why: str, note: str = "") -> ReportCell:
    return ReportCell(why, is_absent=True, note=note)


def judged(shown: str, number: Number) -> ReportCell:
    """A number, with a note if its verdict is not valid."""
    verdict = number.judged
    is_limited = verdict.word not in ("", "valid")
    return ReportCell(shown, number, note=verdict.sentence if is_limited else "")


def run_number(number: int) -> ReportCell:
    """The number of a run, which leads to it."""
    return ReportCell(str(number), Number(number, "count"), runs=(number,))


def number_cell(
    value: float | None,
    unit: str,
    written: Callable[[Any], str] = units.digits,
    why_none: str = "-",
    n: int | None = None,
) -> ReportCell:
    """A number as ``written`` has it; where it is None, ``why_none``."""
    return absent(why_none) if value is None else ReportCell(written(value), Number(value, unit, n))


def count(number: int | None) -> ReportCell:
    return number_cell(number, "count", str, "none")


def size(value_bytes: float | None) -> ReportCell:
    return number_cell(value_bytes, "bytes", units.size)


def seconds(value_ns: int) -> ReportCell:
    return number_cell(value_ns, "ns", lambda ns: f"{ns / 1e9:.2f}")


def rate(per_s: float | None, why_none: str = "-") -> ReportCell:
    return number_cell(per_s, "per_s", why_none=why_none)


def share(ratio: float | None, why_none: str = "-") -> ReportCell:
    return number_cell(ratio, "ratio", units.share, why_none)


def section_of(
    title: str,
    *tables: ReportTable | None,
    lines: Iterable[str] = (),
    figures: tuple[Figure, ...] = (),
) -> Section | None:
    """None where no table has a row."""
    shown = tuple(table for table in tables if table is not None and table.rows)
    return Section(title, tuple(lines), shown, figures) if shown else None


class RunOfCell(NamedTuple):
    run: Run
    cell: int
    """The number of the first run of its cell."""
    cell_name: str

    @property
    def name(self) -> str:
        """Test, and the name of its cell."""
        return f"{self.run.full_test_name}: {self.cell_name}"


def settings(run: Run) -> dict[str, str]:
    """In effect."""
    found = run.deployment.settings if run.deployment else {}
    return {key: str(value) for key, value in sorted(found.items())}


def scripts(run: Run) -> list[tuple[str, str]]:
    """(name, text) of each transaction type, as it was sent."""
    from assay.text.secrets import without_file_passwords

    return [
        (script.path or script.name, without_file_passwords(script.text)) for script in run.scripts
    ]


def facts(run: Run) -> dict[str, str]:
    """What is known of it, by its name."""
    deployment = run.deployment
    parameters = ", ".join(f"{name} = {value}" for name, value in run.parameters.items())
    asked = deployment.settings_asked if deployment else {}
    found = {
        "state": run.state_shown,
        "verdict": ": ".join(filter(None, (run.verdict, run.verdict_reason))),
        "begun": _instant(run.begun_unix_ns),
        "took": _took(run),
        "system": f"{run.system_on_machine}, version {deployment.version}"
        if deployment
        else run.system_on_machine,
        "storage": run.storage,
        "clients": f"{run.clients}, protocol {run.levels[PROTOCOL.name]}",
        "parameters": parameters,
        "driven": ", ".join(f"{name} {value}" for name, value in run.driving.described().items()),
        "settings asked": ", ".join(f"{name} = {value}" for name, value in asked.items()),
        "seed": str(run.seed),
        "cell": run.cell_fingerprint[:12],
        "warnings": "; ".join(
            f"{name} ({detail})" if detail else name for name, detail in run.warnings
        ),
    }
    return {name: text for name, text in found.items() if text}


def _instant(unix_ns: int | None) -> str:
    if unix_ns is None:
        return ""
    return f"{datetime.fromtimestamp(unix_ns / 1e9, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _took(run: Run) -> str:
    if run.begun_unix_ns is None or run.ended_unix_ns is None:
        return ""
    return units.duration((run.ended_unix_ns - run.begun_unix_ns) / 1e9)


_SECOND_NS = 1_000_000_000


class TimedHistogram(NamedTuple):
    """Latencies of the transactions of one run and group that ended ok within a span of time."""

    run: int
    group: str
    """Empty: the only one."""
    cell: str
    """System, storage, clients and repetition, for people."""
    begun_unix_ns: int
    lasted_ns: int
    latency: EncodedHistogram


def timed_histograms(experiment: ExperimentRecord) -> Iterator[TimedHistogram]:
    """In the order of runs and seconds. A record of an Assay that kept no histogram of a second
    gives one of the whole run."""
    for run in experiment.runs:
        if run.driven is None:
            continue
        where = f"{run.system_on_machine}, {run.storage}" if run.storage else run.system_on_machine
        clients = units.counted(run.clients, "client")
        cell = f"{run.full_test_name}, {where}, {clients}, repetition {run.repetition}"
        for group, from_ns, lasted_ns, latency in _of(run.driven):
            begun_unix_ns = run.driven.started_unix_ns + from_ns
            yield TimedHistogram(run.id, group, cell, begun_unix_ns, lasted_ns, latency)


def _of(driven: Observation) -> Iterator[tuple[str, int, int, EncodedHistogram]]:
    """Group, beginning, length and latencies."""
    if any(one.latency is not None for one in driven.intervals):
        for one in driven.intervals:
            from_ns = one.second * _SECOND_NS
            lasted_ns = min(_SECOND_NS, driven.elapsed_ns - from_ns)
            if one.latency is not None and lasted_ns > 0:
                yield one.group, from_ns, lasted_ns, one.latency
        return
    for group in driven.groups:
        yield group.name, 0, driven.elapsed_ns, group.all_ok.latency
