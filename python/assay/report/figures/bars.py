"""Takes the cells of a test, or the tables of its results; returns bars, or points on a logarithmic
axis, in panels whose lines are few enough to be distinguished."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from msgspec.structs import replace

from assay.experiment import Scalar
from assay.judge.run_warnings import why_not_steady
from assay.plan import cell_names
from assay.report import cell_runs
from assay.report.cell_runs import CellRuns
from assay.report.declared import aggregates
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point, Scale
from assay.report.values import PUBLISHED_SPEED_UP, SPEED_UP, ReportCell, ReportTable, Row
from assay.text import units
from assay.workload.declared_reports import Declaration

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


MOST_SERIES = 6
"""Lines or colours in a chart."""
MOST_PANELS = 12
"""Charts of one kind in a test; the tables have the others."""


class Panel(NamedTuple):
    title: str
    """The levels that its cells share; empty: there is one panel."""
    series: tuple[tuple[str, tuple[CellRuns, ...]], ...]
    """(name, cells) of each line."""


class Panels(NamedTuple):
    shown: tuple[Panel, ...]
    left_out: int

    def notes(self, panel: Panel) -> tuple[str, ...]:
        """Of the last one: how many are not shown."""
        if not self.left_out or panel is not self.shown[-1]:
            return ()
        return (f"{self.left_out} more charts of this kind are left out; the tables have all",)


def panels(measured_cells: Sequence[CellRuns], prefer: str, without: Iterable[str] = ()) -> Panels:
    """Each level of the factor ``prefer`` is a line, and each combination of the other factors a
    panel; where all combinations are few, they are lines of one panel. ``without``: factors along
    which a line runs."""
    along = set(without)
    varying = [name for name in cell_runs.varying(measured_cells) if name not in along]
    every = _grouped(measured_cells, varying)
    if len(every) <= (MOST_SERIES if prefer not in varying else 3):
        return Panels((Panel("", _named(every, varying)),), 0)
    lines = [prefer] if prefer in varying else varying[:1]
    apart = [name for name in varying if name not in lines]
    shown: list[Panel] = []
    for levels, cells in _grouped(measured_cells, apart).items():
        series = _named(_grouped(cells, lines), lines)
        title = _name(levels, apart)
        shown += [
            Panel(title, series[at : at + MOST_SERIES]) for at in range(0, len(series), MOST_SERIES)
        ]
    return Panels(tuple(shown[:MOST_PANELS]), max(0, len(shown) - MOST_PANELS))


def _grouped(
    cells: Iterable[CellRuns], factors: Sequence[str]
) -> dict[tuple[Scalar | None, ...], list[CellRuns]]:
    groups: dict[tuple[Scalar | None, ...], list[CellRuns]] = {}
    for cell in cells:
        groups.setdefault(tuple(map(cell.level, factors)), []).append(cell)
    return groups


def _named(
    groups: dict[tuple[Scalar | None, ...], list[CellRuns]], factors: Sequence[str]
) -> tuple[tuple[str, tuple[CellRuns, ...]], ...]:
    return tuple(
        (_name(levels, factors) or str(cells[0].factors["system"]), tuple(cells))
        for levels, cells in groups.items()
    )


def _name(levels: Sequence[Scalar | None], factors: Sequence[str]) -> str:
    return ", ".join(
        cell_names.level_name(name, level)
        for name, level in zip(factors, levels, strict=True)
        if level is not None
    )


_TIMES = ("ns", "min", "s", "ms", "µs")
_SIZES = ("bytes", "MB")
_PER_SECOND = "transactions per second"


def series_figures(
    table: ReportTable, without_published: Container[int] = ()
) -> tuple[Figure, ...]:
    """``without_published``: places of columns, the first 0, whose published numbers are of another
    size than ours."""
    return (
        tuple(_lines(table, without_published))
        or tuple(_without_sizes(table))
        or tuple(_side_by_side(table))
    )


def _lines(table: ReportTable, without_published: Container[int]) -> Iterator[Figure]:
    """The first label is the size; the others name a line."""
    for place, column in enumerate(table.columns[table.label_columns :], table.label_columns):
        lines: dict[tuple[str, bool], list[Point]] = {}
        kinds = {cell.number.unit for cell in _measured_cells(table, place) if cell.number}
        axis = units.comparable_unit(kinds)
        for row in table.rows:
            number, level = row.cells[place].number, row.cells[0].level
            if number is None or number.value <= 0 or not isinstance(level, int | float):
                continue
            if row.is_published and place - table.label_columns in without_published:
                continue
            name = ", ".join(cell.shown for cell in row.cells[1 : table.label_columns])
            value = units.comparable(number.value, number.unit)
            lines.setdefault((name, row.is_published), []).append(
                Point(float(level), value, runs=row.cells[place].runs, verdict=number.verdict)
            )
        own = [name for name, is_published in lines if not is_published]
        if not any(len(lines[name, False]) > 1 for name in own):
            continue
        yield Figure(
            f"{table.name}_size_{place}",
            f"{column.title} by {table.columns[0].title}",
            Mark.LINES,
            Axis(table.columns[0].title, Scale.LOG),
            Axis(f"{column.title}{f', {axis}' if axis else ''}", Scale.LOG),
            tuple(
                DataSeries(name, tuple(points), is_reference=is_published)
                for (name, is_published), points in lines.items()
            ),
        )


def _measured_cells(table: ReportTable, place: int) -> list[ReportCell]:
    return [row.cells[place] for row in table.rows]


def _without_sizes(table: ReportTable) -> Iterator[Figure]:
    """Where no size varies: bars of each column, of published and of measured systems."""
    for place, column in enumerate(table.columns[table.label_columns :], table.label_columns):
        bars: dict[str, list[Point]] = {"published": [], "measured": []}
        kinds = {cell.number.unit for cell in _measured_cells(table, place) if cell.number}
        for row in table.rows:
            number = row.cells[place].number
            if number is not None and number.value > 0 and number.unit in (*_TIMES, *_SIZES):
                named = ", ".join(
                    cell.shown for cell in row.cells[: table.label_columns] if cell.shown
                ).removesuffix(", published")
                value = units.comparable(number.value, number.unit)
                bars["published" if row.is_published else "measured"].append(
                    Point(named, value, runs=row.cells[place].runs, verdict=number.verdict)
                )
        if bars["published"] and bars["measured"]:
            yield from figure(
                f"{table.name}_published_{place}",
                f"Published and measured: {column.title}",
                Axis(units.comparable_unit(kinds), Scale.LOG),
                bars,
                references=("published",),
            )


def _side_by_side(table: ReportTable) -> Iterator[Figure]:
    """Of columns in the same unit, without published numbers: a colour for each."""
    places: dict[str, list[int]] = {}
    for place in range(table.label_columns, len(table.columns)):
        found = {cell.number.unit for cell in _measured_cells(table, place) if cell.number}
        if len(found) == 1:
            places.setdefault(found.pop(), []).append(place)
    for unit, alike in places.items():
        bars: dict[str, list[Point]] = {}
        for place, row in product(alike, table.rows):
            number = row.cells[place].number
            if number is not None and not row.is_published:
                labels = [cell.shown for cell in row.cells[: table.label_columns] if cell.shown]
                point = Point(
                    ", ".join(labels),
                    units.comparable(number.value, unit),
                    runs=row.cells[place].runs,
                    verdict=number.verdict,
                )
                bars.setdefault(table.columns[place].title, []).append(point)
        if len(bars) > 1:
            axis = _PER_SECOND if unit == "per_s" else units.comparable_unit({unit})
            yield from figure(f"{table.name}_{unit}", table.title, Axis(axis), bars)
