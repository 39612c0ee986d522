"""Takes the cells of an experiment; returns the section that a page begins with: the main number of
each cell, how far it may be trusted, and why not further."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.record import ExperimentRecord
from assay.report.cells import aggregates, cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.sections import check_counts
from assay.report.sections.results import percentile
from assay.report.summaries import cell_summary
from assay.report.values import Cell, Column, Number, Row, Section, Table, absent, text
from assay.text import units

_PERCENTILES = ("p50", "p99")


def section(experiment: ExperimentRecord, found: Sequence[CellRuns]) -> Section:
    summaries = [cell_summary.of_cell(experiment, cell) for cell in found]
    runs = [run for cell in found for run in cell.runs]
    verdicts = cell_summary.verdict_counts(summaries)
    counts = ", ".join(f"{count} {word}" for word, count in verdicts.items())
    lines = [f"{units.counted(len(found), 'cell')} in {units.counted(len(runs), 'run')}: {counts}"]
    if errors := cell_summary.errors(runs):
        lines.append(f"errors: {errors}")
    if checks := check_counts.words(runs):
        lines.append(f"checks: {checks}")
    return Section("Summary", tuple(lines), tuple(_tables(found, summaries)))


def _tables(
    found: Sequence[CellRuns], summaries: Sequence[cell_summary.CellSummary]
) -> Iterator[Table]:
    """Cells of tests without transactions have one of their own, beside others."""
    has_tests = len({one.test for one in summaries}) > 1
    both = list(zip(found, summaries, strict=True))
    apart = [one for one in both if one[1].has_measured_alone]
    others = [one for one in both if one not in apart]
    for name, part in (("summary", others), ("summary_measured" if others else "summary", apart)):
        if part:
            yield _table(name, *zip(*part, strict=True), has_tests=has_tests)


def _table(
    name: str,
    found: Sequence[CellRuns],
    summaries: Sequence[cell_summary.CellSummary],
    *,
    has_tests: bool,
) -> Table:
    times = [
        run.driven.all_ok.latency for cell in found for run in cell.runs if run.driven is not None
    ]
    is_driven = bool(times)
    has_unknown = any(one.unknown not in (cell_summary.ABSENT, "0") for one in summaries)
    outcomes = ["failed", *([cell_summary.UNKNOWN] * has_unknown)] if is_driven else []
    rows = tuple(_rows(found, summaries, outcomes, has_tests=has_tests))
    notes = ["TPS: transactions that ended ok per second, median of the repetitions"] * is_driven
    if any(cell.shown.startswith("n<") for row in rows for cell in row.cells):
        notes.append("n<…: too few samples for the percentile, so many are needed")
    return Table(
        name=name,
        title="Each cell" if name == "summary" else "Each cell of tests without transactions",
        label_columns=1 + has_tests,
        columns=(
            *([Column("test")] if has_tests else []),
            Column("cell"),
            *([Column("TPS", is_number=True)] if is_driven else [Column("measured")]),
            *(Column(name, is_number=True) for name in _PERCENTILES if is_driven),
            *(Column(name, is_number=True) for name in outcomes),
            Column("verdict"),
            Column("why"),
        ),
        rows=rows,
        notes=tuple(notes),
    )


def _rows(
    found: Sequence[CellRuns],
    summaries: Sequence[cell_summary.CellSummary],
    outcomes: Sequence[str],
    *,
    has_tests: bool,
) -> Iterator[Row]:
    """Refused cells stand last, those with the same reason in one row."""
    refused: dict[str, list[tuple[CellRuns, cell_summary.CellSummary]]] = {}
    for cell, one in zip(found, summaries, strict=True):
        if one.verdict.word == "refused":
            refused.setdefault(one.verdict.reason, []).append((cell, one))
        else:
            yield _row(cell, one, outcomes, has_tests=has_tests)
    for together in refused.values():
        first = _row(*together[0], outcomes, has_tests=has_tests)
        if len(together) == 1:
            yield first
            continue
        tests = dict.fromkeys(one.test for _, one in together)
        runs = tuple(run.id for cell, _ in together for run in cell.runs)
        labels = (
            *([text(", ".join(tests))] if has_tests else []),
            Cell(units.counted(len(together), "cell"), runs=runs),
        )
        yield Row((*labels, *first.cells[len(labels) :]))


def _row(
    cell: CellRuns,
    summary: cell_summary.CellSummary,
    outcomes: Sequence[str],
    *,
    has_tests: bool,
) -> Row:
    tps = aggregates.number(cell, aggregates.THROUGHPUT)
    numbers: list[Cell] = []
    if outcomes:
        numbers = [
            absent("-") if tps is None else Cell(units.digits(tps.value), tps),
            *(_percentile(cell, name) if tps is not None else absent("-") for name in _PERCENTILES),
            *(_counted(cell, outcome) for outcome in outcomes),
        ]
    else:
        numbers = [text("; ".join(shown for _, shown in summary.numbers) or "-")]
    row = (
        *([text(summary.test)] if has_tests else []),
        Cell(cell.name, runs=tuple(run.id for run in cell.runs)),
        *(replace(one, note="") for one in numbers),
        text(summary.verdict.word or "-"),
        text(summary.verdict.reason),
    )
    return Row(row)


def _percentile(cell: CellRuns, name: str) -> Cell:
    """In the unit in which it is best read, as on a terminal."""
    times = cell_summary.latencies(cell_runs.measured_runs(cell))
    made = aggregates.each(percentile(name, "ms"), lambda _: "")(cell)
    return (
        made if made.is_absent else replace(made, shown=cell_summary.shown_percentile(times, name))
    )


def _counted(cell: CellRuns, outcome: str) -> Cell:
    shown = cell_summary.counted(cell, outcome)
    return (
        absent(shown) if shown == cell_summary.ABSENT else Cell(shown, Number(int(shown), "count"))
    )
