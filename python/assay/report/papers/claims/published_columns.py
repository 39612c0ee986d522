"""Takes a published table, and the workload that has it; returns which of our cells stand in each
of its columns, and what is read from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import aggregates, declaration, selection, series
from assay.report.declared.aggregates import Key
from assay.report.declared.published import Published
from assay.report.declared.selection import Quantity
from assay.report.values import Number
from assay.text import units

_INDEPENDENT_OF = "independent_of"


@dataclass(frozen=True)
class PublishedColumn:
    """A column of the paper's table, and our cells for it."""

    title: str
    unit: str
    test: str
    levels: Mapping[str, Any]
    quantity: Quantity
    key: Key
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
    workload: Mapping[str, Any], name: str, published: Published
) -> tuple[PublishedColumn, ...]:
    """Of the table of that test or series; empty: the report of the test has no such columns."""
    found = zip(published.columns, published.units, _own(workload, name, published), strict=False)
    return tuple(_column(workload, name, *one) for one in found)


def _own(workload: Mapping[str, Any], name: str, published: Published) -> list[Mapping[str, Any]]:
    """Levels and quantity of our cells for each column."""
    if published.measured:
        return list(published.measured)
    for joined in series.of_record(workload):
        if joined.name == name:
            return [
                {
                    "test": one.test,
                    **({"value": one.value} if one.value else {"key": one.key}),
                    _INDEPENDENT_OF: one.independent_of,
                    **({"cache": one.cache} if one.cache else {}),
                }
                for one in joined.columns
            ]
    declared = declaration.of_record(workload, name)
    if declared and declared.fields:
        return []
    factor = declared.columns if declared else "storage"
    return [{factor: title} for title in published.columns]


def _column(
    workload: Mapping[str, Any], name: str, title: str, unit: str, own: Mapping[str, Any]
) -> PublishedColumn:
    keys = own.get("key", ())
    quantity = Quantity(
        str(own.get("value", "")),
        (keys,) if isinstance(keys, str) else tuple(keys),
        str(own.get("per", "")),
    )
    levels = {key: one for key, one in own.items() if key not in selection.QUANTITY}
    test = str(levels.pop("test", name))
    independent_of = tuple(levels.pop(_INDEPENDENT_OF, ()))
    key = quantity.key(workload, test)
    return PublishedColumn(
        title, unit, test, {"test": test, **levels}, quantity, key, independent_of
    )
