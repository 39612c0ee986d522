"""Takes the cells of one or several tests; returns a pivot table: a row for each combination of
levels of some factors, and a column for each value.

Every table of results is a pivot. They differ in the factors that label the rows, the cells of a
column (a level of another factor, another test), the value that it shows (its key), and how several
runs are combined (its aggregate: `assay.report.declared.aggregates`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from assay.experiment import Scalar
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.values import MEASURED, ReportCell, ReportColumn, Row, absent

NOT_ASKED = absent("not asked")

Aggregate = Callable[[CellRuns], ReportCell]
"""Combines the runs of a cell into one table cell."""


def value_column(
    title: str,
    aggregate: Aggregate,
    where: Mapping[str, Scalar] = MappingProxyType({}),
    unit: str = "",
) -> ReportColumn:
    """``where``: levels that a cell must have in addition to those of the row."""
    return ReportColumn(
        title, is_number=True, unit=unit, role=MEASURED, cell=aggregate, where=dict(where)
    )


class PivotRow(Struct, frozen=True):
    levels: Mapping[str, Scalar | None]
    """Levels of the factors that label it."""
    cells: tuple[CellRuns | None, ...]
    """The cell of each column; None where the experiment has no such cell."""
    shown: tuple[ReportCell, ...]


def pivot_rows(
    cells: Sequence[CellRuns],
    rows: Sequence[str],
    columns: Sequence[ReportColumn],
    ordered: Sequence[str] = (),
) -> list[PivotRow]:
    """A row for each combination of levels that has a cell, ordered by the levels of ``ordered``,
    then as they were run."""
    made = []
    by_levels: dict[tuple[Scalar | None, ...], list[CellRuns]] = {}
    for cell in cells:
        by_levels.setdefault(tuple(cell.level(name) for name in rows), []).append(cell)
    for levels in _combinations(by_levels, cells, rows, ordered):
        in_row = by_levels[tuple(levels.values())]
        of_columns = tuple(
            next((cell for cell in in_row if _has(cell, column.where)), None) for column in columns
        )
        if any(of_columns):
            shown = tuple(
                NOT_ASKED if cell is None else replace(column.shown(cell), runs=cell.run_ids)
                for cell, column in zip(of_columns, columns, strict=True)
            )
            made.append(PivotRow(levels, of_columns, shown))
    return made


def table_row(
    row: PivotRow,
    labels: Sequence[str],
    blocks: Sequence[str] = (),
    beside: Sequence[ReportCell] = (),
) -> Row:
    """The row of a table; ``beside``: further cells after those of the pivot."""
    named = {name: level for name, level in row.levels.items() if level is not None}
    return Row(
        (
            *(cell_runs.label(named[name]) if name in named else absent("") for name in labels),
            *row.shown,
            *beside,
        ),
        {name: named[name] for name in blocks if name in named},
    )


def _combinations(
    there: Iterable[tuple[Scalar | None, ...]],
    cells: Sequence[CellRuns],
    rows: Sequence[str],
    ordered: Sequence[str],
) -> list[dict[str, Scalar | None]]:
    """``there``: the levels of each row; a factor that a cell does not have is None."""
    places = {
        name: {level: place for place, level in enumerate(cell_runs.levels(cells, name))}
        for name in ordered
    }
    combinations = [dict(zip(rows, levels, strict=True)) for levels in there]

    def order(levels: Mapping[str, Scalar | None]) -> list[int]:
        return [
            places[name][level] if (level := levels[name]) is not None else len(places[name])
            for name in ordered
        ]

    return sorted(combinations, key=order)


def _has(cell: CellRuns, levels: Mapping[str, Scalar | None]) -> bool:
    return all(cell.level(name) == level for name, level in levels.items())
