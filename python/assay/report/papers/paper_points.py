"""Takes a published table and the cells that were measured for it; returns both as points, each a
number with the levels that place it in the paper's own table
(`assay.report.papers.paper_table`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.recorded import WorkloadRecord
from assay.experiment import Scalar
from assay.judge.statistics.order import ConfidenceInterval
from assay.plan.cell_names import MACHINE
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import STORAGE_ROLE, CellRuns
from assay.report.cells.pivot import Aggregate
from assay.report.declared import aggregates
from assay.report.declared.published import HARDWARE, Published, of_record
from assay.report.papers.claims.cell_ratio import measured_ratio
from assay.report.papers.claims.ratio_identity import RatioIdentity, ratio_identity
from assay.report.values import Number, ReportCell, absent, judged
from assay.text import units

PUBLISHED, MEASURED, RATIO = "published", "measured", "measured ÷ published"
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
    """The numbers as they were published."""
    speed_ups = [SPEED_UP, *(f"{SPEED_UP} {name}" for name in published.columns[2:])]
    for row in published.rows:
        levels = {_SYSTEM: row.system, **row.levels}
        for title, value, unit in zip(published.columns, row.values, published.units, strict=False):
            yield PaperPoint({**levels, VALUE: title}, PUBLISHED, _cell(value, unit))
        for title, value in zip(speed_ups, row.speed_up, strict=False):
            yield PaperPoint({**levels, VALUE: title}, PUBLISHED, _cell(value, "ratio"))


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
    tables = (of_record(workload, name) for name in workload.get("published", {}))
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
    key: aggregates.RunValue,
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


def _mean(cell: CellRuns | None, key: aggregates.RunValue) -> Number | None:
    return None if cell is None else aggregates.number(cell, key, is_mean=True)


def _between(
    first: CellRuns | None, other: CellRuns | None, key: aggregates.RunValue
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
    key: aggregates.RunValue,
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
        return levels, ", ".join([MEASURED, *filter(None, more)])

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
