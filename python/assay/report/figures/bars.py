"""Takes the cells of a test, or the tables of its results; returns bars: throughput of systems and
storages, speed-ups, published numbers against measured ones, storages by their probe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.report import aggregates, cell_runs
from assay.report.cell_runs import CellRuns
from assay.report.declaration import Declaration
from assay.report.figures.panels import MOST_SERIES
from assay.report.figures.values import BARS, Axis, DataSeries, Figure, Point
from assay.report.values import (
    MEASURED,
    PUBLISHED,
    PUBLISHED_SPEED_UP,
    SPEED_UP,
    Cell,
    Row,
    Table,
)
from assay.text import units

MOST_BARS = 24
"""Of a chart; the rows after them are left to the table."""


def throughput(
    test: str, declared: Declaration | None, found: Sequence[CellRuns]
) -> tuple[Figure, ...]:
    """By system, a colour for each storage; none of a single cell, or where the test measures
    something else."""
    if (declared and declared.fields) or len(found) < 2:
        return ()
    storages = cell_runs.levels(found, "storage")
    others = [name for name in cell_runs.varying(found, "system") if name != "storage"]
    bars: dict[str, list[Point]] = {}
    for cell in found:
        made = aggregates.number(cell, aggregates.THROUGHPUT)
        if made is None:
            continue
        category = ", ".join(
            cell_runs.level_name(name, level)
            for name in others
            if (level := cell.level(name)) is not None
        )
        named = str(cell.level("storage"))
        bars.setdefault(named, []).append(
            Point(category, made.value, made.low, made.high, cell.run_ids)
        )
    title = "Throughput of each storage" if len(storages) > 1 else "Throughput of each cell"
    return _figure(f"{test}_throughput", title, Axis("transactions per second"), bars)


def of_tables(tables: Sequence[Table]) -> tuple[Figure, ...]:
    """Speed-ups, and measured numbers divided by the published ones."""
    found: list[Figure] = []
    for table in tables:
        found += _speed_ups(table)
        found += _published(table)
    return tuple(found)


def storages(table: Table) -> tuple[Figure, ...]:
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
        found += _figure(f"{table.name}_{unit}", "Storages by probe", Axis(title, "log"), bars)
    return tuple(found)


def _speed_ups(table: Table) -> tuple[Figure, ...]:
    bars: dict[str, list[Point]] = {}
    for place, column in enumerate(table.columns):
        if column.role not in (SPEED_UP, PUBLISHED_SPEED_UP):
            continue
        for row in table.rows:
            number = row.cells[place].number
            if number is not None and number.value > 0:
                name = column.title.replace("\n", " ")
                bars.setdefault(name, []).append(
                    Point(_category(table, row), number.value, number.low, number.high, row.runs)
                )
    return _figure(
        f"{table.name}_speed_up", f"Speed-up: {table.title}", Axis("speed-up", "log"), bars, 1
    )


def _published(table: Table) -> tuple[Figure, ...]:
    """Of the tables of a test, whose published columns stand beside the measured ones in the same
    order."""
    ours, printed, ratios, printed_ratios = (
        [place for place, column in enumerate(table.columns) if column.role == role]
        for role in (MEASURED, PUBLISHED, SPEED_UP, PUBLISHED_SPEED_UP)
    )
    bars: dict[str, list[Point]] = {}
    for pairs in (zip(ours, printed, strict=False), zip(ratios, printed_ratios, strict=False)):
        for place, beside in pairs:
            name = " / ".join(
                table.columns[one].title.replace("\n", " ") for one in (place, beside)
            )
            for row in table.rows:
                ratio = _ratio(row.cells[place], row.cells[beside])
                if ratio is not None:
                    bars.setdefault(name, []).append(
                        Point(_category(table, row), ratio, runs=row.runs)
                    )
    return ratio_bars(table, bars)


def ratio_bars(table: Table, bars: Mapping[str, Sequence[Point]]) -> tuple[Figure, ...]:
    """Of measured numbers divided by published ones."""
    title = f"Measured ÷ published: {table.title}"
    return _figure(f"{table.name}_published", title, Axis("measured ÷ published", "log"), bars, 1)


def _ratio(measured: Cell, printed: Cell) -> float | None:
    if measured.number is None or printed.number is None:
        return None
    ours = units.comparable(measured.number.value, measured.number.unit)
    theirs = units.comparable(printed.number.value, printed.number.unit)
    return ours / theirs if ours > 0 and theirs > 0 else None


def _category(table: Table, row: Row) -> str:
    """The labels of a row, and those of its block."""
    labels = [cell.shown for cell in row.cells[: table.label_columns] if cell.shown]
    return ", ".join([*labels, *(f"{name} {level}" for name, level in row.block.items())])


def _figure(
    name: str,
    title: str,
    axis: Axis,
    bars: Mapping[str, Sequence[Point]],
    base: float | None = None,
) -> tuple[Figure, ...]:
    """None without two bars to compare."""
    if sum(map(len, bars.values())) < 2:
        return ()
    kept = tuple(_kept(bars))
    left_out = sum(map(len, bars.values())) - sum(len(one.points) for one in kept)
    notes = (f"{units.counted(left_out, 'bar')} left out; the table has all",) if left_out else ()
    if axis.scale == "log" and base is None:
        least = min(point.y for one in kept for point in one.points)
        base = 10.0 ** (len(str(int(least))) - 1) if least >= 1 else least / 2
    return (Figure(name, title, BARS, Axis(""), axis, kept, base, notes),)


def _kept(bars: Mapping[str, Sequence[Point]]) -> Iterator[DataSeries]:
    series = list(bars.items())[:MOST_SERIES]
    categories = list(dict.fromkeys(point.x for _, points in series for point in points))
    shown = set(categories[: max(1, MOST_BARS // len(series))])
    for name, points in series:
        yield DataSeries(name, tuple(point for point in points if point.x in shown))
