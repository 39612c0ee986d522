"""Takes a published table and the cells that were measured for it; returns both as points, each
a number with the levels that place it in the paper's own table; and their figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, product

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.metric import ReportColumn
from assay.experiment import Scalar
from assay.judge.statistics.estimate import ConfidenceInterval
from assay.plan import cell_names
from assay.plan.cell_names import MACHINE
from assay.report import cell_runs
from assay.report.cell_runs import STORAGE_ROLE, CellRuns
from assay.report.cell_tables import Aggregate
from assay.report.declared import aggregates
from assay.report.declared.published import HARDWARE, Published, of_record
from assay.report.figure import Axis, Figure, Point, Scale
from assay.report.figures.bars import MOST_BARS, category, figure
from assay.report.papers.claim_cases import RatioIdentity, measured_ratio, ratio_identity
from assay.report.values import (
    MEASURED,
    PUBLISHED,
    Number,
    ReportCell,
    ReportTable,
    Row,
    absent,
    judged,
)
from assay.text import units
from assay.workload.workload_record import WorkloadRecord

PUBLISHED_POINT, MEASURED_POINT, RATIO = "published", "measured", "measured ÷ published"
JUDGED = "judged"
OF_MEANS = "measured: geometric means of the repetitions"
"""So that the numbers of a row divide."""
VALUE, SPEED_UP = "value", "speed-up"
PERCENT = "%"
RATIO_UNITS = ("ratio", PERCENT)
"""Of speed-ups and scalability, which are compared across machines."""
_SYSTEM, _STORAGE, _CLIENTS = "system", "storage", "clients"


class MeasuredRatio(Struct, frozen=True):
    identity: RatioIdentity
    interval: ConfidenceInterval
    """As the repetitions give it."""


class PaperPoint(Struct, frozen=True):
    levels: Mapping[str, Scalar]
    """By factor; `VALUE` is the title of its column in the paper."""
    origin: str
    """`PUBLISHED`, or `MEASURED` with the levels that the paper's table has no place for."""
    cell: ReportCell
    ratio: MeasuredRatio | None = None
    """Of a speed-up."""


class ValueColumn(Struct, frozen=True):
    """How a value of the paper is read from our cells."""

    title: str
    aggregate: Aggregate
    has: Callable[[CellRuns], bool]


def printed(published: Published) -> Iterator[PaperPoint]:
    speed_ups = [SPEED_UP, *(f"{SPEED_UP} {name}" for name in published.columns[2:])]
    for row in published.rows:
        levels = {_SYSTEM: row.system, **row.levels}
        for title, value, unit in zip(published.columns, row.values, published.units, strict=False):
            yield PaperPoint({**levels, VALUE: title}, PUBLISHED_POINT, _cell(value, unit))
        for title, value in zip(speed_ups, row.speed_up, strict=False):
            yield PaperPoint({**levels, VALUE: title}, PUBLISHED_POINT, _cell(value, "ratio"))


def _cell(value: float | str, unit: str) -> ReportCell:
    """Text stands for what the paper says in words, and "" for what it does not say."""
    if isinstance(value, str):
        return ReportCell(value) if value else absent("")
    if unit in units.BYTES_PER:
        return ReportCell(f"{value:.10g} {unit}", Number(value * units.BYTES_PER[unit], "bytes"))
    return ReportCell(f"{value:.2f}" if unit == "ratio" else f"{value:.10g}", Number(value, unit))


def systems(
    published: Published, cells: Sequence[CellRuns], workload: WorkloadRecord
) -> dict[str, str]:
    """The label of each system → the name by which it stands in the paper's table: that of its
    system, else of its driver, which no other measured system may have; else the name that the
    paper's other tables have for it; else its own label."""
    names = {row.system.casefold(): row.system for row in published.rows}
    chosen: dict[str, str] = {}
    for place in (0, 1):
        for cell in cells:
            label = cell.system_label
            if label in chosen or place >= len(cell.published_names):
                continue
            name = names.get(cell.published_names[place].casefold())
            if name is not None and name not in chosen.values():
                chosen[label] = name
    tables = (of_record(workload, name) for name in workload.published)
    everywhere = [row.system for table in tables if table for row in table.rows]
    others = {name.casefold(): name for name in everywhere if name not in chosen.values()}
    for cell in cells:
        label = cell.system_label
        if label not in chosen:
            chosen[label] = others.pop(cell.published_names[0].casefold(), label)
    return {cell.system_label: chosen[cell.system_label] for cell in cells}


