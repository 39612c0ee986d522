"""Takes the throughput of a test with several numbers of clients; gives its knee: from how many
clients on the throughput no longer rises."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from msgspec import Struct

from assay.comparison.ratios.adjusting import holm
from assay.comparison.ratios.pairs import interleaved
from assay.comparison.ratios.ratios import compared
from assay.judge.run import Run
from assay.judge.statistics.estimate import SIGNIFICANCE, Estimate
from assay.record.metrics.clients import THROUGHPUT
from assay.text import units

LEAST_LEVELS = 3
"""Of two, their ratio says it all."""

Level = tuple[int, Sequence[Run]]
"""A number of clients, and its repetitions."""


class Knee(Struct, frozen=True):
    clients: int | None
    """From which on the throughput no longer rises; None: it still rises at ``most``."""
    most: int
    """The largest number of clients."""
    runs: frozenset[int]
    """Numbers of the runs of the whole curve."""

    @property
    def words(self) -> str:
        """``no longer rises from 8 clients on``."""
        if self.clients is None:
            return f"still rises at {units.counted(self.most, 'client')}"
        return f"no longer rises from {units.counted(self.clients, 'client')} on"

    @property
    def place(self) -> str:
        """``at 8 clients``."""
        if self.clients is None:
            return f"none up to {units.counted(self.most, 'client')}"
        return f"at {units.counted(self.clients, 'client')}"


def knee(curve: Sequence[Level]) -> Knee | None:
    """None where the repetitions do not decide it, or there are fewer than `LEAST_LEVELS` levels.

    Every two levels are compared as by `assay compare`: the ratio of the geometric means of
    their repetitions, with Student's t interval of 98 % of the mean log-ratio of interleaved
    repetitions, else Welch's. The throughput rises from one level to a larger one if its p-value,
    adjusted for all pairs of the curve by Holm's method, is 2 % at most: so the chance that a curve
    has a single false rise is 2 %. The knee is the least level from which the throughput rises to
    no larger one.

    That no rise was seen is no proof of a plateau. So the knee is decided only if the interval of
    the ratio of each larger level to it ends below the square root of the ratio of their clients:
    halfway between no rise and a rise in proportion.
    """
    levels = sorted(curve, key=lambda level: level[0])
    if len(levels) < LEAST_LEVELS:
        return None
    pairs = list(itertools.combinations(range(len(levels)), 2))
    found = (_estimate(levels[first], levels[second]) for first, second in pairs)
    estimates = [one for one in found if one is not None]
    p_values = [one.p_value for one in estimates if one.p_value is not None]
    if len(p_values) < len(pairs):
        return None
    by_pair = dict(zip(pairs, zip(estimates, holm(p_values), strict=True), strict=True))
    for place, (clients, _) in enumerate(levels):
        larger = [(levels[of[1]][0], *seen) for of, seen in by_pair.items() if of[0] == place]
        if any(_is_rise(estimate, adjusted_p) for _, estimate, adjusted_p in larger):
            continue
        if not all(_is_flat(estimate, most / clients) for most, estimate, _ in larger):
            return None
        runs = frozenset(run.id for _, of_level in levels for run in of_level)
        return Knee(clients if larger else None, levels[-1][0], runs)
    raise AssertionError("from the largest level the throughput rises to no larger one")


def _estimate(smaller: Level, larger: Level) -> Estimate | None:
    """Of the ratio of the larger one to the smaller one."""
    a, b = smaller[1], larger[1]
    matched = interleaved([(0, run) for run in a], [(0, run) for run in b])
    return compared(THROUGHPUT, a, b, matched, is_primary=True).estimate


def _is_rise(estimate: Estimate, adjusted_p: float) -> bool:
    return estimate.log_ratio > 0 and adjusted_p <= SIGNIFICANCE


def _is_flat(estimate: Estimate, times_clients: float) -> bool:
    interval = estimate.interval()
    return interval is not None and interval[1] < math.sqrt(times_clients)
