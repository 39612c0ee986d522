"""Takes the engine's progress reports; returns throughput, p99 and the time left, as text."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.contracts.driving import DEFERRED
from assay.contracts.observation import Interval
from assay.text.units import counted, digits, duration, latency

if TYPE_CHECKING:
    from assay.contracts.engine.drive import DriveProgress
    from assay.contracts.events import RunBegun, TimeNeeded

LINE_EVERY_S = 10.0
"""Interval between progress lines where standard error is not a terminal."""
_EXTRAPOLATED_AFTER_S = 1.0
"""Before, the first transactions, which fill caches, would stand for all."""
_LEAST_SAID_S = 1.0
"""A lower bound below says nothing."""


class Live:
    """Progress of an experiment. ``clock`` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._run_began_s = clock()
        from assay.contracts.events import NOT_KNOWN

        self._own = self._after = NOT_KNOWN
        self._drives_s: tuple[float | None, ...] = ()
        self._drive = -1
        """Place of the current drive step among those of the run."""
        self._before: tuple[float, int] | None = None
        self._rate_per_s: float | None = None
        self._second: tuple[Interval, ...] = ()
        """The last one that was measured: an interval of each group."""

    def run(self, begun: RunBegun) -> None:
        self._run_began_s = self._clock()
        self._own, self._after = begun.own, begun.after
        self._drives_s, self._drive = begun.drives_s, -1
        self._forget()

    def stage(self, name: str) -> float | None:
        """Another stage begins: if clients work in it, they count from 0 again. Returns how long
        they work by the clock; None: counts end it, or it has no clients."""
        self._forget()
        if not name.startswith("drive "):
            return None
        self._drive += 1
        return self.step_s

    def _forget(self) -> None:
        self._before = self._rate_per_s = None
        self._second = ()

    @property
    def step_s(self) -> float | None:
        """How long the current drive step works by the clock; None: counts end it."""
        return self._drives_s[self._drive] if 0 <= self._drive < len(self._drives_s) else None

    def numbers(self, report: DriveProgress) -> str:
        """``26091 TPS, p99 1.04 ms, 8 clients, 3 failed`` of the last second, as far as known."""
        if report.seconds:
            last = report.seconds[-1].second
            self._second = tuple(
                line for line in report.seconds if line.second == last and line.group != DEFERRED
            )
        ok = sum(line.ok for line in self._second)
        rate_per_s = ok if self._second else self._rate(report)
        parts = [] if rate_per_s is None else [f"{digits(rate_per_s)} TPS"]
        from assay.judge.statistics.samples import needed_for

        if ok >= needed_for("p99"):
            parts.append(f"p99 {latency(max(line.p99_ns for line in self._second))}")
        parts.append(counted(report.clients_running, "client"))
        if report.failed:
            parts.append(f"{report.failed} failed")
        return ", ".join(parts)

    def left(self, report: DriveProgress) -> str:
        """``about 4 min left`` of the whole experiment; ``at least 4 min left`` where some of its
        runs may take longer than is known."""
        needed = self._own_left(report) + self._after
        if needed.is_known:
            return f"about {duration(round(needed.seconds))} left"
        if needed.seconds < _LEAST_SAID_S:
            return "time left not known yet"
        return f"at least {duration(round(needed.seconds))} left"

    def _own_left(self, report: DriveProgress) -> TimeNeeded:
        """Of the current run: as other runs of its cell took, and no less than its clients still
        work. A run that takes longer than the others did is estimated by its clients."""
        step_left_s = self._step_left_s(report)
        later_s = self._drives_s[self._drive + 1 :]
        from assay.contracts.events import TimeNeeded

        by_clients = TimeNeeded(
            (step_left_s or 0.0) + sum(one or 0.0 for one in later_s),
            is_known=step_left_s is not None and None not in later_s,
        )
        before_s = self._own.seconds - (self._clock() - self._run_began_s)
        if not self._own.is_known or before_s <= 0:
            return by_clients
        timed_s = by_clients.seconds if self.step_s is not None else 0.0
        return TimeNeeded(max(before_s, timed_s), is_known=True)

    def _step_left_s(self, report: DriveProgress) -> float | None:
        """Seconds left of the current step; None: not known."""
        elapsed_s = report.elapsed_s
        if self.step_s is not None:
            return max(0.0, self.step_s - elapsed_s)
        scheduled, done = report.scheduled or 0, report.done
        if not scheduled or not done or elapsed_s < _EXTRAPOLATED_AFTER_S:
            return None
        return elapsed_s * (scheduled - done) / done

    def _rate(self, report: DriveProgress) -> float | None:
        """Throughput between two reports a second apart, where the engine reports none."""
        at_s, ok = report.elapsed_s, report.ok
        if self._before is None or at_s - self._before[0] >= 1:
            if self._before is not None:
                self._rate_per_s = (ok - self._before[1]) / (at_s - self._before[0])
            self._before = (at_s, ok)
        return self._rate_per_s