def measured(
    published: Published,
    cells: Sequence[CellRuns],
    columns: Sequence[ValueColumn],
    names: Mapping[str, str],
) -> Iterator[PaperPoint]:
    """The same numbers as measured, one for each cell and column that belong together."""
    place = placing(published, cells, names)
    for column in columns:
        for cell in filter(column.has, cells):
            levels, origin = place(cell)
            shown = replace(column.aggregate(cell), runs=cell.run_ids)
            yield PaperPoint({**levels, VALUE: column.title}, origin, shown)


def compared(
    published: Published,
    cell_runs: Sequence[CellRuns],
    names: Mapping[str, str],
    key: ReportColumn,
    time_units: Sequence[str],
) -> Iterator[PaperPoint]:
    """The columns are levels of a factor: roles of storages with a speed-up, or numbers of clients
    with a scalability."""
    place = placing(published, cell_runs, names)
    together: dict[tuple[object, ...], list[CellRuns]] = {}
    for cell in cell_runs:
        levels, origin = place(cell)
        together.setdefault((tuple(levels.items()), origin), []).append(cell)
    for cells in together.values():
        levels, origin = place(cells[0])
        if published.column_factor == _CLIENTS:
            yield from _scalability(published, cells, levels, origin, key)
            continue
        of_levels = [
            next((cell for cell in cells if cell.level(published.column_factor) == level), None)
            for level in published.column_levels
        ]
        for title, unit, one in zip(published.columns, time_units, of_levels, strict=True):
            if one is not None:
                value = replace(aggregates.mean(key, unit)(one), runs=one.run_ids)
                yield PaperPoint({**levels, VALUE: title}, origin, value)
        first, *others = [_mean(one, key) for one in of_levels]
        for place_of_other, other in enumerate(others):
            if (shown := aggregates.speed_up(first, other, key)) is not None:
                name = f"{SPEED_UP} {published.columns[place_of_other + 1]}"
                title = name if place_of_other else SPEED_UP
                between = _between(of_levels[0], of_levels[place_of_other + 1], key)
                yield PaperPoint({**levels, VALUE: title}, origin, shown, between)


def _mean(cell: CellRuns | None, key: ReportColumn) -> Number | None:
    return None if cell is None else aggregates.number(cell, key, is_mean=True)


def _between(
    first: CellRuns | None, other: CellRuns | None, key: ReportColumn
) -> MeasuredRatio | None:
    if first is None or other is None:
        return None
    numerator, denominator = (other, first) if key.is_more_better else (first, other)
    values, divided_by = (aggregates.values(one, key) for one in (numerator, denominator))
    if not values or not divided_by or min(*values, *divided_by) <= 0:
        return None
    return MeasuredRatio(
        ratio_identity((numerator, key), (denominator, key)),
        measured_ratio((numerator, key), (denominator, key)),
    )


def _scalability(
    published: Published,
    cells: Sequence[CellRuns],
    levels: Mapping[str, Scalar],
    origin: str,
    key: ReportColumn,
) -> Iterator[PaperPoint]:
    """`assay.report.declared.aggregates.scalability` in percent, of each number of clients
    above the first, which must be 1."""
    by_clients = {int(cell.factors[_CLIENTS]): _mean(cell, key) for cell in cells}
    titles = dict(zip(published.column_levels, published.columns, strict=True))
    alone = by_clients.pop(1, None)
    for clients in sorted(by_clients):
        found = aggregates.scalability(alone, by_clients[clients], key, clients)
        if found is None:
            continue
        number = replace(aggregates.scaled(found, 100), unit=PERCENT)
        title = titles.get(clients, units.counted(clients, "client"))
        yield PaperPoint({**levels, VALUE: title}, origin, judged(f"{number.value:.0f}", number))


Place = Callable[[CellRuns], tuple[dict[str, Scalar], str]]


def placing(published: Published, cells: Sequence[CellRuns], names: Mapping[str, str]) -> Place:
    """Which levels a cell has in the table, and what its row is called."""
    layout = published.layout
    factors = [*layout.rows, *layout.columns] if layout else []
    placed = {*factors, published.column_factor, *([_STORAGE] if _has_storage(published) else [])}
    if published.column_factor == STORAGE_ROLE and cell_runs.roles_are_of_machines(cells):
        placed |= {MACHINE}
    if HARDWARE in factors:
        placed |= {MACHINE}
    others = [name for name in cell_runs.varying(cells) if name not in {*placed, "cache"}]

    def place(cell: CellRuns) -> tuple[dict[str, Scalar], str]:
        levels: dict[str, Scalar] = {}
        for factor in factors:
            level = _hardware(cell) if factor == HARDWARE else cell.level(factor)
            if level is not None:
                levels[factor] = names[cell.system_label] if factor == _SYSTEM else level
        more = [_named(name, cell.level(name)) for name in others]
        return levels, ", ".join([MEASURED_POINT, *filter(None, more)])

    return place


