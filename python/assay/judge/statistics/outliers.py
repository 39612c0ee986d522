"""Takes values that should be alike; returns those that lie too far from the others to be chance.

Many values (seconds): the modified z-score of B. Iglewicz and D. C. Hoaglin (How to Detect and
Handle Outliers, 1993), by the median absolute deviation, which several outliers together do not
hide. Few values (repetitions): the test of F. E. Grubbs (1969), each value against all others. The
limits of both depend on the number of values, so that no more is found among many by chance. An
outlier is named and never left out of a number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from assay.judge.statistics.autocorrelation import Series

LEAST_SECONDS = 10
FALSE_ALARMS = 0.02
"""Of series without an outlier, the share in which one may be seen."""
LEAST_SHARE = 0.10
"""What differs by a smaller share of the usual value is not named."""
_TO_SIGMA = 1.4826
"""Standard deviations of a normal distribution per median absolute deviation."""


class Outlier(NamedTuple):
    at: int
    """Its place in the series."""
    value: float
    usual: float
    """The median of all."""

    @property
    def relative(self) -> float:
        """By which share of the usual value it differs."""
        return self.value / self.usual - 1 if self.usual else 0.0


def among_seconds(values: Series, expected: Series | None = None) -> list[Outlier]:
    """``expected``: what each would be without noise, where that is not the same of all.

    A value must lie far off both as a difference and as a ratio, so that the long tail of a skewed
    distribution, on either side, makes no outliers.
    """
    n = len(values)
    if n < LEAST_SECONDS:
        return []
    line = np.full(n, np.median(values)) if expected is None else expected
    line = np.maximum(line, 1.0)
    # One transaction more or less is no deviation.
    far = _far(values - line, 1.0)
    far &= _far(np.log(np.maximum(values, 1.0) / line), 1.0 / float(np.median(line)))
    far &= np.abs(values / line - 1) > LEAST_SHARE
    return [Outlier(int(at), float(values[at]), float(line[at])) for at in np.flatnonzero(far)]


def _far(deviations: Series, least: float) -> NDArray[np.bool_]:
    """Which of them are larger than chance makes any; ``least``: the smallest standard deviation
    that they can have."""
    around = deviations - np.median(deviations)
    sigma = max(least, _TO_SIGMA * float(np.median(np.abs(around))))
    found: NDArray[np.bool_] = np.abs(around) > sigma * _limit(len(around))
    return found


def _limit(n: int) -> float:
    """Standard deviations beyond which none of ``n`` normal values lies, of which the deviation
    itself is estimated: found by simulation of 10 to 3000 values."""
    return float(-ndtri(FALSE_ALARMS / 2 / n)) * (1 + 6 / n)


def among_repetitions(values: Series) -> Outlier | None:
    """The one that lies farthest from the others, if that is no chance; at least 3 values."""
    n = len(values)
    median = float(np.median(values))
    at = int(np.argmax(np.abs(values - values.mean())))
    others = np.delete(values, at)
    deviation = float(others.std(ddof=1)) * np.sqrt(1 + 1 / (n - 1))
    found = Outlier(at, float(values[at]), median)
    if abs(found.relative) <= LEAST_SHARE:
        return None
    if deviation == 0:
        return found
    score = abs(float(values[at] - others.mean())) / deviation
    return found if 2 * stdtr(n - 2, -score) * n <= FALSE_ALARMS else None
