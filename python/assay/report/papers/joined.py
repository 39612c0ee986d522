"""Takes the runs of several tests and the series that joins them; returns one table of all of them:
a pivot with a column per task, and the published rows between the measured ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.experiment import Scalar
from assay.plan.cell_names import CACHE
from assay.record import ExperimentRecord
from assay.report.cells import aggregates, cell_runs, client_process, durability, field_path, notes
from assay.report.cells.cell_runs import DURABILITY, TEST, CellRuns
from assay.report.cells.pivot import PivotColumn, pivot_rows, table_row, value_columns
from assay.report.cells.published import HARDWARE, Published, printed_cell
from assay.report.cells.series import Series, SeriesColumn
from assay.report.papers import comparability
from assay.report.values import Cell, Column, Row, Table


def table(
    experiment: ExperimentRecord, series: Series, published: Published | None
) -> Table | None:
    """None where fewer than two of the series' tests were run, or not its only one."""
    tests = {column.test for column in series.columns}
    by_test = {
        test: cell_runs.cells(experiment, runs)
        for test, runs in cell_runs.tests(experiment).items()
        if test in tests
    }
    if len(by_test) < min(2, len(tests)):
        return None
    every = [cell for found in by_test.values() for cell in found]
    shared = _shared(by_test, every)
    if any(column.cache for column in series.columns):
        shared = [factor for factor in shared if factor != CACHE]
    apart = [DURABILITY] if len(durability.durabilities(every)) > 1 else []
    labels = [series.rows, *(factor for factor in shared if factor != series.rows), *apart]
    scaled = comparability.scaled(experiment)
    columns = [_column(column, labels, scaled.get(column.test, {})) for column in series.columns]
    measured = pivot_rows(every, labels, columns, [series.rows, *apart])
    rows: list[Row] = []
    for level in cell_runs.levels(every, series.rows):
        rows += [table_row(row, labels) for row in measured if row.levels[series.rows] == level]
        rows += _published(published, series, level, labels)
    rows += _published(published, series, None, labels)
    return Table(
        name=series.name,
        title=series.heading,
        label_columns=len(labels),
        columns=(
            *(Column(name, is_number=name == series.rows) for name in labels),
            *value_columns(columns),
        ),
        rows=tuple(rows),
        notes=(
            *durability.lines(every),
            *notes.failures(every),
            *(_source(published) if published else ()),
        ),
    )


def _shared(by_test: Mapping[str, Sequence[CellRuns]], every: Sequence[CellRuns]) -> list[str]:
    """The system, and the factors of every test that vary within a test; a factor that differs
    only between tests (their clients) is left out."""
    varying = [name for found in by_test.values() for name in cell_runs.varying(found, "system")]
    return [name for name in dict.fromkeys(varying) if all(name in cell.factors for cell in every)]


def _column(column: SeriesColumn, labels: Sequence[str], scaled: Mapping[str, str]) -> PivotColumn:
    """``scaled``: what the test has less of than its paper, which the title says."""
    less = [
        f"{name} {level}"
        for name, level in scaled.items()
        if name not in (*labels, *column.independent_of)
    ]
    median = aggregates.median(aggregates.at(column.key), column.unit)

    def shown(cell: CellRuns) -> Cell:
        made = median(cell)
        notes = (client_process.note(cell, (column.key,)) if made.number else "", made.note)
        return replace(made, note="; ".join(filter(None, notes)))

    return PivotColumn(
        f"{column.title} ({', '.join(less)})" if less else column.title,
        shown,
        {TEST: column.test, **({CACHE: column.cache} if column.cache else {})},
        column.unit if field_path.unit(column.key) == "ns" else "",
    )


def _published(
    published: Published | None, series: Series, level: Scalar | None, labels: Sequence[str]
) -> list[Row]:
    """The published rows of that level, as printed. None: those that are of no level, which
    stand last."""
    if published is None:
        return []
    found = []
    for row in published.rows:
        if row.get(series.rows) != level:
            continue
        words = [row["system"], *([row[HARDWARE]] if HARDWARE in row else []), "published"]
        named = {
            series.rows: Cell("") if level is None else cell_runs.label(level),
            "system": Cell(", ".join(words), level=str(row["system"])),
        }
        values = row["values"] or [""] * len(published.columns)
        cells = map(printed_cell, values, published.units)
        found.append(
            Row((*(named.get(one, Cell("")) for one in labels), *cells), is_published=True)
        )
    return found


def _source(published: Published) -> list[str]:
    note = f"published: {published.source}, in {published.unit}"
    return [f"{note} ({published.conditions})" if published.conditions else note]
