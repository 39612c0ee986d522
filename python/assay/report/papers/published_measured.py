"""Takes the record of an experiment that reproduces a paper; returns the section "Published and
measured": what was scaled down, each published table with our values between its rows, and the
paper's claims with their judgements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.metric import ReportColumn
from assay.experiment import Scalar
from assay.record import ExperimentRecord
from assay.report import cell_runs, columns
from assay.report.cell_runs import CellRuns
from assay.report.columns import number, path, string, words
from assay.report.declared import aggregates, declaration, published
from assay.report.declared.published import (
    NOT_FACTORS,
    Level,
    Published,
    PublishedColumn,
    PublishedRow,
)
from assay.report.papers import claim_cases, judged_claims, paper_points, paper_table
from assay.report.papers.claim_cases import MODELLED, ByRatio, JudgedClaim, cases_by_ratio
from assay.report.papers.claims import ALIKE, Outcome, not_comparable
from assay.report.papers.paper_points import MEASURED_POINT, OF_MEANS, PUBLISHED_POINT, RATIO
from assay.report.program_tables import ProgramTable
from assay.report.values import CLAIMS as OF_CLAIMS
from assay.report.values import Number, ReportCell, ReportTable, Row, Section, absent, judged, text
from assay.text import units

TITLE = "Published and measured"


def _text(name: str) -> Callable[[JudgedClaim], ReportCell]:
    return lambda source: text(getattr(source, name))


def section(experiment: ExperimentRecord) -> Section | None:
    """None where the experiment reproduces no paper."""
    if not experiment.reproduces:
        return None
    judged = claims(experiment)
    tables = list(_published_tables(experiment, cases_by_ratio(judged)))
    figures = [figure for one in tables for figure in paper_points.figures_of_pairs(one)]
    if (of_paper := paper_table.section(experiment, judged)) is not None:
        figures = [*of_paper.figures, *figures]
        tables = [*of_paper.tables, *tables]
    if judged:
        tables.append(_claims_table(judged))
    if shrunk := _scaled_table(experiment):
        tables.insert(0, shrunk)
    if not tables:
        return None
    lines = (_summary(judged), *_contradicted(judged)) if judged else ()
    return Section(TITLE, lines, tuple(tables), tuple(figures))


def shown(section: Section | None) -> set[str]:
    """The tests and series whose published rows stand in that section."""
    return {one.name.removeprefix(PREFIX) for one in section.tables} if section else set()


def _published_tables(experiment: ExperimentRecord, of_claims: ByRatio) -> Iterator[ReportTable]:
    """Those of measured tests that are not in the paper's own shape."""
    found = published.all_cells(experiment)
    tests = {cell.runs[0].test for cell in found}
    for name in experiment.workload.published:
        beside = published.of_record(experiment.workload, name)
        if beside is None or beside.layout is not None:
            continue
        found_columns = published.columns_of_table(experiment.workload, name, beside)
        if {column.test for column in found_columns} & tests:
            made = published_table(experiment, name, beside, found_columns, found, of_claims)
            yield from () if made is None else (made,)


SCALED = ProgramTable(
    "One row per test and setting that differs from the full size.",
    [
        string("test", "of the workload"),
        string("name", "of a parameter, or what else was changed"),
        string("full", "levels in the full size"),
        string("here", "levels in this experiment", path("quick")),
        string(
            "reason",
            "why it was left out: it is optional, and cannot be had here; null: it was not",
        ),
    ],
    lambda experiment: iter(experiment.experiment.scaled),
)
CLAIMS = ProgramTable(
    "One row per claim of a paper that was judged, and what it was judged for.",
    [
        string("claim", "what the paper says", path("claim", "text")),
        string("source", "table or section of the paper", path("claim", "source")),
        string(
            "kind", "order, equal, times, growth, equals, at_least, at_most", path("claim", "kind")
        ),
        string(
            "of", "levels of other factors for which it was judged; null: none vary", title="of"
        ),
        number(
            "published",
            "ratio, or exponent of the printed values in the range that was run; null: not "
            "printed, or a range of ratios is",
            path("expected"), title="published", is_number=False, cell=_text("published"),
        ),
        number(
            "published_low", "from here: all ratios that are printed so",
            path("claim", "ratio", "low"),
        ),
        number("published_high", "to here", path("claim", "ratio", "high")),
        number(
            "measured", "ratio or exponent", path("number", "value"),
            title="measured", is_number=False, cell=_text("measured"),
        ),
        number(
            "measured_low", "from here, with 95 % confidence", path("number", "low")
        ),
        number("measured_high", "to here", path("number", "high")),
        string("outcome", "confirmed, direction confirmed, contradicted or open"),
        string(
            "judged", "same order, same ratio, reversed, no order seen, not comparable …",
            path("word"), title="judged", cell=_text("sentence"),
        ),
        string("why", "reason of the judgement, beside that word"),
        string("remark", "what it was measured on, where that is a model: no reason"),
    ],
    lambda experiment: iter(claims(experiment)),
)  # fmt: skip


