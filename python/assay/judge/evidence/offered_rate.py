"""Takes how a run was driven and its observation; returns whether an open loop kept its offered
rate, and which rate it reached."""

from __future__ import annotations

import math
from typing import NamedTuple

from assay.contracts.observation import Observation
from assay.experiment import Driving
from assay.text import rates

LATE_LIMIT = 0.01
"""Share of late and skipped transactions beyond which there is a warning."""
REACHED = 1 - LATE_LIMIT
"""Share of the offered rate that must end for the rate to be kept, chance aside."""
_CHANCE = 3
"""Standard deviations of Poisson arrivals, which is the square root of their number."""


class OfferedAndReached(NamedTuple):
    offered_per_s: float
    reached_per_s: float
    """Transactions that ended, whatever their outcome, per second in which others were due."""
    is_kept: bool
    """Whether these are `REACHED` of the offered ones, or the difference is within the chance of
    random arrivals."""
    misses_goal: bool = False
    """Whether the rate was searched for (``--goal``), and does not meet the goal: then it is not
    kept either."""


def of_run(driving: Driving, observation: Observation) -> OfferedAndReached | None:
    """None in a closed loop, and where nothing was due."""
    rate = driving.offered_rate_per_s
    # Nothing is due while the last transactions are waited for.
    due_ns = observation.elapsed_ns - observation.drained_ns
    if not rate:
        return None
    if due_ns <= 0 or not observation.outcomes.scheduled:
        return None
    expected = rates.due(rate, due_ns / 1e9)
    ended = observation.ended
    is_missed = ended < REACHED * expected and expected - ended > _CHANCE * math.sqrt(expected)
    offered_per_s = rates.mean_per_s(rate, due_ns / 1e9)
    return OfferedAndReached(offered_per_s, ended / (due_ns / 1e9), not is_missed)
