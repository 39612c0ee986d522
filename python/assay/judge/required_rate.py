"""Takes the runs of a cell, its verdict and a rate that is required; says whether the cell keeps
it, that is, whether each of its repetitions did."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from assay.contracts.observation import Observation
from assay.experiment import Driving
from assay.judge.run import Verdict
from assay.text import units

_REACHED = 0.95
"""Share of the offered rate that the throughput has at least, where a rate was kept."""


class RateKept(Enum):
    YES = "yes"
    NO = "no"
    OPEN = "not decided"


def kept(
    runs: Sequence[tuple[Driving | None, Observation]], verdict: Verdict, required_per_s: float
) -> tuple[RateKept, str]:
    """With the reason, where it is not decided. ``runs``: those that were measured; ``verdict``: of
    their number, which decides nothing where it is invalid."""
    if not runs or verdict.word not in ("valid", "indicative"):
        return RateKept.OPEN, "no valid number"
    offered = [
        rate
        for driving, _ in runs
        if driving
        and driving.is_open
        and isinstance(rate := driving.offered_rate_per_s, int | float)
    ]
    if offered and min(offered) < required_per_s:
        return RateKept.OPEN, f"only {units.digits(min(offered))}/s were offered"
    each = [
        _is_kept(observation, required_per_s, is_offered=bool(offered)) for _, observation in runs
    ]
    if len(set(each)) > 1:
        return RateKept.OPEN, f"in {sum(each)} of {len(each)} repetitions"
    return (RateKept.YES if each[0] else RateKept.NO), ""


def _is_kept(observation: Observation, required_per_s: float, *, is_offered: bool) -> bool:
    """With random arrivals, and while the last transactions end, a little less than the offered
    rate is reached."""
    needed = required_per_s * (_REACHED if is_offered else 1)
    return (observation.throughput_per_s or 0.0) >= needed
