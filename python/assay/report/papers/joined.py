"""Takes the runs of several tests and the series that joins them; returns one table of all of them:
a pivot with a column per task, and the published rows between the measured ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from assay.experiment import Scalar
from assay.plan.cell_names import CACHE
from assay.record import ExperimentRecord
from assay.report.cells import cell_runs, durability
from assay.report.cells.cell_runs import DURABILITY, TEST, CellRuns
from assay.report.cells.pivot import pivot_rows, table_row, value_column
from assay.report.declared import aggregates, client_process, notes
from assay.report.declared.published import HARDWARE, Published, printed_cell
from assay.report.declared.series import Series, SeriesColumn
from assay.report.papers.claims import comparability
from assay.report.values import ReportCell, ReportColumn, ReportTable, Row
from assay.text.units import BYTES_PER


def table(
    experiment: ExperimentRecord, series: Series, published: Published | None
) -> ReportTable | None:
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
    less = [_less(column, labels, scaled.get(column.test, {})) for column in series.columns]
    of_all = less[0] if less.count(less[0]) == len(less) > 1 else []
    columns = [
        _column(column, [] if of_all else own)
        for column, own in zip(series.columns, less, strict=True)
    ]
    measured = pivot_rows(every, labels, columns, [series.rows, *apart])
    rows: list[Row] = []
    levels = cell_runs.levels(every, series.rows)
    for level in levels:
        rows += [table_row(row, labels) for row in measured if row.levels[series.rows] == level]
        rows += _published(published, series, level, labels)
    if not any(row.is_published for row in rows):  # those of other levels, rather than none
        for level in published.levels(series.rows) if published else ():
            rows += _published(published, series, level, labels)
    rows += _published(published, series, None, labels)
    return ReportTable(
        name=series.name,
        title=series.heading,
        is_answer=series.name in experiment.experiment.get("series", ()),
        label_columns=len(labels),
        columns=(
            *(ReportColumn(name, is_number=name == series.rows) for name in labels),
            *columns,
        ),
        rows=tuple(rows),
        notes=(
            *([f"less than in the paper: {', '.join(of_all)}"] if of_all else []),
            *durability.lines(every),
            *notes.failures(every),
            *(_source(published) if published else ()),
        ),
    )


def scaled_columns(experiment: ExperimentRecord, series: Series) -> frozenset[int]:
    """Places of the series' columns whose tests have less of something, other than its rows, than
    their paper: published numbers of these are of another size."""
    scaled = comparability.scaled(experiment)
    return frozenset(
        place
        for place, column in enumerate(series.columns)
        if _less(column, [series.rows], scaled.get(column.test, {}))
    )


def _shared(by_test: Mapping[str, Sequence[CellRuns]], every: Sequence[CellRuns]) -> list[str]:
    """The system, and the factors of every test that vary within a test; a factor that differs
    only between tests (their clients) is left out."""
    varying = [name for found in by_test.values() for name in cell_runs.varying(found, "system")]
    return [name for name in dict.fromkeys(varying) if all(name in cell.factors for cell in every)]


def _column(column: SeriesColumn, less: Sequence[str]) -> ReportColumn:
    """``less``: what the test has less of than its paper, which the title says."""
    median = aggregates.median(column.read, column.unit)

    def shown(cell: CellRuns) -> ReportCell:
        made = median(cell)
        notes = (client_process.note(cell, (column.read.path,)) if made.number else "", made.note)
        return replace(made, note="; ".join(filter(None, notes)))

    return value_column(
        f"{column.title} ({', '.join(less)})" if less else column.title,
        shown,
        {TEST: column.test, **({CACHE: column.cache} if column.cache else {})},
        column.unit if column.read.unit == "ns" else "",
    )


def _less(column: SeriesColumn, labels: Sequence[str], scaled: Mapping[str, str]) -> list[str]:
    return [
        f"{name} {level}"
        for name, level in scaled.items()
        if name not in (*labels, *column.independent_of)
    ]


def _published(
    published: Published | None, series: Series, level: Scalar | None, labels: Sequence[str]
) -> list[Row]:
    """The published rows of that level, as printed. None: those that are of no level, which
    stand last."""
    if published is None:
        return []
    found = []
    for row in published.rows:
        if row.levels.get(series.rows) != level:
            continue
        hardware = row.levels.get(HARDWARE)
        words = [row.system, *([] if hardware is None else [str(hardware)]), "published"]
        named = {
            series.rows: ReportCell("") if level is None else cell_runs.label(level),
            "system": ReportCell(", ".join(words), level=row.system),
        }
        values = row.values or [""] * len(published.columns)
        cells = map(_printed, values, published.units)
        found.append(
            Row((*(named.get(one, ReportCell("")) for one in labels), *cells), is_published=True)
        )
    return found


def _printed(value: float | str, unit: str) -> ReportCell:
    """A size with its unit, as those measured in the same column have it."""
    cell = printed_cell(value, unit)
    is_size = cell.number is not None and unit in BYTES_PER
    return replace(cell, shown=f"{cell.shown} {unit}") if is_size else cell


def _source(published: Published) -> list[str]:
    note = f"published: {published.source}, in {published.unit}"
    return [f"{note} ({published.conditions})" if published.conditions else note]
