"""Takes a published table, and the workload that has it; returns which of our cells stand in each
of its columns, and what is read from them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from assay.contracts.recorded import WorkloadRecord
from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import aggregates, declaration, series
from assay.report.declared.aggregates import RunValue
from assay.report.declared.published import ColumnCells, Published
from assay.report.declared.selection import Levels, Quantity
from assay.report.values import Number
from assay.text import units


class PublishedColumn(Struct, frozen=True):
    """A column of the paper's table, and our cells for it."""

    title: str
    unit: str
    test: str
    levels: Levels
    quantity: Quantity
    key: RunValue
    independent_of: tuple[str, ...] = ()
    """Parameters of the test on which it does not depend."""

    @property
    def units(self) -> tuple[str, ...]:
        """Those in which the paper may have what we measure; empty: in any words."""
        return units.readable(self.key.unit)

    def number(self, cell: CellRuns) -> Number | None:
        """Our number in the paper's unit; None also where it cannot be read in that unit."""
        found = aggregates.number(cell, self.key, is_mean=True)
        if found is None:
            return None
        value = units.converted(found.value, found.unit, self.unit)
        if value is None:
            return None
        return Number(value, self.unit, found.n, judged=found.judged)


def of_table(
    workload: WorkloadRecord, name: str, published: Published
) -> tuple[PublishedColumn, ...]:
    """Of the table of that test or series; empty: the report of the test has no such columns."""
    found = zip(published.columns, published.units, _own(workload, name, published), strict=False)
    return tuple(_column(workload, name, *one) for one in found)


def _own(workload: WorkloadRecord, name: str, published: Published) -> Sequence[ColumnCells]:
    """Of each column."""
    if published.measured:
        return published.measured
    for joined in series.of_record(workload):
        if joined.name == name:
            return [
                ColumnCells(
                    one.test,
                    {"cache": one.cache} if one.cache else {},
                    Quantity(one.value) if one.value else Quantity(keys=(one.key,)),
                    one.independent_of,
                )
                for one in joined.columns
            ]
    declared = declaration.of_record(workload, name)
    if declared and declared.fields:
        return []
    factor = declared.columns if declared else "storage"
    return [ColumnCells(levels={factor: title}) for title in published.columns]


def _column(
    workload: WorkloadRecord, name: str, title: str, unit: str, own: ColumnCells
) -> PublishedColumn:
    test = own.test or name
    key = own.quantity.key(workload, test)
    levels: Levels = {"test": test, **own.levels}
    return PublishedColumn(title, unit, test, levels, own.quantity, key, own.independent_of)
