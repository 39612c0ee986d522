"""Takes planned runs and what runs of their cells took; returns how long they take together, and
whether all of it is known."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from assay.contracts.events import TimeNeeded
from assay.plan import PlannedRun


class CellTimes(NamedTuple):
    """Seconds that the runs of one cell took, on average; None: it has had no such run."""

    first_s: float | None
    """Of its first repetition, with the load."""
    later_s: float | None
    """Of the others, whose data may be there already."""
    driven_s: float
    """Of its first repetition from the first step behind the load on; of another where it has had
    no first one."""


_NOTHING = TimeNeeded(0.0, is_known=True)


class _Part(NamedTuple):
    """Runs to come: the sum of what is known of their times."""

    seconds: float = 0.0
    at_least: int = 0
    """How many may take longer."""
    besides: int = 0
    """How many take, besides, what others of their kind took."""

    def plus(self, other: _Part, times: int = 1) -> _Part:
        return _Part(
            self.seconds + times * other.seconds,
            self.at_least + times * other.at_least,
            self.besides + times * other.besides,
        )


class _Besides:
    """What runs of a kind took besides the time that their clients work; one value a cell."""

    def __init__(self) -> None:
        self._of_cells: dict[str, float] = {}
        self._sorted: list[float] = []

    def learn(self, cell: str, seconds: float) -> None:
        if cell in self._of_cells:
            del self._sorted[bisect_left(self._sorted, self._of_cells[cell])]
        self._of_cells[cell] = seconds
        insort(self._sorted, seconds)

    @property
    def median_s(self) -> float:
        last = len(self._sorted) - 1
        return (self._sorted[last // 2] + self._sorted[(last + 1) // 2]) / 2


class Forecast:
    """Learns from runs that have ended what further runs take. What is asked between two runs takes
    as long in an experiment of 10,000 runs as in one of ten: runs to come are summed by cell and
    kind, and only the sums of cells that change are made again."""

    def __init__(
        self, runs: Iterable[PlannedRun], times: Mapping[str, CellTimes] | None = None
    ) -> None:
        """``runs``: all of the plan. ``times``: of their cells, by fingerprint."""
        self._cells = {run.cell.fingerprint: run for run in runs}
        self._times: dict[str, CellTimes] = {}
        self._besides: dict[Kind, _Besides] = {}
        self._means: dict[tuple[str, bool], tuple[int, float]] = {}
        """Cell, and whether it is the first repetition → number and mean in s of its ended runs."""
        self._to_come: Counter[tuple[str, bool]] = Counter()
        """Cell, and whether it is the first repetition → number of runs."""
        self._parts: dict[str, _Part] = {}
        """Of the runs to come of each cell."""
        self._sums: dict[Kind, _Part] = {}
        """Of those of each kind."""
        self.learn(times or {})

    def learn(self, times: Mapping[str, CellTimes]) -> None:
        """Takes what is known now of these cells."""
        for cell, known in times.items():
            self._times[cell] = known
            run = self._cells[cell]
            whole_s = known.later_s if known.first_s is None else known.first_s
            if run.ends_by_time and whole_s is not None:
                besides = self._besides.setdefault(_kind(run), _Besides())
                besides.learn(cell, max(0.0, whole_s - run.timed_s))
            self._sum_up(cell)

    def learn_run(self, run: PlannedRun, elapsed_s: float, driven_s: float) -> None:
        """Takes what this run, which has ended, took, with those of its cell that this process has
        executed before it; they stand in place of those of earlier experiments."""
        cell, is_first = run.cell.fingerprint, run.repetition == 1
        before = self._times.get(cell, CellTimes(None, None, driven_s))
        first_s, later_s, of_driven_s = before
        number, mean_s = self._means.get((cell, is_first), (0, 0.0))
        mean_s += (elapsed_s - mean_s) / (number + 1)
        self._means[cell, is_first] = (number + 1, mean_s)
        if is_first:
            first_s, of_driven_s = mean_s, driven_s
        else:
            later_s = mean_s
        self.learn({cell: CellTimes(first_s, later_s, of_driven_s)})

    def expect(self, runs: Iterable[PlannedRun]) -> None:
        """These are to come."""
        self._add(runs, 1)

    def take_out(self, runs: Iterable[PlannedRun]) -> None:
        """These, which were expected, are not to come any more."""
        self._add(runs, -1)

    def to_come(self) -> TimeNeeded:
        """Of all that are expected."""
        needed = _NOTHING
        for kind, part in self._sums.items():
            besides = self._besides.get(kind)
            seconds = part.seconds + (part.besides * besides.median_s if besides else 0.0)
            is_known = not part.at_least and (bool(besides) or not part.besides)
            needed += TimeNeeded(max(0.0, seconds), is_known)
        return needed

    def _add(self, runs: Iterable[PlannedRun], change: int) -> None:
        for run in runs:
            self._to_come[run.cell.fingerprint, run.repetition == 1] += change
            self._sum_up(run.cell.fingerprint)

    def _sum_up(self, cell: str) -> None:
        """The runs to come of this cell are counted as what is known of it now."""
        run = self._cells[cell]
        part = _Part()
        for is_first in (True, False):
            number = self._to_come[cell, is_first]
            part = part.plus(self._part(run, is_first), number)
        kind, before = _kind(run), self._parts.get(cell, _Part())
        self._parts[cell] = part
        self._sums[kind] = self._sums.get(kind, _Part()).plus(part).plus(before, -1)

    def _part(self, run: PlannedRun, is_first: bool) -> _Part:
        """Of one run of this cell."""
        known = self._times.get(run.cell.fingerprint)
        if known is None:
            return _Part(run.timed_s, besides=1) if run.ends_by_time else _Part(run.timed_s, 1)
        needed = _as_before(known, is_first)
        return _Part(needed.seconds, at_least=not needed.is_known)

    def has_run(self, run: PlannedRun) -> bool:
        """Whether runs of the same cell have ended."""
        return run.cell.fingerprint in self._times

    def run(self, run: PlannedRun) -> TimeNeeded:
        """As other runs of the cell took. Without any, what its clients work by the clock, and
        besides what the same test on the same system took besides that."""
        known = self._times.get(run.cell.fingerprint)
        if known is not None:
            return _as_before(known, run.repetition == 1)
        besides = self._besides.get(_kind(run))
        if besides and run.ends_by_time:
            return TimeNeeded(run.timed_s + besides.median_s, is_known=True)
        return TimeNeeded(run.timed_s)

    def runs(self, runs: Iterable[PlannedRun]) -> TimeNeeded:
        """Of all of them, one after another."""
        return sum(map(self.run, runs), _NOTHING)


def _as_before(known: CellTimes, is_first: bool) -> TimeNeeded:
    if is_first:
        whole_s = known.later_s if known.first_s is None else known.first_s
        return TimeNeeded(whole_s or 0.0, is_known=known.first_s is not None)
    if known.later_s is not None:
        return TimeNeeded(known.later_s, is_known=True)
    return TimeNeeded(known.driven_s)  # whether it loads again is not known


Kind = tuple[str, str]
"""A test and the label of a system."""


def _kind(run: PlannedRun) -> Kind:
    return run.cell.test, run.cell.system.label


class LeftToDo:
    """Runs that have not begun: those that take place in any case, of which the time is known, and
    those that may be spared."""

    def __init__(self, forecast: Forecast) -> None:
        self._forecast = forecast
        self._certain: set[int] = set()
        self._others: set[int] = set()

    def add(self, run: PlannedRun, *, is_certain: bool) -> None:
        if is_certain:
            self._certain.add(run.position)
            self._forecast.expect([run])
        else:
            self._others.add(run.position)

    def without(self, runs: Iterable[PlannedRun]) -> None:
        """These begin now, or are spared."""
        for run in runs:
            self._others.discard(run.position)
            if run.position in self._certain:
                self._certain.discard(run.position)
                self._forecast.take_out([run])

    def needed(self) -> TimeNeeded:
        """Of all: at least so long, where some may be spared."""
        return self._forecast.to_come() + TimeNeeded(is_known=not self._others)
