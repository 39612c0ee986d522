"""Takes planned runs and what runs of their cells took; returns how long they take together, and
whether all of it is known."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

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


@dataclass(frozen=True)
class TimeNeeded:
    """How long runs take."""

    seconds: float = 0.0
    is_known: bool = False
    """False: they take at least this long."""

    def __add__(self, other: TimeNeeded) -> TimeNeeded:
        return TimeNeeded(self.seconds + other.seconds, self.is_known and other.is_known)


NOT_KNOWN = TimeNeeded()
_NOTHING = TimeNeeded(0.0, is_known=True)


class Forecast:
    """Learns from runs that have ended what further runs take."""

    def __init__(
        self, runs: Iterable[PlannedRun], times: Mapping[str, CellTimes] | None = None
    ) -> None:
        """``runs``: all of the plan. ``times``: of their cells, by fingerprint."""
        self._cells = {run.cell.fingerprint: run for run in runs}
        self._times: dict[str, CellTimes] = {}
        self._besides_s: dict[tuple[str, str], dict[str, float]] = {}
        self.learn(times or {})

    def learn(self, times: Mapping[str, CellTimes]) -> None:
        """Takes what is known now of these cells."""
        for cell, known in times.items():
            self._times[cell] = known
            run = self._cells[cell]
            whole_s = known.later_s if known.first_s is None else known.first_s
            if run.ends_by_time and whole_s is not None:
                besides_s = max(0.0, whole_s - run.timed_s)
                self._besides_s.setdefault(_kind(run), {})[cell] = besides_s

    def has_run(self, run: PlannedRun) -> bool:
        """Whether runs of the same cell have ended."""
        return run.cell.fingerprint in self._times

    def run(self, run: PlannedRun) -> TimeNeeded:
        """As other runs of the cell took. Without any, what its clients work by the clock, and
        besides what the same test on the same system took besides that."""
        known = self._times.get(run.cell.fingerprint)
        if known is not None:
            return _as_before(run, known)
        besides_s = self._besides_s.get(_kind(run))
        if besides_s and run.ends_by_time:
            return TimeNeeded(run.timed_s + statistics.median(besides_s.values()), is_known=True)
        return TimeNeeded(run.timed_s)

    def runs(self, runs: Iterable[PlannedRun]) -> TimeNeeded:
        """Of all of them, one after another."""
        return sum(map(self.run, runs), _NOTHING)


def _as_before(run: PlannedRun, known: CellTimes) -> TimeNeeded:
    if run.repetition == 1:
        whole_s = known.later_s if known.first_s is None else known.first_s
        return TimeNeeded(whole_s or 0.0, is_known=known.first_s is not None)
    if known.later_s is not None:
        return TimeNeeded(known.later_s, is_known=True)
    return TimeNeeded(known.driven_s)  # whether it loads again is not known


def _kind(run: PlannedRun) -> tuple[str, str]:
    return run.cell.test, run.cell.system.label