def _hardware(cell: CellRuns) -> Scalar:
    """``solid-state``; of several machines ``big (solid-state)``."""
    machine, storage = cell.level(MACHINE), cell.factors[_STORAGE]
    return storage if machine is None else f"{machine} ({storage})"


def _has_storage(published: Published) -> bool:
    layout = published.layout
    return published.column_factor == STORAGE_ROLE or bool(layout and HARDWARE in layout.rows)


def _named(factor: str, level: Scalar | None) -> str:
    return "" if level is None else str(level) if factor == _STORAGE else f"{factor} {level}"


def ratio(measured_cell: ReportCell, published_cell: ReportCell) -> ReportCell:
    """Of two ratios; what was measured at another size on another machine is not divided."""
    if (
        measured_cell.number is None
        or published_cell.number is None
        or not published_cell.number.value
    ):
        return absent("")
    value = measured_cell.number.value / published_cell.number.value
    return ReportCell(
        units.ratio(value), Number(value, "ratio", judged=measured_cell.number.judged)
    )


_MEASURED, _PUBLISHED = "measured", "published"
_BESIDE = "published and measured"
_TITLE = _BESIDE.capitalize()
_OTHER_MACHINES = "the published numbers are of other machines"


def figures_of_results(tables: Sequence[ReportTable]) -> Iterator[Figure]:
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


def figures_of_paper(
    table: ReportTable, source: str, *, is_scaled: bool = False
) -> Iterator[Figure]:
    """Of a table in the paper's own shape, whose last label says where a row's numbers are from: a
    chart for each group of its columns, and each unit. ``is_scaled``: of ratios alone."""
    origin = table.label_columns - 1
    places = range(table.label_columns, len(table.columns))
    found = groupby(places, key=lambda place: (table.columns[place].group, _unit(table, place)))
    for number, ((group, unit), alike) in enumerate([] if is_scaled else found, 1):
        bars: dict[str, list[Point]] = {_PUBLISHED: [], _MEASURED: []}
        for place, row in product(alike, _measured_rows(table, origin)):
            if (beside := _beside(table, row, origin)) is not None:
                named = _named_bars(table, row, origin, place)
                _add(bars, named, row.cells[place], beside.cells[place])
        title = f"{source}: {_BESIDE}{f', {group}' if group else ''}"
        name = f"{table.name}_published_{number}"
        yield from _charts(name, title, bars, unit, notes=(_OTHER_MACHINES,))
    yield from _ratios(table, origin, f"{source}: {RATIO}")


def _measured_rows(table: ReportTable, origin: int) -> list[Row]:
    return [row for row in table.rows if row.cells[origin].shown.startswith(MEASURED_POINT)]


def _beside(table: ReportTable, row: Row, origin: int) -> Row | None:
    """The published row with the same labels."""
    labels = [cell.shown for cell in row.cells[:origin]]
    return next(
        (
            one
            for one in table.rows
            if one.cells[origin].shown == PUBLISHED_POINT
            and [cell.shown for cell in one.cells[:origin]] == labels
        ),
        None,
    )


def _named_bars(table: ReportTable, row: Row, origin: int, place: int) -> str:
    title = table.columns[place].title.split("\n")[-1]
    apart = row.cells[origin].shown.removeprefix(MEASURED_POINT)
    return ", ".join([title, *_labels(table, row, origin)]) + apart


def figures_of_pairs(table: ReportTable) -> Iterator[Figure]:
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
        if beside is None or row.cells[origin].shown != MEASURED_POINT:
            continue
        if row.cells[place].number is None or beside.cells[place].number is None:
            continue
        has_ratio = after is not None and after.cells[origin].shown == RATIO
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
        if row.cells[origin].shown != RATIO:
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
    axis = Axis(RATIO, Scale.LOG)
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
    if {measured.number.unit, published.number.unit} & {*RATIO_UNITS}:
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
    of_all = {number.unit for number in numbers if number} - {*RATIO_UNITS, "count"}
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
