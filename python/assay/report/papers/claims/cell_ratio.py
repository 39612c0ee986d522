"""Takes two cells and what is read from each; returns their ratio with its interval, and why
nothing is decided by it where that is so.

In blocks of runs, each of which holds one run of each cell (the interleaved and the randomized
order), values of one block are divided by one another, and the interval has what varies between
blocks. Otherwise, and where a repetition was not measured, the cells are independent.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from assay.comparison.ratios import pairs, undecided
from assay.judge.statistics import order
from assay.judge.statistics.estimate import LeastDeviation
from assay.judge.statistics.order import ConfidenceInterval
from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import aggregates
from assay.report.declared.aggregates import RunValue
from assay.report.papers.claims.comparability import OF_SPEED

_LEAST_BLOCKS = 3
"""Two differences hardly say how differences vary: two blocks are judged as independent cells,
whose interval has what varies between the blocks as well, so that it is wide enough."""
Operand = tuple[CellRuns, RunValue]


def measured_ratio(numerator: Operand, denominator: Operand) -> ConfidenceInterval:
    """All of their values are above 0, and each has one at least."""
    cells, keys = (numerator[0], denominator[0]), (numerator[1], denominator[1])
    values, divided_by = (aggregates.values(cell, key) for cell, key in (numerator, denominator))
    return order.ratio(
        values,
        divided_by,
        least_deviation(keys),
        is_paired=_are_in_blocks(cells, keys),
        why_undecided=why_undecided(cells, keys),
    )


def why_undecided(cells: Sequence[CellRuns], keys: Sequence[RunValue]) -> str:
    """Why nothing is decided from these cells by these keys; empty: it may be."""
    if not any(depends_on_machine(key) for key in keys):
        return ""
    different = {cell.run_ids: cell for cell in cells}.values()
    disturbed = undecided.why_undecided(run for cell in different for run in cell.measured)
    is_apart = any(
        undecided.one_after_the_other(one.measured, other.measured)
        for one, other in itertools.combinations(different, 2)
    )
    return disturbed or (undecided.SEQUENTIAL if is_apart else "")


def depends_on_machine(key: RunValue) -> bool:
    """Whether it changes with what else the machine does in the run. The load is no run."""
    return key.unit in OF_SPEED and not key.is_of_load


def least_deviation(keys: Sequence[RunValue]) -> LeastDeviation:
    """Of the coarsest."""
    return lambda value: max(key.least_deviation(value) for key in keys)


def _are_in_blocks(cells: Sequence[CellRuns], keys: Sequence[RunValue]) -> bool:
    if any(key.is_of_load for key in keys):
        return False
    (one, other) = ([(0, run) for run in cell.measured] for cell in cells)
    matched = pairs.interleaved(one, other)
    return matched is not None and _LEAST_BLOCKS <= len(matched) == len(one) == len(other)
