"""Takes a claim about a growth and a cell that it is judged on; returns the paper's own values as a
curve: the value at any size between its least and its greatest."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from assay.contracts.recorded import WorkloadRecord
from assay.report.cells.cell_runs import STORAGE_ROLE, CellRuns
from assay.report.declared import published
from assay.report.declared.aggregates import RunValue
from assay.report.declared.published import Published
from assay.report.papers.claims import published_columns
from assay.report.papers.claims.claims import Claim
from assay.report.papers.claims.published_columns import PublishedColumn


class PublishedCurve(Struct, frozen=True):
    """Sizes and values, both ascending in size and above 0, of two sizes at least."""

    sizes: tuple[float, ...]
    values: tuple[float, ...]

    def has(self, size: float) -> bool:
        """Whether the paper's values reach over that size."""
        return self.sizes[0] <= size <= self.sizes[-1]

    def value(self, size: float) -> float:
        """At a size that it reaches over; between two printed ones on the straight line of their
        logarithms."""
        place = min(max(bisect.bisect_right(self.sizes, size), 1), len(self.sizes) - 1)
        (size_before, size_after), (before, after) = (
            of[place - 1 : place + 1] for of in (self.sizes, self.values)
        )
        share = math.log(size / size_before) / math.log(size_after / size_before)
        return before * math.exp(share * math.log(after / before))


def curve(
    workload: WorkloadRecord, claim: Claim, key: RunValue, cell: CellRuns
) -> PublishedCurve | None:
    """Of the storage that the cell is on, where the paper has several; None: the paper
    printed fewer than two such values."""
    for name in workload.get("published", {}):
        table = published.of_record(workload, name)
        assert table is not None
        columns = published_columns.of_table(workload, name, table)
        points = dict(_points(table, columns, claim, key, cell))
        if len(points) > 1:
            sizes = sorted(points)
            return PublishedCurve(tuple(sizes), tuple(points[size] for size in sizes))
    return None


def _points(
    table: Published,
    columns: Sequence[PublishedColumn],
    claim: Claim,
    key: RunValue,
    cell: CellRuns,
) -> Iterator[tuple[float, float]]:
    """Size and value. The unit of the paper does not matter to how they grow."""
    wanted = claim.terms[0].levels
    for row in table.rows:
        if not table.any_system and not _has_system(wanted.get("system"), row.system):
            continue
        for place, (column, value) in enumerate(zip(columns, row.values, strict=False)):
            levels = {**row.levels, **column.levels}
            if table.column_factor:
                levels[table.column_factor] = table.column_levels[place]
            is_of_storage = levels.get(STORAGE_ROLE) in (None, cell.level(STORAGE_ROLE))
            is_same = column.test == claim.terms[0].test and column.key.identity == key.identity
            size = levels.get(claim.growth)
            if not isinstance(size, int | float) or not isinstance(value, int | float):
                continue
            if is_same and is_of_storage:
                yield float(size), float(value)


def _has_system(wanted: object, printed: str) -> bool:
    several = wanted if isinstance(wanted, list | tuple) else (wanted,)
    return wanted is None or printed.casefold() in [str(one).casefold() for one in several]