def claims(experiment: ExperimentRecord) -> list[JudgedClaim]:
    """Of an experiment that reproduces a paper."""
    return judged_claims.judged_claims(experiment) if experiment.reproduces else []


def _scaled_table(experiment: ExperimentRecord) -> ReportTable | None:
    """What the quick version has in place of the full one, and what cannot be had here; the same of
    several tests once."""
    by_change: dict[tuple[str, str, str], list[str]] = {}
    for one in experiment.experiment.scaled:
        here = f"left out: {one.reason}" if one.reason else one.quick
        by_change.setdefault((one.name, one.full, here), []).append(one.test)
    if not by_change:
        return None
    return columns.table(
        "scaled_down",
        "Scaled down",
        (
            words("what", lambda change: change[0]),
            words("full size", lambda change: change[1] or "-"),
            words("here", lambda change: change[2] or "-"),
            words("tests", lambda change: ", ".join(by_change[change])),
        ),
        by_change,
    )


def _claims_table(claims: Sequence[JudgedClaim]) -> ReportTable:
    is_alike = any(ALIKE in one.measured for one in claims)
    return columns.table(
        OF_CLAIMS,
        "Claims of the paper",
        CLAIMS.named("of", "published", "measured", "judged"),
        claims,
        block=lambda source: {"": source.claim.shown},
        notes=(
            "x: the last of an order ÷ the first; ratios are of the geometric means of the "
            "repetitions (tables of each test have medians)",
            "in parentheses the interval in which the ratio or exponent lies with 95 % confidence, "
            "from the repetitions; an order is judged where 1 is not in it, and a printed ratio is "
            "confirmed where the interval holds it and is narrow enough",
            *([f"{ALIKE}: they do not differ in the digits shown"] if is_alike else []),
            *_modelled(claims),
        ),
    )


def _modelled(claims: Sequence[JudgedClaim]) -> tuple[str, ...]:
    if not any(one.remark == MODELLED for one in claims):
        return ()
    return (
        "modelled storage: the times of its requests are those of a model; the order is the one on "
        "such a model, and was not measured on the storage itself",
    )


_MOST_CONTRADICTED = 8
"""Claims that are named at the end of a run; the table has all."""
_MOST_REASONS = 2
"""Of open claims; the table has all."""


def _summary(claims: Sequence[JudgedClaim]) -> str:
    """``7 judgements: 3 confirmed, 1 contradicted, 3 open (2: one repetition; 1: no value)``."""
    outcomes = Counter(one.outcome for one in claims)
    counts = ", ".join(f"{outcomes[one]} {one}" for one in Outcome if outcomes[one])
    why = Counter(one.reason for one in claims if one.outcome is Outcome.OPEN).most_common()
    reasons = [f"{number}: {reason}" for reason, number in why[:_MOST_REASONS]]
    if others := sum(number for _, number in why[_MOST_REASONS:]):
        reasons.append(f"{others}: other reasons")
    behind = f" ({'; '.join(reasons)})" if reasons else ""
    return f"{units.counted(len(claims), 'judgement')}: {counts}{behind}"


def _contradicted(claims: Sequence[JudgedClaim]) -> Iterator[str]:
    """``contradicted:  CLAIM; measured x 0.63 (0.58 to 0.69): reversed``: a line for each claim
    that these measurements contradict; of many the first."""
    against = [one for one in claims if one.outcome is Outcome.CONTRADICTED]
    for one in against[:_MOST_CONTRADICTED]:
        of = f", {one.of}" if one.of else ""
        yield f"{one.outcome}:  {one.claim.shown}{of}; measured {one.measured}: {one.reason}"
    if len(against) > _MOST_CONTRADICTED:
        yield f"and {len(against) - _MOST_CONTRADICTED} more"


