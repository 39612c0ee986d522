"""Takes the cells of a test; returns them in panels, so that the lines of a chart are few enough
to be distinguished."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assay.experiment import Scalar
from assay.plan import cell_names
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns

MOST_SERIES = 6
"""Lines or colours in a chart."""
MOST_PANELS = 12
"""Charts of one kind in a test; the tables have the others."""


class Panel(NamedTuple):
    title: str
    """The levels that its cells share; empty: there is one panel."""
    series: tuple[tuple[str, tuple[CellRuns, ...]], ...]
    """(name, cells) of each line."""


class Panels(NamedTuple):
    shown: tuple[Panel, ...]
    left_out: int

    def notes(self, panel: Panel) -> tuple[str, ...]:
        """Of the last one: how many are not shown."""
        if not self.left_out or panel is not self.shown[-1]:
            return ()
        return (f"{self.left_out} more charts of this kind are left out; the tables have all",)


def panels(measured_cells: Sequence[CellRuns], prefer: str, without: Iterable[str] = ()) -> Panels:
    """Each level of the factor ``prefer`` is a line, and each combination of the other factors a
    panel; where all combinations are few, they are lines of one panel. ``without``: factors along
    which a line runs."""
    along = set(without)
    varying = [name for name in cell_runs.varying(measured_cells) if name not in along]
    every = _grouped(measured_cells, varying)
    if len(every) <= (MOST_SERIES if prefer not in varying else 3):
        return Panels((Panel("", _named(every, varying)),), 0)
    lines = [prefer] if prefer in varying else varying[:1]
    apart = [name for name in varying if name not in lines]
    shown: list[Panel] = []
    for levels, cells in _grouped(measured_cells, apart).items():
        series = _named(_grouped(cells, lines), lines)
        title = _name(levels, apart)
        shown += [
            Panel(title, series[at : at + MOST_SERIES]) for at in range(0, len(series), MOST_SERIES)
        ]
    return Panels(tuple(shown[:MOST_PANELS]), max(0, len(shown) - MOST_PANELS))


def _grouped(
    cells: Iterable[CellRuns], factors: Sequence[str]
) -> dict[tuple[Scalar | None, ...], list[CellRuns]]:
    groups: dict[tuple[Scalar | None, ...], list[CellRuns]] = {}
    for cell in cells:
        groups.setdefault(tuple(map(cell.level, factors)), []).append(cell)
    return groups


def _named(
    groups: dict[tuple[Scalar | None, ...], list[CellRuns]], factors: Sequence[str]
) -> tuple[tuple[str, tuple[CellRuns, ...]], ...]:
    return tuple(
        (_name(levels, factors) or str(cells[0].factors["system"]), tuple(cells))
        for levels, cells in groups.items()
    )


def _name(levels: Sequence[Scalar | None], factors: Sequence[str]) -> str:
    return ", ".join(
        cell_names.level_name(name, level)
        for name, level in zip(factors, levels, strict=True)
        if level is not None
    )
