"""Takes the throughput of each second of a measurement; returns its warm-up, its drift and the
seconds too far from the others to be chance. It imports SciPy, so it is imported when it is
used."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr

LEAST_SECONDS_OF_WARM_UP = 5
FALSE_ALARMS_OF_WARM_UP = 0.01
"""Of steady series, the share in which a warm-up may be seen."""

NEARLY_WARM = 1.1
"""How many times the least squared standard error is as good as the least."""


class Beginning(NamedTuple):
    """Seconds that differ from those behind them."""

    seconds: int
    per_s: float
    """Their mean."""
    rest_per_s: float
    """That of all others."""

    def changes_mean_by(self, seconds: int) -> float:
        """Share by which the mean of all seconds differs from that of the others."""
        share = self.seconds / seconds
        if not self.rest_per_s:
            return 0.0
        return abs(self.per_s / self.rest_per_s - 1) * share


def warm_up(values: Series) -> Beginning | None:
    """None where nothing says that the first seconds differ from the rest."""
    n = len(values)
    if n < LEAST_SECONDS_OF_WARM_UP:
        return None
    cuts = range(n // 2 + 1)
    errors = [float(values[cut:].var()) / (n - cut) for cut in cuts]
    # Of cuts that are nearly as good the first one: the minimum is flat, and drawn far by chance.
    cut = next(at for at in cuts if errors[at] <= NEARLY_WARM * min(errors))
    if cut in (0, n // 2):  # at the last one there is no steady rest, but a drift
        return None
    first, rest = values[:cut], values[cut:]
    # A beginning that climbs has a variance of its own: that of the rest is the measure.
    variance = float(rest.var(ddof=1)) * variance_inflation(rest)
    difference = float(first.mean() - rest.mean())
    if variance > 0:
        score = abs(difference) / np.sqrt(variance * (1 / cut + 1 / (n - cut)))
        if 2 * stdtr(n - cut - 1, -score) * len(cuts) > FALSE_ALARMS_OF_WARM_UP:
            return None
    elif difference == 0:
        return None
    return Beginning(cut, float(first.mean()), float(rest.mean()))


LEAST_SECONDS_OF_DRIFT = 15
FALSE_ALARMS_OF_DRIFT = 0.01
"""Of steady series, the share in which a drift may be seen."""


class Drift(NamedTuple):
    """A line through the seconds."""

    first_per_s: float
    """At the beginning."""
    last_per_s: float
    """At the end."""

    @property
    def relative(self) -> float:
        """(last - first) / mean of both."""
        middle = (self.first_per_s + self.last_per_s) / 2
        return (self.last_per_s - self.first_per_s) / middle if middle > 0 else 0.0

    def of(self, seconds: int) -> Series:
        """The line's value in each second."""
        return np.linspace(self.first_per_s, self.last_per_s, seconds)


def drift(values: Series) -> Drift | None:
    """None where nothing says that there is a trend."""
    n = len(values)
    if n < LEAST_SECONDS_OF_DRIFT or np.all(values == values[0]):
        return None
    # Here, so that a run of fewer seconds does without what takes most of a second to import.
    from scipy.stats import kendalltau, theilslopes

    at = np.arange(n)
    tau = float(kendalltau(at, values).statistic)
    slope = theilslopes(values, at)
    line = Drift(float(slope.intercept), float(slope.intercept + slope.slope * (n - 1)))
    # Seconds that depend on one another make a trend out of less.
    spread = np.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)) * variance_inflation(values - line.of(n)))
    return line if 2 * ndtr(-abs(tau) / spread) <= FALSE_ALARMS_OF_DRIFT else None


LEAST_SECONDS_OF_OUTLIERS = 10
FALSE_ALARMS_OF_OUTLIERS = 0.02
"""Of series without an outlier, the share in which one may be seen."""
LEAST_SHARE_OF_OUTLIERS = 0.10
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


def outlying_seconds(values: Series, expected: Series | None = None) -> list[Outlier]:
    """``expected``: what each would be without noise, where that is not the same of all.

    A value must lie far off both as a difference and as a ratio, so that the long tail of a skewed
    distribution, on either side, makes no outliers.
    """
    n = len(values)
    if n < LEAST_SECONDS_OF_OUTLIERS:
        return []
    line = np.full(n, np.median(values)) if expected is None else expected
    line = np.maximum(line, 1.0)
    # One transaction more or less is no deviation.
    far = _far(values - line, 1.0)
    far &= _far(np.log(np.maximum(values, 1.0) / line), 1.0 / float(np.median(line)))
    far &= np.abs(values / line - 1) > LEAST_SHARE_OF_OUTLIERS
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
    return float(-ndtri(FALSE_ALARMS_OF_OUTLIERS / 2 / n)) * (1 + 6 / n)


def outlying_repetitions(values: Series) -> Outlier | None:
    """The one that lies farthest from the others, if that is no chance; at least 3 values."""
    n = len(values)
    median = float(np.median(values))
    at = int(np.argmax(np.abs(values - values.mean())))
    others = np.delete(values, at)
    deviation = float(others.std(ddof=1)) * np.sqrt(1 + 1 / (n - 1))
    found = Outlier(at, float(values[at]), median)
    if abs(found.relative) <= LEAST_SHARE_OF_OUTLIERS:
        return None
    if deviation == 0:
        return found
    score = abs(float(values[at] - others.mean())) / deviation
    return found if 2 * stdtr(n - 2, -score) * n <= FALSE_ALARMS_OF_OUTLIERS else None


Series = NDArray[np.float64]


def variance_inflation(values: Series) -> float:
    """At least 1: ``(1 + r) / (1 - r)`` of a first-order autoregressive process, by the correlation
    of neighbours r, which short series underestimate by about (1 + 4r) / n (Kendall and Marriott,
    1954)."""
    around = values - values.mean()
    total = float(around @ around)
    if total == 0 or len(values) < 4:
        return 1.0
    found = float(around[1:] @ around[:-1]) / total
    corrected = min(0.9, found + (1 + 4 * max(0.0, found)) / len(values))
    return max(1.0, (1 + corrected) / (1 - corrected))
