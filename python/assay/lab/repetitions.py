"""Takes an experiment and how its runs end; says which of the planned runs are not needed any more,
which are measured again, and adds runs to its plan."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from msgspec import Struct, field

from assay.experiment import Experiment
from assay.judge.statistics.samples import is_precise
from assay.lab.run_context.context import Context
from assay.plan import PlannedRun, layout
from assay.plan.fingerprint import Content
from assay.text.units import short_duration


class Repetition(NamedTuple):
    """A run that has ended."""

    number: float | None
    """The one whose mean has to be precise; None: it was not measured to its end."""
    elapsed_s: float
    """From its beginning to its end, with provision and load."""
    driven_s: float
    """From the first step behind the load on: what a further repetition takes at least."""
    is_disturbed: bool = False
    """Whether other programs used so much of the machine that nothing is decided from it."""


class _Cell(Struct):
    least: int
    left: dict[int, PlannedRun]
    """Those that have not ended and are needed, by position."""
    numbers: dict[int, float | None] = field(default_factory=dict)
    """Of each repetition that has ended, what its last run gave."""
    again: int = 0
    """Runs that were measured in the place of others."""
    next_s: float = 0.0
    """How long another repetition is expected to take: as the last one; after the first, which also
    provisions and loads, as that from there on."""


class Repeating:
    """The runs of an experiment, as far as they are still needed."""

    def __init__(
        self,
        experiment: Experiment,
        runs: Sequence[PlannedRun],
        read: Callable[[int], Repetition],
        spare: Callable[[Sequence[PlannedRun]], None],
        in_place_of: Callable[[PlannedRun], PlannedRun] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``runs``: all that may be executed, and those that have ended before. ``read``: what the
        run at a position, which has ended, gave. ``spare``: gets runs that are not needed.
        ``in_place_of``: gives a further run in the place of a disturbed one; None: none is measured
        again."""
        self._asked = experiment
        self._in_place_of = in_place_of
        self._read, self._on_spared, self._clock = read, spare, clock
        self._begun_s = clock()
        self._earlier_s = self._longest_s = 0.0
        self._cells: dict[str, _Cell] = {}
        self._spared: set[int] = set()
        for run in runs:
            least = experiment.for_test(run.cell.test).least_repetitions
            cell = self._cells.setdefault(run.cell.fingerprint, _Cell(least, {}))
            cell.left[run.position] = run
        self._not_begun = len(self._cells)

    def needed(
        self, runs: Sequence[PlannedRun], earlier: Collection[PlannedRun] = ()
    ) -> Iterator[PlannedRun]:
        """Those of ``runs`` that are needed, each given after the one before has ended.
        ``earlier``: runs that ended in a process before."""
        for run in earlier:
            self._ended(run)
            self._earlier_s += self._read(run.position).elapsed_s
        if earlier:  # the process before may have ended when one was to be measured again
            yield from self._again(_last_attempt(earlier))
        for cell in self._cells.values():
            self._spare(self._enough(cell))
        for run in runs:
            self._spare(self._beyond_budget(run))
            if run.position in self._spared:
                continue
            yield run
            self._ended(run)
            yield from self._again(run)
            self._spare(self._enough(self._cells[run.cell.fingerprint]))

    def is_certain(self, run: PlannedRun) -> bool:
        """Whether it takes place in any case, if it is not spared."""
        return run.repetition <= self._cells[run.cell.fingerprint].least

    def _again(self, run: PlannedRun) -> Iterator[PlannedRun]:
        """In the place of this run, which has ended."""
        cell, budget_s = self._cells[run.cell.fingerprint], self._asked.budget_s
        while self._in_place_of is not None and cell.again < len(cell.numbers):
            is_late = budget_s is not None and self._passed_s + cell.next_s > budget_s
            if is_late or not self._read(run.position).is_disturbed:
                return
            run = self._in_place_of(run)
            yield run
            self._ended(run)

    def _ended(self, run: PlannedRun) -> None:
        found = self._read(run.position)
        cell = self._cells[run.cell.fingerprint]
        cell.left.pop(run.position, None)
        self._not_begun -= not cell.numbers
        cell.next_s = found.elapsed_s if cell.numbers else found.driven_s
        cell.again += run.in_place_of is not None
        cell.numbers[run.of_repetition] = found.number
        self._longest_s = max(self._longest_s, found.elapsed_s)

    def _enough(self, cell: _Cell) -> list[PlannedRun]:
        """What is left of the cell, if it has ended."""
        return [*cell.left.values()] if self._is_enough(cell) else []

    def _beyond_budget(self, following: PlannedRun) -> list[PlannedRun]:
        """All but the first run of each cell, where ``following`` would end later than the budget;
        time is kept for cells that have not been run at all."""
        budget_s, cell = self._asked.budget_s, self._cells[following.cell.fingerprint]
        if budget_s is None or not cell.numbers or following.position in self._spared:
            return []
        if self._passed_s + cell.next_s + self._not_begun * self._longest_s <= budget_s:
            return []
        return [
            run
            for one in self._cells.values()
            for run in itertools.islice(one.left.values(), 0 if one.numbers else 1, None)
        ]

    def too_short_budget(self) -> str:
        """What is to be said where the budget did not even allow each cell its first run."""
        budget_s, passed_s = self._asked.budget_s, self._passed_s
        if budget_s is None or passed_s <= budget_s:
            return ""
        if any(len(cell.numbers) > 1 for cell in self._cells.values()):
            return ""
        return (
            f"the budget of {short_duration(budget_s)} was too short: to run each cell once took "
            f"{short_duration(passed_s)}"
        )

    @property
    def _passed_s(self) -> float:
        return self._earlier_s + self._clock() - self._begun_s

    def _is_enough(self, cell: _Cell) -> bool:
        numbers = [number for number in cell.numbers.values() if number is not None]
        if not self._asked.is_repeated_as_needed or len(cell.numbers) < cell.least:
            return False
        if len(numbers) < len(cell.numbers):
            return True
        precision = self._asked.precision
        return precision is not None and is_precise(numbers, precision)

    def _spare(self, runs: Sequence[PlannedRun]) -> None:
        found = [run for run in runs if run.position not in self._spared]
        if found:
            self._spared.update(run.position for run in found)
            for run in found:
                self._cells[run.cell.fingerprint].left.pop(run.position, None)
            self._on_spared(found)


