"""Takes the table of a series of tests, a row per size and a column per task; returns the time of
each task against the size, published rows as lines of their own. Where no size varies: points of
what was published and measured, or bars of the tasks beside each other."""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import product

from assay.report.figure import Axis, DataSeries, Figure, Mark, Point, Scale
from assay.report.figures.bars import figure
from assay.report.values import ReportCell, ReportTable
from assay.text import units

_TIMES = ("ns", "min", "s", "ms", "µs")
_SIZES = ("bytes", "MB")
_PER_SECOND = "transactions per second"


def figures(table: ReportTable, without_published: Container[int] = ()) -> tuple[Figure, ...]:
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
        kinds = {cell.number.unit for cell in _cells(table, place) if cell.number}
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


def _cells(table: ReportTable, place: int) -> list[ReportCell]:
    return [row.cells[place] for row in table.rows]


def _without_sizes(table: ReportTable) -> Iterator[Figure]:
    """Where no size varies: bars of each column, of published and of measured systems."""
    for place, column in enumerate(table.columns[table.label_columns :], table.label_columns):
        bars: dict[str, list[Point]] = {"published": [], "measured": []}
        kinds = {cell.number.unit for cell in _cells(table, place) if cell.number}
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
        found = {cell.number.unit for cell in _cells(table, place) if cell.number}
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
