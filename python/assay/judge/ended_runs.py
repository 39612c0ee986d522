"""Runs that have ended, as they are judged with others: by their cell, by the goal of their
experiment, by metrics. They are kept in memory until their cell is complete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from assay.judge.agreement import Dispute
from assay.judge.run import Run, Verdict
from assay.judge.verdict import CellVerdict, of_cell
from assay.plan import PlannedRun

Judged = Mapping[str, CellVerdict]
"""Fingerprint of a cell → its verdict."""


class _Cell(Struct):
    left: set[int] = field(default_factory=set)
    """Positions of the repetitions that have not ended."""
    ended: dict[int, Run] = field(default_factory=dict)
    """Number of the repetition → that."""

    def verdict(self) -> CellVerdict | None:
        """None while a repetition is left."""
        if self.left or not self.ended:
            return None
        runs = [self.ended[repetition] for repetition in sorted(self.ended)]
        return of_cell(runs)


class Cells:
    """The cells of one experiment."""

    def __init__(self, runs: Iterable[PlannedRun] = ()) -> None:
        """``runs``: all of the plan, those that are executed at another time too."""
        self._runs: dict[int, PlannedRun] = {}
        self._cells: dict[str, _Cell] = {}
        for run in runs:
            self.add(run)

    def run(self, position: int) -> Run:
        """That at the position, which has ended."""
        return self._cell(position).ended[self._runs[position].repetition]

    def add(self, run: PlannedRun) -> None:
        """One that the plan did not have: its cell is complete when it has ended."""
        self._runs[run.position] = run
        self._cell(run.position).left.add(run.position)

    def ended(self, position: int, run: Run) -> Judged:
        """Keeps it; the verdict of its cell, if that is complete."""
        cell = self._cell(position)
        cell.left.discard(position)
        cell.ended[self._runs[position].repetition] = run
        return self.judged([self._runs[position].cell.fingerprint])

    def disputed(self, position: int, dispute: Dispute) -> tuple[Verdict, Judged]:
        """Another run was answered otherwise than this one, which has ended: its verdict now, and
        that of its cell."""
        run = self.run(position)
        said = dispute.reason_of(run.judged.word, run.judged.reason)
        verdict = Verdict.of_record("invalid", said)
        checks = tuple(map(dispute.of_check, run.checks))
        words = {"verdict": verdict.word, "verdict_reason": verdict.reason}
        disputed = replace(run, checks=checks, **words)
        return verdict, self.ended(position, disputed)

    def spared(self, runs: Iterable[PlannedRun]) -> Judged:
        """These will not be executed; the verdicts of cells that are complete by that."""
        fingerprints: dict[str, None] = {}
        for run in runs:
            self._cell(run.position).left.discard(run.position)
            fingerprints[run.cell.fingerprint] = None
        return self.judged(fingerprints)

    def judged(self, fingerprints: Iterable[str]) -> Judged:
        """The verdicts of those of these cells that are complete."""
        cells = ((one, self._cells[one]) for one in fingerprints if one in self._cells)
        verdicts = ((one, cell.verdict()) for one, cell in cells)
        return {one: verdict for one, verdict in verdicts if verdict is not None}

    def _cell(self, position: int) -> _Cell:
        return self._cells.setdefault(self._runs[position].cell.fingerprint, _Cell())
