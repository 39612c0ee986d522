"""Takes the runs of several tests and the series that joins them; gives one table over all of them,
with the published rows among ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.experiment import Scalar
from assay.judge.spread import spread
from assay.record import ExperimentRecord, RunRecord
from assay.report import field_path, notes, percentiles, pivot
from assay.report.pivot import CellRuns
from assay.report.published import Published
from assay.report.series import Series, SeriesColumn
from assay.report.values import MARKS, Cell, Column, Number, Row, Table, absent
from assay.text import units

Factors = Mapping[str, Scalar]


def table(
    experiment: ExperimentRecord, series: Series, published: Published | None
) -> Table | None:
    """None where fewer than two of the series' tests were run."""
    tests = {column.test for column in series.columns}
    by_test = {
        test: pivot.cells(runs)
        for test, runs in pivot.tests(experiment.runs).items()
        if test in tests
    }
    if len(by_test) < 2:
        return None
    every = [cell for found in by_test.values() for cell in found]
    labels = [series.rows, *(one for one in _shared(by_test, every) if one != series.rows)]
    rows: list[Row] = []
    for level in pivot.levels(every, series.rows):
        ours = dict.fromkeys(
            tuple(cell.factors.get(name, "") for name in labels)
            for cell in every
            if cell.factors.get(series.rows) == level
        )
        for levels in ours:
            factors = dict(zip(labels, levels, strict=True))
            cells = [_cell(by_test, column, factors) for column in series.columns]
            rows.append(Row((*(pivot.label(one) for one in levels), *cells)))
        rows += _published(published, series, level, labels)
    return Table(
        name=series.name,
        title=series.heading,
        label_columns=len(labels),
        columns=(
            *(Column(name, is_number=name == series.rows) for name in labels),
            *(_column(column) for column in series.columns),
        ),
        rows=tuple(rows),
        notes=(
            *notes.reasons(rows),
            *notes.failures(every),
            *(_source(published) if published else ()),
        ),
    )


def _shared(by_test: Mapping[str, Sequence[CellRuns]], every: Sequence[CellRuns]) -> list[str]:
    """The system, and what varies and is a factor of every test; what differs between tests alone
    (their clients) is none."""
    varying = [name for found in by_test.values() for name in pivot.varying(found, "system")]
    return [name for name in dict.fromkeys(varying) if all(name in cell.factors for cell in every)]


def _cell(
    by_test: Mapping[str, Sequence[CellRuns]],
    column: SeriesColumn,
    factors: Factors,
) -> Cell:
    """The median of the repetitions of the cell with these levels."""
    for cell in by_test.get(column.test, ()):
        if all(cell.factors.get(name) == level for name, level in factors.items()):
            return _median(cell, column)
    return absent("not asked")


def _median(cell: CellRuns, column: SeriesColumn) -> Cell:
    values = [found for run in cell.measured if (found := _number(run, column.key)) is not None]
    if not values:
        return absent("none" if cell.measured else cell.why_absent)
    over = spread(values)
    unit = field_path.unit(column.key)
    judged = cell.judged(over)
    width_ns = max(
        percentiles.width_of(column.key, over.median, run.observation or {})
        for run in cell.measured
    )
    made = Number(over.median, unit, over.n, over.low, over.high, *judged, width_ns or None)
    shown = units.shown(over.median, unit, column.unit, resolution_ns=width_ns)
    return Cell(f"{shown}{MARKS[judged.word]}", made)


def _number(run: RunRecord, key: str) -> float | None:
    found = field_path.value(run, key)
    return found if isinstance(found, int | float) else None


def _column(column: SeriesColumn) -> Column:
    unit = column.unit if field_path.unit(column.key) == "ns" else ""
    return Column(column.title, is_number=True, unit=unit)


def _published(
    published: Published | None, series: Series, level: Scalar, labels: Sequence[str]
) -> list[Row]:
    """The paper's rows of that level, in its own numbers; ``unit`` names one per column."""
    if published is None:
        return []
    found = []
    for row in published.rows:
        if row.get(series.rows) != level:
            continue
        named = {series.rows: str(level), "system": f"{row['system']}, published"}
        cells = [
            Cell(f"{value:.10g}", Number(value, unit))
            for value, unit in zip(row["values"], published.units, strict=True)
        ]
        found.append(Row((*(Cell(named.get(label, "")) for label in labels), *cells)))
    return found


def _source(published: Published) -> list[str]:
    note = f"published: {published.source}, in {published.unit}"
    return [f"{note} ({published.conditions})" if published.conditions else note]
