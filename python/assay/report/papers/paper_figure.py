"""Takes tables with published numbers; returns points of the published and the measured ones, and
of the ratios where the paper printed ratios: times of other machines stand beside measured, not
divided. Numbers of a test that was scaled down do not stand beside published ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, product

from assay.plan import cell_names
from assay.report.figure import Axis, Figure, Point, Scale
from assay.report.figures.bars import MOST_BARS, category, figure
from assay.report.papers import paper_points
from assay.report.values import MEASURED, PUBLISHED, ReportCell, ReportTable, Row
from assay.text import units

_MEASURED, _PUBLISHED = "measured", "published"
_BESIDE = "published and measured"
_TITLE = _BESIDE.capitalize()
_OTHER_MACHINES = "the published numbers are of other machines"


def of_results(tables: Sequence[ReportTable]) -> Iterator[Figure]:
    """Of tables whose published columns stand beside the measured ones, in the same order."""
    for table in tables:
        measured, published = (
            [place for place, column in enumerate(table.columns) if column.role == role]
            for role in (MEASURED, PUBLISHED)
        )
        bars: dict[str, list[Point]] = {_PUBLISHED: [], _MEASURED: []}
        for row in table.rows:
            for place, beside in zip(measured, published, strict=False):
                titles = (table.columns[one].title.split("\n")[-1] for one in (place, beside))
                named = f"{category(table, row)}: {' | '.join(titles)}"
                _add(bars, named, row.cells[place], row.cells[beside])
        yield from _charts(f"{table.name}_published", _TITLE, bars, _unit(table, *published))


def of_paper(table: ReportTable, source: str, *, is_scaled: bool = False) -> Iterator[Figure]:
    """Of a table in the paper's own shape, whose last label says where a row's numbers are from: a
    chart for each group of its columns, and each unit. ``is_scaled``: of ratios alone."""
    origin = table.label_columns - 1
    places = range(table.label_columns, len(table.columns))
    found = groupby(places, key=lambda place: (table.columns[place].group, _unit(table, place)))
    for number, ((group, unit), alike) in enumerate([] if is_scaled else found, 1):
        bars: dict[str, list[Point]] = {_PUBLISHED: [], _MEASURED: []}
        for place, row in product(alike, _measured_rows(table, origin)):
            if (beside := _beside(table, row, origin)) is not None:
                named = _named(table, row, origin, place)
                _add(bars, named, row.cells[place], beside.cells[place])
        title = f"{source}: {_BESIDE}{f', {group}' if group else ''}"
        name = f"{table.name}_published_{number}"
        yield from _charts(name, title, bars, unit, notes=(_OTHER_MACHINES,))
    yield from _ratios(table, origin, f"{source}: {paper_points.RATIO}")


def _measured_rows(table: ReportTable, origin: int) -> list[Row]:
    return [row for row in table.rows if row.cells[origin].shown.startswith(paper_points.MEASURED)]


def _beside(table: ReportTable, row: Row, origin: int) -> Row | None:
    """The published row with the same labels."""
    labels = [cell.shown for cell in row.cells[:origin]]
    return next(
        (
            one
            for one in table.rows
            if one.cells[origin].shown == paper_points.PUBLISHED
            and [cell.shown for cell in one.cells[:origin]] == labels
        ),
        None,
    )


def _named(table: ReportTable, row: Row, origin: int, place: int) -> str:
    title = table.columns[place].title.split("\n")[-1]
    apart = row.cells[origin].shown.removeprefix(paper_points.MEASURED)
    return ", ".join([title, *_labels(table, row, origin)]) + apart


def of_pairs(table: ReportTable) -> Iterator[Figure]:
    """Of a table in which each published row stands above the measured ones that belong to it, and
    each of these above its ratios: the pairs that have one."""
    origin = table.label_columns - 1
    for place in range(table.label_columns, len(table.columns)):
        found = list(_pairs(table, origin, place))
        pairs = [(published, measured) for published, measured, refused in found if not refused]
        systems = {published.cells[0].shown for published, _ in pairs}
        is_one = len(systems) == 1
        published_as = f"{_PUBLISHED} ({', '.join(systems)})" if is_one else _PUBLISHED
        points: dict[str, list[Point]] = {published_as: [], _MEASURED: []}
        for published, measured in pairs:
            named = ", ".join(_labels(table, measured, origin))
            if (
                not is_one
                and published.cells[0].shown.casefold() != measured.cells[0].shown.casefold()
            ):
                named += f"; {_PUBLISHED}: {published.cells[0].shown}"
            _add(points, named, measured.cells[place], published.cells[place], published_as)
        refused = Counter(why for *_, why in found if why)
        said = ", ".join(f"{why} ({number})" for why, number in refused.items())
        notes = (f"left out, as the table has no ratio of them: {said}",) if said else ()
        title = table.columns[place].title.split("\n")[-1]
        unit, name = _unit(table, place), f"{table.name}_{place}"
        yield from _charts(name, f"{_TITLE}: {title}", points, unit, published_as, notes)
    yield from _ratios(table, origin, "Measured ÷ published")


def _pairs(table: ReportTable, origin: int, place: int) -> Iterator[tuple[Row, Row, str]]:
    """The published and the measured row with a number in this column, and why there is no ratio of
    the two."""
    beside: Row | None = None
    for row, after in zip(table.rows, [*table.rows[1:], None], strict=True):
        beside = row if row.is_published else beside
        if beside is None or row.cells[origin].shown != paper_points.MEASURED:
            continue
        if row.cells[place].number is None or beside.cells[place].number is None:
            continue
        has_ratio = after is not None and after.cells[origin].shown == paper_points.RATIO
        ratio = after.cells[place] if after is not None and has_ratio else None
        why = "" if ratio and ratio.number else (ratio and ratio.shown) or "not divided"
        yield beside, row, why


def _labels(table: ReportTable, row: Row, before: int) -> list[str]:
    """The first labels of a row, a number with what it counts."""
    return [
        cell_names.level_name(column.title, cell.level)
        if column.is_number and cell.level is not None
        else cell.shown
        for column, cell in zip(table.columns[:before], row.cells, strict=False)
        if cell.shown
    ]


def _ratios(table: ReportTable, origin: int, heading: str) -> Iterator[Figure]:
    bars: dict[str, list[Point]] = {}
    for row in table.rows:
        if row.cells[origin].shown != paper_points.RATIO:
            continue
        labels = ", ".join(_labels(table, row, origin))
        for place in range(table.label_columns, len(table.columns)):
            number = row.cells[place].number
            column = table.columns[place]
            if number is not None and number.value > 0:
                title = column.title.split("\n")[-1]
                bars.setdefault(column.group or title, []).append(
                    Point(
                        f"{title}, {labels}",
                        number.value,
                        runs=row.cells[place].runs,
                        verdict=number.verdict,
                    )
                )
    axis = Axis(paper_points.RATIO, Scale.LOG)
    yield from figure(f"{table.name}_ratios", heading, axis, bars, 1)


def _add(
    bars: dict[str, list[Point]],
    named: str,
    measured: ReportCell,
    published: ReportCell,
    published_as: str = _PUBLISHED,
) -> None:
    """Of times and sizes; ratios have charts of their own."""
    if measured.number is None or published.number is None:
        return
    if {measured.number.unit, published.number.unit} & {*paper_points.RATIO_UNITS}:
        return
    for name, number, runs in (
        (published_as, published.number, ()),
        (_MEASURED, measured.number, measured.runs),
    ):
        value = units.comparable(number.value, number.unit)
        if value > 0:
            bars[name].append(Point(named, value, runs=runs, verdict=number.verdict))


def _unit(table: ReportTable, *places: int) -> str:
    """In which the numbers of these columns are compared; what we count the paper names."""
    numbers = (row.cells[place].number for row in table.rows for place in places)
    of_all = {number.unit for number in numbers if number} - {*paper_points.RATIO_UNITS, "count"}
    return units.comparable_unit(of_all)


def _charts(
    name: str,
    title: str,
    bars: dict[str, list[Point]],
    unit: str,
    published_as: str = _PUBLISHED,
    notes: Sequence[str] = (),
) -> Iterator[Figure]:
    """As many as it takes to show all points."""
    categories = list(dict.fromkeys(point.x for points in bars.values() for point in points))
    most = MOST_BARS // 2
    for at in range(0, len(categories), most):
        shown = set(categories[at : at + most])
        part = {
            one: [point for point in points if point.x in shown] for one, points in bars.items()
        }
        yield from figure(
            name if not at else f"{name}_{at // most + 1}",
            title,
            Axis(unit, Scale.LOG),
            part,
            references=(published_as,),
            notes=notes,
        )
