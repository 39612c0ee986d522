"""Takes the cells of an experiment; returns the section that a page begins with: the main number of
each cell, how far it may be trusted, and why not further."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from assay.contracts.factors import ALWAYS_NAMED
from assay.contracts.metric import Column, Metric
from assay.contracts.storage_facts import NOT_SEEN
from assay.judge import verdict
from assay.plan import cell_names
from assay.record import ExperimentRecord
from assay.report import cell_runs, cell_tables
from assay.report.cell_runs import CellRuns
from assay.report.declared import aggregates
from assay.report.sections import answers
from assay.report.sections.results import percentile
from assay.report.summaries import cell_summary, several_cells
from assay.report.values import (
    Number,
    ReportCell,
    ReportTable,
    Row,
    Section,
    absent,
    text,
)
from assay.text import units

_PERCENTILES = ("p50", "p99")
_OF_VERDICT = ("verdict", "why")
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
    if errors := cell_summary.errors(runs):
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
    asked: Metric | None,
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


def _table(
    name: str,
    cells: Sequence[CellRuns],
    summaries: Sequence[cell_summary.CellSummary],
    asked: Metric | None,
    *,
    has_tests: bool,
) -> ReportTable:
    times = [
        run.driven.of_clients.all_ok.latency
        for cell in cells
        for run in cell.runs
        if run.driven is not None
    ]
    is_driven = bool(times)
    of_cold = (
        [cell_tables.FIRST, cell_tables.WARM_AFTER]
        if cell_tables.any_timed_from_cold(cells)
        else []
    )
    has_unknown = any(one.unknown not in (cell_summary.ABSENT, "0") for one in summaries)
    outcomes = ["failed", *([cell_summary.UNKNOWN] * has_unknown)] if is_driven else []
    factors = cell_runs.varying(cells, "system")
    labels = [cell_runs.TEST, *factors] if has_tests else factors
    rows = tuple(_rows(cells, summaries, outcomes, labels, asked, has_cold=bool(of_cold)))
    notes = ["TPS: transactions that ended ok per second, median of the repetitions"] * is_driven
    notes += [cell_tables.NOTE_ON_COLD] if of_cold else []
    if any(cell.shown.startswith("n<") for row in rows for cell in row.cells):
        notes.append("n<…: too few samples for the percentile, so many are needed")
    kept = _columns_of_verdict(summaries) if len(rows) > 1 else range(len(_OF_VERDICT))
    before = len(rows[0].cells) - len(_OF_VERDICT)
    rows = tuple(
        Row((*row.cells[:before], *(row.cells[before + place] for place in kept))) for row in rows
    )
    return ReportTable(
        name=name,
        title=_title(name, cells, factors),
        label_columns=len(labels),
        columns=(
            *cell_runs.label_columns(cells, labels),
            *(Column(name, is_number=True) for name in of_cold),
            *([Column("TPS", is_number=True)] if is_driven else [Column("measured")]),
            *(Column(name, is_number=True) for name in _PERCENTILES if is_driven),
            *(
                [Column(cell_summary.goal_column_title(asked), is_number=True)]
                if asked and is_driven
                else []
            ),
            *(Column(name, is_number=True) for name in outcomes),
            *(Column(_OF_VERDICT[place]) for place in kept),
        ),
        rows=rows,
        notes=tuple(notes),
    )


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


def _rows(
    cells: Sequence[CellRuns],
    summaries: Sequence[cell_summary.CellSummary],
    outcomes: Sequence[str],
    factors: Sequence[str],
    asked: Metric | None,
    *,
    has_cold: bool,
) -> Iterator[Row]:
    """Refused cells stand last, those with the same reason in one row. ``factors``: of the
    labels."""
    refused: dict[str, list[tuple[CellRuns, cell_summary.CellSummary]]] = {}
    for cell, one in zip(cells, summaries, strict=True):
        if one.verdict.word == "refused":
            refused.setdefault(one.verdict.reason, []).append((cell, one))
        else:
            yield _row(cell, one, outcomes, factors, asked, has_cold=has_cold)
    for together in refused.values():
        first = _row(*together[0], outcomes, factors, asked, has_cold=has_cold)
        if len(together) == 1:
            yield first
            continue
        runs = tuple(run.id for cell, _ in together for run in cell.runs)
        count = ReportCell(units.counted(len(together), "cell"), runs=runs)
        labels = [_shared_label([cell for cell, _ in together], name) for name in factors]
        yield Row((*_with_count(labels, count), *first.cells[len(factors) :]))


def _shared_label(cells: Sequence[CellRuns], factor: str) -> ReportCell:
    """Empty where they have several levels."""
    levels = dict.fromkeys(cell.level(factor) for cell in cells)
    (level, *others) = levels
    return absent("") if others or level is None else cell_runs.label(level)


def _with_count(labels: Sequence[ReportCell], count: ReportCell) -> list[ReportCell]:
    """In the first label that is empty."""
    place = next((place for place, one in enumerate(labels) if not one.shown), len(labels) - 1)
    return [*labels[:place], count, *labels[place + 1 :]]


def _row(
    cell: CellRuns,
    summary: cell_summary.CellSummary,
    outcomes: Sequence[str],
    factors: Sequence[str],
    asked: Metric | None,
    *,
    has_cold: bool,
) -> Row:
    tps = aggregates.number(cell, aggregates.THROUGHPUT)
    numbers: list[ReportCell] = []
    if outcomes:
        numbers = [
            *(
                [cell_tables.first_executions(cell), cell_tables.warm_after(cell)]
                if has_cold
                else []
            ),
            _throughput(cell, tps),
            *(_percentile(cell, name) if tps is not None else absent("-") for name in _PERCENTILES),
            *([cell_summary.goal_cell(asked, cell)] if asked else []),
            *(_counted(cell, outcome) for outcome in outcomes),
        ]
    else:
        numbers = [text("; ".join(shown for _, shown in summary.numbers) or "-")]
    row = (
        *(
            replace(one, runs=tuple(run.id for run in cell.runs))
            for one in cell_runs.label_cells(cell, factors)
        ),
        *(replace(one, note="") for one in numbers),
        text(summary.verdict.word or "-"),
        text(summary.verdict.reason),
    )
    return Row(row)


def _throughput(cell: CellRuns, tps: Number | None) -> ReportCell:
    if cell_tables.is_timed_from_cold(cell):
        return absent("")
    return absent("-") if tps is None else ReportCell(units.digits(tps.value), tps)


def _percentile(cell: CellRuns, name: str) -> ReportCell:
    """In the unit in which it is best read, as on a terminal."""
    measured = cell_runs.measured_runs(cell)
    if name == "p50" and cell_summary.unlike_types(measured):
        return absent(cell_summary.BY_TYPE)
    times = cell_summary.latency_times(measured)
    made = aggregates.each(percentile(name, "ms"), lambda _: "")(cell)
    return (
        made
        if made.is_absent
        else replace(made, shown=cell_summary.percentile_in_words(times, name))
    )


def _counted(cell: CellRuns, outcome: str) -> ReportCell:
    shown = cell_summary.counted(cell, outcome)
    return (
        absent(shown)
        if shown == cell_summary.ABSENT
        else ReportCell(shown, Number(int(shown), "count"))
    )
