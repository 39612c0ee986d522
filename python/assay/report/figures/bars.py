"""Takes the cells of a test, or the tables of its results; returns bars, or points on a logarithmic
axis: throughput of systems and storages, speed-ups, storages by their probe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from assay.judge.warnings.steadiness import why_not_steady
from assay.plan import cell_names
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import aggregates
from assay.report.declared.declaration import Declaration
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point, Scale
from assay.report.figures.panels import MOST_SERIES
from assay.report.values import PUBLISHED_SPEED_UP, SPEED_UP, ReportTable, Row
from assay.text import units

_WHYS = 3
"""Cells without a ratio whose reason is said."""
MOST_BARS = 24
"""Of a chart; the rows after them are left to the table."""


def throughput(
    test: str, declared: Declaration | None, cells: Sequence[CellRuns], *, has_lines: bool
) -> tuple[Figure, ...]:
    """By system, a colour for each storage; none of a single cell, where the test measures
    something else, or where lines have it (``has_lines``) and no storages are compared."""
    if (declared and declared.fields) or len(cells) < 2:
        return ()
    storages = cell_runs.levels(cells, cell_runs.STORAGE)
    if has_lines and len(storages) < 2:
        return ()
    others = [name for name in cell_runs.varying(cells, "system") if name != cell_runs.STORAGE]
    bars: dict[str, list[Point]] = {}
    for cell in cells:
        made = aggregates.number(cell, aggregates.THROUGHPUT)
        if made is None:
            continue
        category = ", ".join(
            cell_names.level_name(name, level)
            for name in others
            if (level := cell.level(name)) is not None
        )
        named = str(cell.level(cell_runs.STORAGE))
        bars.setdefault(named, []).append(
            Point(category, made.value, made.low, made.high, cell.run_ids, made.verdict)
        )
    title = "Throughput of each storage" if len(storages) > 1 else "Throughput of each cell"
    drawn = figure(f"{test}_throughput", title, Axis("transactions per second"), bars)
    said = tuple(_without_ratio(cells)) if len(storages) > 1 else ()
    return tuple(replace(one, notes=(*one.notes, *said)) for one in drawn)


def _without_ratio(cells: Sequence[CellRuns]) -> Iterator[str]:
    """Why bars must not be divided by each other, as the table of ratios says it."""
    whys = [
        (cell.name, why)
        for cell in cells
        if (why := why_not_steady(one for run in cell.measured for one in run.warnings))
    ]
    for name, why in whys[:_WHYS]:
        yield f"no ratio with {name}: {why}"
    if len(whys) > _WHYS:
        yield f"no ratio with {units.counted(len(whys) - _WHYS, 'more cell')}: see the table"


def of_tables(tables: Sequence[ReportTable]) -> tuple[Figure, ...]:
    """Speed-ups of each table of results, the published ones beside the measured."""
    return tuple(figure for table in tables for figure in _speed_ups(table))


def storages(table: ReportTable) -> tuple[Figure, ...]:
    """The probe of each storage: a colour for each, as all are compared in each measure."""
    found: list[Figure] = []
    for unit, title in (("per_s", "operations per second"), ("bytes_per_s", "MB per second")):
        bars: dict[str, list[Point]] = {}
        for row in table.rows:
            name = ", ".join(cell.shown for cell in row.cells[: table.label_columns])
            for column, cell in zip(table.columns, row.cells, strict=True):
                if cell.number and cell.number.unit == unit and cell.number.value > 0:
                    value = cell.number.value / (1e6 if unit == "bytes_per_s" else 1)
                    bars.setdefault(name, []).append(Point(column.title, value))
        found += figure(f"{table.name}_{unit}", "Storages by probe", Axis(title, Scale.LOG), bars)
    return tuple(found)


def _speed_ups(table: ReportTable) -> tuple[Figure, ...]:
    bars: dict[str, list[Point]] = {}
    for place, column in enumerate(table.columns):
        if column.role not in (SPEED_UP, PUBLISHED_SPEED_UP):
            continue
        for row in table.rows:
            number = row.cells[place].number
            if number is not None and number.value > 0:
                name = column.title.replace("\n", " ")
                bars.setdefault(name, []).append(
                    Point(
                        category(table, row),
                        number.value,
                        number.low,
                        number.high,
                        row.runs,
                        number.verdict,
                    )
                )
    printed = [
        column.title.replace("\n", " ")
        for column in table.columns
        if column.role == PUBLISHED_SPEED_UP
    ]
    axis = Axis("speed-up", Scale.LOG)
    return figure(f"{table.name}_speed_up", "Speed-up", axis, bars, 1, printed)


def category(table: ReportTable, row: Row) -> str:
    """The labels of a row, and those of its block."""
    labels = [cell.shown for cell in row.cells[: table.label_columns] if cell.shown]
    return ", ".join(
        [*labels, *(f"{name} {units.level(level)}" for name, level in row.block.items())]
    )


def figure(
    name: str,
    title: str,
    axis: Axis,
    bars: Mapping[str, Sequence[Point]],
    base: float | None = None,
    references: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> tuple[Figure, ...]:
    """Empty without two to compare. On a logarithmic axis points stand in the place of bars."""
    is_log = axis.scale is Scale.LOG
    if sum(map(len, bars.values())) < 2:
        return ()
    kept = tuple(_kept(bars, references))
    left_out = sum(map(len, bars.values())) - sum(len(one.points) for one in kept)
    if left_out:
        word = "point" if is_log else "bar"
        notes = (*notes, f"{units.counted(left_out, word)} left out; the table has all")
    mark = Mark.POINTS if is_log else Mark.BARS
    return (Figure(name, title, mark, Axis(""), axis, kept, base, tuple(notes)),)


def _kept(bars: Mapping[str, Sequence[Point]], references: Sequence[str]) -> Iterator[DataSeries]:
    series = list(bars.items())[:MOST_SERIES]
    categories = list(dict.fromkeys(point.x for _, points in series for point in points))
    shown = set(categories[: max(1, MOST_BARS // len(series))])
    for name, points in series:
        kept = tuple(point for point in points if point.x in shown)
        yield DataSeries(name, kept, is_reference=name in references)
