"""Takes two cells and what is read from each; returns what identifies their ratio, by which a table
finds the claim about it."""

from __future__ import annotations

from msgspec import Struct

from assay.report.cells.cell_runs import CellRuns
from assay.report.declared.aggregates import RunValue

Operand = tuple[tuple[int, ...], str]
"""Numbers of the cell's runs, and what is read from them (`RunValue.identity`)."""


class RatioIdentity(Struct, frozen=True):
    numerator: Operand
    denominator: Operand


def ratio_identity(
    numerator: tuple[CellRuns, RunValue], denominator: tuple[CellRuns, RunValue]
) -> RatioIdentity:
    return RatioIdentity(_operand(*numerator), _operand(*denominator))


def _operand(cell: CellRuns, key: RunValue) -> Operand:
    return cell.run_ids, key.identity
