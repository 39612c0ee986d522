"""Takes a chart along clients or along an offered rate; returns what stands below it: from how many
clients on the throughput no longer rises, and which rates were kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from assay.comparison.ratios import offered_rates
from assay.comparison.ratios.knees import Knee
from assay.judge.evidence.offered_rate import OfferedAndReached
from assay.report.cells.cell_runs import CellRuns
from assay.report.figure import Figure


def of_knees(figure: Figure, knees: Sequence[Knee]) -> Iterator[str]:
    """Of each line that has one; ``knee of SYSTEM: throughput no longer rises from 8 clients
    on``."""
    for line in figure.series:
        runs = {run for point in line.points for run in point.runs}
        of = f" of {line.name}" if len(figure.series) > 1 else ""
        yield from (f"knee{of}: throughput {one.words}" for one in knees if runs & one.runs)


Kept = Callable[[CellRuns], OfferedAndReached | None]
"""None in a closed loop."""


def kept(cell: CellRuns) -> OfferedAndReached | None:
    """Where no rate is searched."""
    return offered_rates.of_runs(cell.measured)


def of_rates(figure: Figure, cells: Sequence[CellRuns], kept: Kept) -> Iterator[str]:
    """Of each line; ``SYSTEM: kept up to 1000/s, not at 2000/s (1230/s reached)``."""
    by_runs = {cell.run_ids: kept(cell) for cell in cells}
    lines = [line for line in figure.series if not line.is_reference]
    for line in lines:
        rates = [rate for point in line.points if (rate := by_runs.get(point.runs)) is not None]
        if words := offered_rates.said(rates):
            yield f"{line.name}: {words}" if len(lines) > 1 else words
