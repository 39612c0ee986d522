"""Takes the values of two or more cells, each measured several times; returns in which order they
are, as far as the repetitions separate them, and how a value grows.

The ratio of two cells is that of comparisons (`assay.judge.statistics.estimate`); the exponent of
growth is of a straight line through the logarithms of size and value. Both have an interval in
which the true number lies in 95 of 100 cases, if the logarithms are normally distributed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from msgspec import Struct

from assay.judge.statistics.estimate import LeastDeviation, exact, independent, paired, t_quantile

CONFIDENCE = 0.95


class ConfidenceInterval(Struct, frozen=True):
    """A number, and where the true one lies."""

    value: float
    low: float | None = None
    high: float | None = None
    """None: too few repetitions to know."""
    why_undecided: str = ""
    """Why nothing is decided by it, however narrow it is; empty: it may be."""

    @property
    def is_known(self) -> bool:
        return self.low is not None and self.high is not None

    def is_above(self, limit: float) -> bool:
        return self.low is not None and self.low > limit

    def reaches(self, limit: float) -> bool:
        """Whether it is certainly as large as that, or larger."""
        return self.low is not None and self.low >= limit

    def keeps_to(self, limit: float) -> bool:
        """Whether it is certainly no larger than that."""
        return self.high is not None and self.high <= limit

    def is_below(self, limit: float) -> bool:
        return self.high is not None and self.high < limit


def ratio(
    values: Sequence[float],
    divided_by: Sequence[float],
    least_deviation: LeastDeviation = exact,
    *,
    is_paired: bool = False,
    why_undecided: str = "",
) -> ConfidenceInterval:
    """Of the geometric means, which the interval is of as well; all values are above 0. With less
    than two of either, no interval. ``is_paired``: the k-th values of both are of one block of
    runs."""
    estimate = paired if is_paired else independent
    found = estimate(divided_by, values, least_deviation)
    low, high = found.interval(CONFIDENCE) or (None, None)
    return ConfidenceInterval(found.ratio, low, high, why_undecided)


def growth(
    sizes: Sequence[float], values: Sequence[float], beside: Sequence[float] | None = None
) -> ConfidenceInterval:
    """The exponent of growth: 1 where the value grows as the size does, 0 where it does not grow.
    A size for each value; two different sizes at least. With less than three values no interval.

    ``beside``: for each value what is expected at its size. Then the interval is of how much the
    exponent differs from the expected one: where both bend in the same way, that is no doubt about
    it."""
    across, up = ([math.log(one) for one in of] for of in (sizes, values))
    slope = statistics.linear_regression(across, up).slope
    if len(values) < 3:
        return ConfidenceInterval(slope)
    left = up if beside is None else [y - math.log(one) for y, one in zip(up, beside, strict=True)]
    line = statistics.linear_regression(across, left)
    middle = statistics.fmean(across)
    off = (y - line.intercept - line.slope * x for x, y in zip(across, left, strict=True))
    rest = sum(one**2 for one in off)
    variance = rest / (len(values) - 2) / sum((x - middle) ** 2 for x in across)
    wide = t_quantile(len(values) - 2, (1 + CONFIDENCE) / 2) * math.sqrt(variance)
    return ConfidenceInterval(slope, slope - wide, slope + wide)
