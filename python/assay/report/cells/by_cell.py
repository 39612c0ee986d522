"""Takes the cells of a test, columns, and what is shown of each cell; returns a table whose rows
begin with the levels of their cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from assay.record import Run
from assay.report import columns
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.values import ReportColumn, ReportTable

WHAT = itemgetter(1)
"""Of a row's source, which is a pair: beside the cell, what its columns read."""


def table(
    name: str,
    title: str,
    labels: tuple[Sequence[CellRuns], Sequence[str]],
    shown: Iterable[ReportColumn],
    sources: Iterable[tuple[CellRuns, Any]],
    *,
    run: Callable[[Any], Run] | None = None,
    before: Sequence[ReportColumn] = (),
    **others: Any,
) -> ReportTable:
    """``labels``: all cells of the test, and the factors that label its rows. ``run``: of what is
    shown, where a row is about one run. ``before``: columns that stand before the levels.
    ``others``: notes and the like, as `ReportTable` has them."""
    every = (
        *columns.of(WHAT, before),
        *cell_runs.label_columns(*labels, run),
        *columns.of(WHAT, shown),
    )
    return columns.table(name, title, every, sources, **others)