# Takes a published table and our cells; returns the published rows, each with the measured ones
# below it.
#
# A published number and the measured one stand in the unit of the paper. Their ratio says nothing
# about correctness: the machines differ by decades. It is left out where the test was scaled
# down.

PREFIX = "published_and_measured_"


class _Context(Struct, frozen=True, dict=True):
    """A published table, and what stands beside it."""

    experiment: ExperimentRecord
    published: Published
    columns: Sequence[PublishedColumn]
    cells: Sequence[CellRuns]
    of_claims: claim_cases.ByRatio

    @cached_property
    def factors(self) -> list[str]:
        """Those that the paper varies."""
        return [
            factor
            for factor in dict.fromkeys(key for row in self.published.rows for key in row.levels)
            if factor not in NOT_FACTORS and len(self.published.levels(factor)) > 1
        ]

    @cached_property
    def has_speed_up(self) -> bool:
        return any(row.speed_up for row in self.published.rows)

    @cached_property
    def scaled(self) -> Mapping[str, Mapping[str, str]]:
        return claim_cases.scaled_tests(self.experiment)

    def less(self, column: PublishedColumn) -> list[str]:
        """What our test of that column has less of, and the table does not vary."""
        of_test = self.scaled.get(column.test, {})
        apart = (*self.factors, *column.independent_of)
        less = (
            "smaller storages" if name.startswith("storage ") else f"{name} {level}"
            for name, level in of_test.items()
            if name not in apart
        )
        return [*dict.fromkeys(less)]

    def labels(self, printed: PublishedRow) -> list[ReportCell]:
        return [_label(printed.levels.get(factor)) for factor in self.factors]


def published_table(
    experiment: ExperimentRecord,
    name: str,
    beside: Published,
    columns: Sequence[PublishedColumn],
    cells: Sequence[CellRuns],
    of_claims: claim_cases.ByRatio,
) -> ReportTable | None:
    """None where nothing was measured that stands in it; rows that were not measured are only
    named."""
    of = _Context(experiment, beside, columns, cells, of_claims)
    rows: list[Row] = []
    left_out: list[str] = []
    for printed in beside.rows:
        if measured := list(_measured_rows(of, printed)):
            rows += [_published_row(of, printed), *measured]
        else:
            left_out.append(_row_name(of, printed))
    if not rows:
        return None
    return ReportTable(
        name=f"{PREFIX}{name}",
        title=f"{beside.source}: published and measured",
        is_answer=not beside.in_text,
        label_columns=len(of.factors) + 2,
        columns=tuple(_columns(of)),
        rows=tuple(rows),
        notes=tuple(
            filter(
                None,
                (
                    beside.conditions and f"published: {beside.conditions}",
                    OF_MEANS if any(len(cell.measured) > 1 for cell in cells) else "",
                    *_notes(of),
                    f"published, not measured here: {'; '.join(left_out)}" if left_out else "",
                ),
            )
        ),
    )


def _columns(of: _Context) -> Iterator[ReportColumn]:
    yield ReportColumn("system")
    yield from (ReportColumn(factor, is_number=True) for factor in of.factors)
    yield ReportColumn("")
    for column in of.columns:
        less = ", ".join(of.less(column))
        title = f"{less} here\n{column.title}" if less else column.title
        yield ReportColumn(title, is_number=True, shown_in=column.unit)
    if of.has_speed_up:
        yield ReportColumn("speed-up", is_number=True)
        yield ReportColumn("judged")


def _published_row(of: _Context, printed: PublishedRow) -> Row:
    values = [
        published.printed_cell(value, column.unit)
        for value, column in zip(printed.values, of.columns, strict=False)
    ] or [absent("not printed") for _ in of.columns]
    speed_ups = ", ".join(f"{one:.2f}" for one in printed.speed_up)
    extra = [text(speed_ups), text("")] if of.has_speed_up else []
    cells = (text(printed.system), *of.labels(printed), text(PUBLISHED_POINT), *values, *extra)
    return Row(cells, is_published=True)