def _last_attempt(ended: Collection[PlannedRun]) -> PlannedRun:
    """The last run of the repetition that was the last one, by the order of the plan."""
    last = max((run for run in ended if run.in_place_of is None), key=lambda run: run.position)
    attempts = (
        run
        for run in ended
        if run.cell.fingerprint == last.cell.fingerprint and run.in_place_of == last.repetition
    )
    return max(attempts, key=lambda run: run.repetition, default=last)


class AddedRuns:
    """Those of one experiment."""

    def __init__(
        self, context: Context, content: Content, seed: int, runs: Iterable[PlannedRun]
    ) -> None:
        """``seed``: of the experiment; ``runs``: all that it has, those that an earlier process
        added too."""
        self._context, self._content, self._seed = context, content, seed
        self._last: dict[str, int] = {}
        """Fingerprint of a cell → its last repetition."""
        for run in runs:
            self._know(run)

    def further(self, run: PlannedRun) -> PlannedRun:
        """Another repetition of the cell of this run."""
        return self._add(
            run, lambda repetition, at: layout.further(run, self._seed, repetition, at)
        )

    def in_place_of(self, run: PlannedRun) -> PlannedRun:
        """The same repetition once more, as other programs disturbed this run."""
        return self._add(run, lambda repetition, at: layout.in_place(run, repetition, at))

    def _add(self, run: PlannedRun, made: Callable[[int, int], PlannedRun]) -> PlannedRun:
        repetition = self._last[run.cell.fingerprint] + 1

        def planned(position: int) -> PlannedRun:
            found = made(repetition, position)
            return replace(found, content=self._content.of_run(found))

        found = self._context.store.plan_again(planned)
        self._know(found)
        self._context.known.cells.add(found)
        self._context.pool.add(found)
        return found

    def _know(self, run: PlannedRun) -> None:
        cell = run.cell.fingerprint
        self._last[cell] = max(self._last.get(cell, 0), run.repetition)
