"""Takes the throughput of each second of a measurement; returns how far it rises or falls from
beginning to end.

Whether there is a trend is asked of the ranks (Mann-Kendall), so that no distribution of the noise
is assumed; how steep it is, of the median of all slopes (Theil-Sen), which single seconds do not
move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from assay.judge.statistics.autocorrelation import Series, inflation

LEAST_SECONDS = 15
FALSE_ALARMS = 0.01
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
    if n < LEAST_SECONDS or np.all(values == values[0]):
        return None
    # Here, so that a run of fewer seconds does without what takes most of a second to import.
    from scipy.stats import kendalltau, theilslopes

    at = np.arange(n)
    tau = float(kendalltau(at, values).statistic)
    slope = theilslopes(values, at)
    line = Drift(float(slope.intercept), float(slope.intercept + slope.slope * (n - 1)))
    # Seconds that depend on one another make a trend out of less.
    spread = np.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)) * inflation(values - line.of(n)))
    return line if 2 * ndtr(-abs(tau) / spread) <= FALSE_ALARMS else None