def _measured_rows(of: _Context, printed: PublishedRow) -> Iterator[Row]:
    """The rows of each of our systems, on each machine, that this row is about."""
    wanted: dict[str, Level] = {
        name: printed.levels[name] for name in of.factors if name in printed.levels
    }
    if not of.published.any_system:
        wanted["system"] = printed.system
    wanted |= printed.measured
    of_columns = [
        published.cells_with_levels(of.cells, {**column.levels, **wanted}) for column in of.columns
    ]
    every = [cell for cells in of_columns for cell in cells]
    for label in dict.fromkeys(cell.system_on_machine for cell in every):
        chosen = [
            next((cell for cell in cells if cell.system_on_machine == label), None)
            for cells in of_columns
        ]
        yield from _of_system(of, printed, text(label), chosen)


def _of_system(
    of: _Context, printed: PublishedRow, label: ReportCell, chosen: Sequence[CellRuns | None]
) -> Iterator[Row]:
    """The measured values, and their ratios if there are any."""
    labels = of.labels(printed)
    values = list(map(_value, of.columns, chosen))
    extra = _speed_up(of, printed, chosen) if of.has_speed_up else ()
    yield Row((label, *labels, text(MEASURED_POINT), *values, *extra))
    printed_values = printed.values or [""] * len(values)
    ratios = [
        _ratio(of, *one) for one in zip(of.columns, chosen, values, printed_values, strict=False)
    ]
    if any(cell.shown for cell in ratios):
        blank = [text("")] * len(extra)
        yield Row((label, *labels, text(RATIO), *ratios, *blank))


def _value(column: PublishedColumn, cell: CellRuns | None) -> ReportCell:
    if cell is None:
        return absent("not asked")
    number = column.number(cell)
    if number is None:
        return absent("none") if cell.measured else cell.absent
    shown = judged(units.in_unit(number.value, number.unit), number)
    notes = (aggregates.note_on_client_process(cell, column.quantity.keys), shown.note)
    return replace(shown, runs=cell.run_ids, note="; ".join(filter(None, notes)))


def _ratio(
    of: _Context,
    column: PublishedColumn,
    cell: CellRuns | None,
    measured: ReportCell,
    printed: float | str,
) -> ReportCell:
    if cell is None or measured.number is None or isinstance(printed, str) or not printed:
        return absent("")
    if aggregates.is_of_client_process(cell, column.quantity.keys):
        return absent("other process")
    if of.less(column):
        return absent("scaled")
    ratio, number = measured.number.value / printed, measured.number
    made = Number(ratio, "ratio", judged=number.judged)
    return ReportCell(units.digits(ratio, 3), made)


def _speed_up(
    of: _Context, printed: PublishedRow, chosen: Sequence[CellRuns | None]
) -> tuple[ReportCell, ReportCell]:
    """Of the first column against each other one, and whether the paper has them in that order."""
    base, *others = of.columns
    declared = declaration.of_record(of.experiment.workload, base.test)
    is_more_better = bool(declared and declared.is_more_better)
    first = chosen[0]
    shown, words = [], []
    for column, cell, expected in zip(others, chosen[1:], printed.speed_up, strict=False):
        if first is None or cell is None:
            missing = base if first is None else column
            words.append(not_comparable(f"{missing.title} was not measured").sentence)
            continue
        found = claim_cases.judged_speed_up(
            of.experiment,
            (first, cell),
            (base.quantity, column.quantity),
            expected,
            is_more_better=is_more_better,
            of_claims=of.of_claims,
        )
        if found.number is not None:
            shown.append(f"{found.number.value:.2f}")
        words.append(found.sentence)
    return text(", ".join(shown)), text("; ".join(dict.fromkeys(words)))


def _row_name(of: _Context, printed: PublishedRow) -> str:
    levels = (f"{name} {printed.levels[name]}" for name in of.factors if name in printed.levels)
    return ", ".join([printed.system, *levels])


def _label(level: Scalar | None) -> ReportCell:
    return absent("") if level is None else cell_runs.label(level)


def _notes(of: _Context) -> Iterator[str]:
    """The levels of what the paper did not vary, where the measured ones are others."""
    tests = {column.test for column in of.columns}
    measured = [cell for cell in of.cells if cell.runs[0].test in tests]
    yield from of.published.other_parameters(cell.factors for cell in measured)
    for name in dict.fromkeys(key for row in of.published.rows for key in row.levels):
        there = of.published.levels(name)
        here = {cell.factors[name] for cell in measured if name in cell.factors}
        if name not in of.factors and there and here - set(there):
            listed = ", ".join(map(str, sorted(here, key=str)))
            yield f"published for {name} = {there[0]}, measured with {listed}"
