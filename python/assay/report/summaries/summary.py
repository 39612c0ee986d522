"""Takes the cells of an experiment; returns the section that a page begins with: the main number of
each cell, how far it may be trusted, and why not further."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from assay.contracts.factors import ALWAYS_NAMED
from assay.contracts.metric import ReportColumn
from assay.contracts.storage_facts import NOT_SEEN
from assay.judge import verdict
from assay.plan import cell_names
from assay.record import ExperimentRecord
from assay.report import cell_runs, cell_tables, columns
from assay.report.cell_runs import CellRuns
from assay.report.columns import numbers, words
from assay.report.declared import aggregates
from assay.report.sections import answers
from assay.report.summaries import cell_summary, several_cells
from assay.report.values import ReportCell, ReportTable, Section, absent, count
from assay.text import units

_PERCENTILES = ("p50", "p99")
_OF_VERDICT = (
    words("verdict", lambda source: source[0][1].verdict.word or "-"),
    words("why", lambda source: source[0][1].verdict.reason),
)
"""The last columns."""


def section(experiment: ExperimentRecord, cells: Sequence[CellRuns]) -> Section:
    summaries = [cell_summary.of_cell(experiment, cell) for cell in cells]
    runs = [run for cell in cells for run in cell.runs]
    verdicts = several_cells.counts_of_verdicts(summaries)
    counts = ", ".join(f"{count} {word}" for word, count in verdicts.items())
    of_all = verdict.shared(one.verdict for one in summaries)
    counts += f": {of_all.reason}" if of_all else ""
    lines = [f"{units.counted(len(cells), 'cell')} in {units.counted(len(runs), 'run')}: {counts}"]
    if rates := several_cells.rates_said(summaries):
        lines.append(f"{several_cells.RATES_TITLE}: {rates}")
    if disturbed := cell_runs.disturbed_runs(cells):
        lines.append(f"{cell_runs.DISTURBED_RUNS}: {disturbed}")
    if errors := cell_summary.errors([run for cell in cells for run in cell.counted]):
        lines.append(f"errors: {errors}")
    if checks := answers.check_words(runs):
        lines.append(f"checks: {checks}")
    if of_all:  # said in the first line
        summaries = [replace(one, verdict=one.verdict.without(of_all)) for one in summaries]
    asked = cell_summary.metric_of_goal(experiment)
    return Section("Summary", tuple(lines), tuple(_tables(cells, summaries, asked)))


def _tables(
    cells: Sequence[CellRuns],
    summaries: Sequence[cell_summary.CellSummary],
    asked: ReportColumn | None,
) -> Iterator[ReportTable]:
    """``asked``: of the goal, if it has a column of its own. Cells of tests without transactions
    have one of their own, beside others."""
    has_tests = len({one.test for one in summaries}) > 1
    both = list(zip(cells, summaries, strict=True))
    apart = [one for one in both if one[1].has_measured_alone]
    others = [one for one in both if one not in apart]
    for name, part in (("summary", others), ("summary_measured" if others else "summary", apart)):
        if part:
            of_part, shown = zip(*part, strict=True)
            yield _table(name, of_part, shown, asked, has_tests=has_tests)


Source = Sequence[tuple[CellRuns, cell_summary.CellSummary]]
"""Of a row: a cell, or refused ones with the same reason."""


def _table(
    name: str,
    cells: Sequence[CellRuns],
    summaries: Sequence[cell_summary.CellSummary],
    asked: ReportColumn | None,
    *,
    has_tests: bool,
) -> ReportTable:
    factors = cell_runs.varying(cells, "system")
    labels = [cell_runs.TEST, *factors] if has_tests else factors
    sources = _sources(cells, summaries)
    kept = _columns_of_verdict(summaries) if len(sources) > 1 else range(len(_OF_VERDICT))
    shown = list(_numbers(cells, summaries, asked))
    made = columns.table(
        name,
        _title(name, cells, factors),
        (*_label_columns(cells, labels), *shown, *(_OF_VERDICT[place] for place in kept)),
        sources,
    )
    titles = [column.title for column in shown]
    notes = ["TPS: transactions that ended ok per second, median of the repetitions"]
    notes = notes * ("TPS" in titles) + [cell_tables.NOTE_ON_COLD] * (cell_tables.FIRST in titles)
    if any(cell.shown.startswith("n<") for row in made.rows for cell in row.cells):
        notes.append("n<…: too few samples for the percentile, so many are needed")
    return replace(made, notes=tuple(notes))


def _numbers(
    cells: Sequence[CellRuns],
    summaries: Sequence[cell_summary.CellSummary],
    asked: ReportColumn | None,
) -> Iterator[ReportColumn]:
    if not any(run.driven is not None for cell in cells for run in cell.runs):
        yield words("measured", lambda source: _measured(source[0][1]))
        return
    if cell_tables.any_timed_from_cold(cells):
        yield _of_cell(cell_tables.FIRST, cell_tables.first_executions)
        yield _of_cell(cell_tables.WARM_AFTER, cell_tables.warm_after)
    yield _of_cell("TPS", _throughput)
    for name in _PERCENTILES:
        yield _of_cell(name, partial(_percentile, name))
    if asked:
        yield _of_cell(
            cell_summary.goal_column_title(asked), partial(cell_summary.goal_cell, asked)
        )
    yield _of_cell("failed", partial(_counted, "failed"))
    if any(one.unknown not in (cell_summary.ABSENT, "0") for one in summaries):
        yield _of_cell(cell_summary.UNKNOWN, partial(_counted, cell_summary.UNKNOWN))


def _of_cell(title: str, show: Callable[[CellRuns], ReportCell]) -> ReportColumn:
    """Without their notes."""
    return numbers(title, lambda source: replace(show(source[0][0]), note=""))


def _measured(summary: cell_summary.CellSummary) -> str:
    return "; ".join(shown for _, shown in summary.numbers) or "-"


def _columns_of_verdict(summaries: Sequence[cell_summary.CellSummary]) -> Sequence[int]:
    """Those of `_OF_VERDICT` that say more than the line above the table: verdicts that differ, and
    reasons that not all have."""
    verdicts = [one.verdict for one in summaries]
    differs = len({one.word for one in verdicts}) > 1 or not verdicts[0].word
    return [place for place, has in enumerate((differs, any(v.reason for v in verdicts))) if has]


def _title(name: str, cells: Sequence[CellRuns], factors: Sequence[str]) -> str:
    """With what names a cell, where it is the same for all: ``Each cell: here, 8 clients``."""
    shared = [
        cell_names.level_name(factor, level)
        for factor in ALWAYS_NAMED
        if factor not in factors and (level := cells[0].level(factor)) not in (None, NOT_SEEN)
    ]
    title = "Each cell" if name == "summary" else "Each cell of tests without transactions"
    return f"{title}: {', '.join(shared)}" if shared else title


def _sources(
    cells: Sequence[CellRuns], summaries: Sequence[cell_summary.CellSummary]
) -> list[Source]:
    """Refused cells stand last, those with the same reason in one row."""
    both = list(zip(cells, summaries, strict=True))
    refused: dict[str, list[tuple[CellRuns, cell_summary.CellSummary]]] = {}
    for one in both:
        if one[1].verdict.word == "refused":
            refused.setdefault(one[1].verdict.reason, []).append(one)
    return [*([one] for one in both if one[1].verdict.word != "refused"), *refused.values()]


def _label_columns(cells: Sequence[CellRuns], factors: Sequence[str]) -> Iterator[ReportColumn]:
    def label(place: int) -> Callable[[Source], ReportCell]:
        return lambda source: _labels([cell for cell, _ in source], factors)[place]

    for place, column in enumerate(cell_runs.label_columns(cells, factors)):
        yield replace(column, cell=label(place))


def _labels(cells: Sequence[CellRuns], factors: Sequence[str]) -> list[ReportCell]:
    """Of several cells their number stands in the first label that is empty."""
    runs = tuple(run.id for cell in cells for run in cell.runs)
    if len(cells) == 1:
        return [cell_runs.label(cells[0].level(name), runs) for name in factors]
    labels = [_shared_label(cells, name) for name in factors]
    place = next((place for place, one in enumerate(labels) if not one.shown), len(labels) - 1)
    labels[place] = ReportCell(units.counted(len(cells), "cell"), runs=runs)
    return labels


def _shared_label(cells: Sequence[CellRuns], factor: str) -> ReportCell:
    """Empty where they have several levels."""
    levels = dict.fromkeys(cell.level(factor) for cell in cells)
    (level, *others) = levels
    return absent("") if others or level is None else cell_runs.label(level)


def _throughput(cell: CellRuns) -> ReportCell:
    if cell_tables.is_timed_from_cold(cell):
        return absent("")
    tps = aggregates.number(cell, aggregates.THROUGHPUT)
    return absent("-") if tps is None else ReportCell(units.digits(tps.value), tps)


def _percentile(name: str, cell: CellRuns) -> ReportCell:
    """In the unit in which it is best read, as on a terminal."""
    if aggregates.number(cell, aggregates.THROUGHPUT) is None:
        return absent("-")
    measured = cell_runs.measured_runs(cell)
    if name == "p50" and cell_summary.unlike_types(measured):
        return absent(cell_summary.BY_TYPE)
    times = cell_summary.latency_times(measured)
    made = aggregates.each(cell_tables.latency_of_run(name, "ms"), lambda _: "")(cell)
    return (
        made
        if made.is_absent
        else replace(made, shown=cell_summary.percentile_in_words(times, name))
    )


def _counted(outcome: str, cell: CellRuns) -> ReportCell:
    shown = cell_summary.counted(cell, outcome)
    return absent(shown) if shown == cell_summary.ABSENT else count(int(shown))
