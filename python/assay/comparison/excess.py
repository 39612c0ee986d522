"""Takes a goal; says from where on a run that still goes on is ended, as it is too far beyond the
goal's limit to be of interest, and what is then known of it.

A search over a parameter needs the time of a run for two things: whether it met the limit, and, of
the smallest level that missed it, for the level at the limit, which lies between that and the
greatest that met it. Lists of levels usually are a series as 1, 2, 5, 10, whose neighbours are up
to 2.5 apart, and times of larger data grow a little faster than these. So where the level below met
the limit, the next one takes up to some 2.5 times the limit, and is measured to its end; what takes
longer has no such neighbour, or has left the memory in between, where no power of the level leads
from one to the other.
"""

from __future__ import annotations

from typing import NamedTuple

from assay.comparison.conditions import Condition
from assay.record.metrics.clients import ELAPSED
from assay.text import units

TIMES = 3
"""So many times the limit."""


class Excess(NamedTuple):
    beyond_ns: float
    """The elapsed time."""
    reason: str
    """What is known of a run that was ended there."""


def of_goal(goal: Condition) -> Excess | None:
    """None where the metric is none that can be seen to be too great before the run has ended."""
    if goal.metric.name != ELAPSED.name or not goal.is_upper:
        return None
    beyond_ns = TIMES * goal.limit
    more = f"{goal.metric.label} more than {units.short_duration(beyond_ns / 1e9)}"
    return Excess(beyond_ns, f"{more}: ended, {TIMES} times the limit")
