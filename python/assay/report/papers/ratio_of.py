"""Takes two cells and what is read from each; returns what identifies their ratio, by which a table
finds the claim about it."""

from __future__ import annotations

from dataclasses import dataclass

from assay.report.cells.aggregates import Key
from assay.report.cells.cell_runs import CellRuns

Side = tuple[tuple[int, ...], str]
"""Numbers of the cell's runs, and the name of what is read from them."""


@dataclass(frozen=True)
class RatioOf:
    """One value above the line, the other below it."""

    above: Side
    below: Side


def ratio_of(above: tuple[CellRuns, Key], below: tuple[CellRuns, Key]) -> RatioOf:
    return RatioOf(_side(*above), _side(*below))


def _side(cell: CellRuns, key: Key) -> Side:
    return cell.run_ids, key.name
