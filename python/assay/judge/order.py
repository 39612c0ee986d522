"""Takes the values of two or more cells, each measured several times; returns in which order they
are, as far as the repetitions separate them, and how a value grows.

Ratios are those of geometric means, compared by their logarithms: Welch's t-test for the ratio of
two cells, a straight line through the logarithms of size and value for the exponent of growth. Both
give an interval in which the true number lies in 95 of 100 cases, if the logarithms are normally
distributed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from assay.judge import welch

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A number, and where the true one lies."""

    value: float
    low: float | None = None
    high: float | None = None
    """None: too few repetitions to know."""

    @property
    def is_known(self) -> bool:
        return self.low is not None and self.high is not None

    def is_above(self, limit: float) -> bool:
        return self.low is not None and self.low > limit

    def is_below(self, limit: float) -> bool:
        return self.high is not None and self.high < limit


def ratio(values: Sequence[float], divided_by: Sequence[float]) -> Interval:
    """Of the geometric means, which the interval is of as well; all values are above 0. With less
    than two of either, no interval."""
    above, below = ([math.log(value) for value in of] for of in (values, divided_by))
    middle = statistics.fmean(above) - statistics.fmean(below)
    found = math.exp(middle)
    if min(len(values), len(divided_by)) < 2:
        return Interval(found)
    spread, freedom = welch.uncertainty(
        [statistics.variance(of) for of in (above, below)], [len(above), len(below)]
    )
    if spread == 0:
        return Interval(found, found, found)
    wide = _t(freedom) * math.sqrt(spread)
    return Interval(found, math.exp(middle - wide), math.exp(middle + wide))


def growth(sizes: Sequence[float], values: Sequence[float]) -> Interval:
    """The exponent of growth: 1 where the value grows as the size does, 0 where it does not grow.
    A size for each value; two different sizes at least. With less than three values no interval."""
    across, up = ([math.log(one) for one in of] for of in (sizes, values))
    line = statistics.linear_regression(across, up)
    if len(values) < 3:
        return Interval(line.slope)
    middle = statistics.fmean(across)
    left = sum((y - line.intercept - line.slope * x) ** 2 for x, y in zip(across, up, strict=True))
    variance = left / (len(values) - 2) / sum((x - middle) ** 2 for x in across)
    wide = _t(len(values) - 2) * math.sqrt(variance)
    return Interval(line.slope, line.slope - wide, line.slope + wide)


def _t(freedom: float) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + CONFIDENCE) / 2, freedom))
