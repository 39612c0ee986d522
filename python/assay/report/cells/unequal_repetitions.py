"""Takes the cells of a test; returns the notes that say where the repetitions of a cell have other
percentiles than each other: one of them, and the median of all, are then far apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.report.cells import cell_runs, percentiles
from assay.report.cells.cell_runs import CellRuns
from assay.report.values import ReportCell
from assay.text import units

_NAMES = ("p99", "p50")
"""The first of which every repetition has enough samples."""
_FAR = 1.5
"""How many times the least the greatest is where it is said."""
_CELLS_NAMED, _RUNS_NAMED = 3, 5


def notes(cells: Sequence[CellRuns], unit: str) -> Iterator[str]:
    """``repetitions far apart: here, 1 client: p99 of run 1 0.0702 ms, run 2 1.76 ms``; of
    several cells those that stand first."""
    said = [words for cell in cells if (words := _of_cell(cell, unit))]
    for words in said[:_CELLS_NAMED]:
        yield f"repetitions far apart: {words}"
    if len(said) > _CELLS_NAMED:
        yield f"repetitions far apart: {len(said) - _CELLS_NAMED} more cells"


def _of_cell(cell: CellRuns, unit: str) -> str:
    """Empty where they are close to each other, or have too few samples."""
    runs = cell_runs.measured_runs(cell)
    for name in _NAMES:
        shown = [
            percentiles.cell(
                run.driven.of_clients.all_ok.latency, name, unit, run.driven.resolution
            )
            for run in runs
        ]
        values = [one.number.value for one in shown if one.number is not None]
        if len(values) < max(2, len(shown)):
            continue
        if max(values) < _FAR * min(values):
            return ""
        named = ", ".join(
            f"run {run.run.id} {_with_unit(one, unit)}"
            for run, one in zip(runs[:_RUNS_NAMED], shown, strict=False)
        )
        more = f" and {len(runs) - _RUNS_NAMED} more" if len(runs) > _RUNS_NAMED else ""
        return f"{cell.name}: {name} of {named}{more}"
    return ""


def _with_unit(shown: ReportCell, unit: str) -> str:
    number = shown.number
    assert number is not None, "compared above"
    return units.time_with_unit(number.value, unit, resolution_ns=number.resolution or 0)
