"""Takes the table of a series of tests, a row per size and a column per task; returns the time of
each task against the size, published rows as lines of their own, and the ratio to these."""

from __future__ import annotations

from collections.abc import Iterator

from assay.report.figures.bars import ratio_bars
from assay.report.figures.values import LINES, Axis, DataSeries, Figure, Point
from assay.report.values import Cell, Row, Table
from assay.text import units

_TIMES = ("ns", "min", "s", "ms", "µs")
_SIZES = ("bytes", "MB")


def figures(table: Table) -> tuple[Figure, ...]:
    return (*_lines(table), *_ratios(table))


def _lines(table: Table) -> Iterator[Figure]:
    """The first label is the size; the others name a line."""
    for place, column in enumerate(table.columns[table.label_columns :], table.label_columns):
        lines: dict[tuple[str, bool], list[Point]] = {}
        kinds = {cell.number.unit for cell in _cells(table, place) if cell.number}
        axis = "s" if kinds <= set(_TIMES) else "MB" if kinds <= set(_SIZES) else ""
        for row in table.rows:
            number, level = row.cells[place].number, row.cells[0].level
            if number is None or number.value <= 0 or not isinstance(level, int | float):
                continue
            name = ", ".join(cell.shown for cell in row.cells[1 : table.label_columns])
            value = units.comparable(number.value, number.unit)
            lines.setdefault((name, row.is_published), []).append(
                Point(float(level), value, runs=row.cells[place].runs)
            )
        own = [name for name, is_published in lines if not is_published]
        if not any(len(lines[name, False]) > 1 for name in own):
            continue
        yield Figure(
            f"{table.name}_size_{place}",
            f"{column.title} by {table.columns[0].title}",
            LINES,
            Axis(table.columns[0].title, "log"),
            Axis(f"{column.title}{f', {axis}' if axis else ''}", "log"),
            tuple(
                DataSeries(name, tuple(points), is_reference=is_published)
                for (name, is_published), points in lines.items()
            ),
        )


def _cells(table: Table, place: int) -> list[Cell]:
    return [row.cells[place] for row in table.rows]


def _ratios(table: Table) -> tuple[Figure, ...]:
    """Beside the published row of the same size; of several published systems, those whose name
    begins with that of ours."""
    printed = [row for row in table.rows if row.is_published]
    names = {_system(row) for row in printed}
    bars: dict[str, list[Point]] = {}
    for row in table.rows:
        for beside in printed if not row.is_published else ():
            if beside.cells[0].level not in (None, row.cells[0].level) or not (
                len(names) == 1 or _system(beside).casefold().startswith(_system(row).casefold())
            ):
                continue
            for place in range(table.label_columns, len(table.columns)):
                ours, theirs = row.cells[place].number, beside.cells[place].number
                if ours is None or theirs is None or ours.value <= 0 or theirs.value <= 0:
                    continue
                ratio = units.comparable(ours.value, ours.unit) / units.comparable(
                    theirs.value, theirs.unit
                )
                category = ", ".join(
                    filter(
                        None,
                        (
                            table.columns[place].title,
                            row.cells[0].shown if beside.cells[0].shown else "",
                            _system(beside) if len(names) > 1 else "",
                        ),
                    )
                )
                bars.setdefault(_labels(row), []).append(
                    Point(category, ratio, runs=row.cells[place].runs)
                )
    return ratio_bars(table, bars)


def _system(row: Row) -> str:
    """The one text among the labels, or all of them."""
    named = [str(cell.level) for cell in row.cells if isinstance(cell.level, str)]
    return named[0].split("[")[0] if named else ""


def _labels(row: Row) -> str:
    return ", ".join(str(cell.level) for cell in row.cells if isinstance(cell.level, str))
