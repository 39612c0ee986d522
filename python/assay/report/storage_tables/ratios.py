"""Takes the cells of a test; returns the throughput of each storage divided by that of the first
one, everything else being equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from assay.judge.warnings.steadiness import why_not_steady
from assay.report.cells import by_cell, cell_runs, durability
from assay.report.cells.cell_runs import STORAGE, CellRuns
from assay.report.columns import numbers, words
from assay.report.declared import aggregates
from assay.report.declared.declaration import Declaration
from assay.report.values import ReportCell, Section, absent
from assay.text import units


def section(test: str, declared: Declaration | None, cells: Sequence[CellRuns]) -> Section | None:
    """None where no two storages are compared, or the table of results has their ratios."""
    if declared and (declared.fields or (declared.has_speed_up and declared.columns == STORAGE)):
        return None
    pairs = list(_pairs(cells))
    if not pairs:
        return None
    factors = [name for name in cell_runs.varying(cells, "system", "clients") if name != STORAGE]
    has_range = any(len(cell.runs) > 1 for cell in cells)
    shown = (
        words(STORAGE, lambda pair: pair[1].factors[STORAGE], is_label=True),
        words("divided by", lambda pair: pair[0].factors[STORAGE], is_label=True),
        numbers("TPS ratio", lambda pair: _ratio(*pair)[0]),
        numbers("min-max", lambda pair: _ratio(*pair)[1]),
    )
    table = by_cell.table(
        f"{test}_storage_ratios",
        "Throughput of each storage, divided by that of the first",
        (cells, factors),
        shown if has_range else shown[:-1],
        [(pair[1], pair) for pair in pairs],
        notes=(
            f"the first: the storage that was asked for first{durability.among_the_same(cells)}"
            + ("; min-max: the least and greatest that the repetitions allow" if has_range else ""),
            *durability.of_divided([one for pair in pairs for one in pair]),
        ),
    )
    return Section("Storages compared", (), (table,))


def _pairs(cells: Sequence[CellRuns]) -> Iterator[tuple[CellRuns, CellRuns]]:
    """The cell of the first storage, and each other one that differs from it in the storage alone;
    of those that were measured."""
    firsts: dict[object, CellRuns] = {}
    for cell in cells:
        if aggregates.number(cell, aggregates.THROUGHPUT) is None:
            continue
        first = firsts.setdefault(cell.without(STORAGE), cell)
        if first is not cell:
            yield first, cell


def _ratio(first: CellRuns, other: CellRuns) -> tuple[ReportCell, ReportCell]:
    runs = (*first.measured, *other.measured)
    if why := why_not_steady(warning for run in runs for warning in run.warnings):
        return absent("-", note=f"no ratio: {why}"), absent("")
    made = aggregates.ratio(
        aggregates.number(other, aggregates.THROUGHPUT),
        aggregates.number(first, aggregates.THROUGHPUT),
    )
    if made is None or made.number is None:
        return absent("-"), absent("")
    number = made.number
    shown = replace(made, shown=units.digits(number.value, 3))
    if number.low is None or number.high is None:
        return shown, absent("")
    return shown, ReportCell(f"{units.digits(number.low, 3)}-{units.digits(number.high, 3)}")
