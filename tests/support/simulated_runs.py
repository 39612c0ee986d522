"""The runs of a plan and those that are added to it, as `assay.lab.repetitions` adds them,
without a record."""

from __future__ import annotations

from collections.abc import Iterable

from assay.plan import PlannedRun, layout


class SimulatedRuns:
    def __init__(self, runs: Iterable[PlannedRun]) -> None:
        self.runs = {run.position: run for run in runs}

    def further(self, run: PlannedRun) -> PlannedRun:
        return self._kept(layout.further(run, 1, self._repetition(run), self._position))

    def in_place_of(self, run: PlannedRun) -> PlannedRun:
        return self._kept(layout.in_place(run, self._repetition(run), self._position))

    @property
    def _position(self) -> int:
        return 1 + max(self.runs)

    def _repetition(self, run: PlannedRun) -> int:
        of_cell = (one for one in self.runs.values() if one.cell == run.cell)
        return 1 + max(one.repetition for one in of_cell)

    def _kept(self, run: PlannedRun) -> PlannedRun:
        self.runs[run.position] = run
        return run
