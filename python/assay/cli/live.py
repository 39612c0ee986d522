"""Takes the engine's progress reports; returns throughput, p99 and the time left, as text."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from assay.experiment import Driving
from assay.plan import PlannedRun
from assay.text.units import counted, digits, duration, latency

LINE_EVERY_S = 10.0
"""Interval between progress lines where standard error is not a terminal."""


class Live:
    """Progress of an experiment. ``clock`` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._run_began_s = clock()
        self._ended_s: list[float] = []
        """How long each run took that drove clients."""
        self._is_driven = False
        self._driving = Driving()
        self._position, self._of = 0, 1
        self._before: tuple[float, int] | None = None
        self._rate_per_s: float | None = None

    def run(self, planned: PlannedRun, of: int) -> None:
        now_s = self._clock()
        if self._is_driven:
            self._ended_s.append(now_s - self._run_began_s)
        self._run_began_s, self._is_driven = now_s, False
        self._driving, self._position, self._of = planned.cell.driving, planned.position, of
        self._before = self._rate_per_s = None

    def stage(self) -> None:
        """Another stage began: if clients work in it, they count from 0 again."""
        self._before = self._rate_per_s = None

    def numbers(self, report: dict[str, Any]) -> str:
        """``26091 TPS, p99 1.04 ms, 8 clients, 3 failed`` of the last second, as far as known."""
        self._is_driven = True
        last = report.get("last_second")
        rate_per_s = last["ok"] if last else self._rate(report)
        parts = [] if rate_per_s is None else [f"{digits(rate_per_s)} TPS"]
        if last and last["ok"]:
            parts.append(f"p99 {latency(last['p99_ns'])}")
        parts.append(counted(report["clients_running"], "client"))
        if report["failed"]:
            parts.append(f"{report['failed']} failed")
        return ", ".join(parts)

    def left(self, report: dict[str, Any]) -> str:
        """``about 4 min left`` of the whole experiment; empty where that is not known. Each further
        run takes as long as those before (the median: the first one also reads input and probes the
        storage); while there are none, as long as this one drives."""
        own_s = self._own_left_s(report)
        if own_s is None:
            return ""
        runs_after = self._of - self._position - 1
        each_s = float(report["elapsed_s"]) + own_s
        if self._ended_s:
            each_s = statistics.median(self._ended_s)
        return f"about {duration(round(own_s + runs_after * each_s))} left"

    def _own_left_s(self, report: dict[str, Any]) -> float | None:
        """Seconds left of the current run."""
        planned_s, elapsed_s = self._driving.planned_s, float(report["elapsed_s"])
        if planned_s is not None:
            return max(0.0, planned_s - elapsed_s)
        scheduled, done = int(report.get("scheduled") or 0), int(report["done"])
        return elapsed_s * (scheduled - done) / done if scheduled and done else None

    def _rate(self, report: dict[str, Any]) -> float | None:
        """Throughput between two reports a second apart, where the engine reports none."""
        at_s, ok = report["elapsed_s"], report["ok"]
        if self._before is None or at_s - self._before[0] >= 1:
            if self._before is not None:
                self._rate_per_s = (ok - self._before[1]) / (at_s - self._before[0])
            self._before = (at_s, ok)
        return self._rate_per_s
