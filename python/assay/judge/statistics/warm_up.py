"""Takes the throughput of each second of a measurement; returns how many of its first seconds
belong to the warm-up.

Where to cut is found by MSER (marginal standard error rule: K. P. White, An Effective Truncation
Heuristic for Bias Reduction in Simulation Output, 1997): the cut that leaves the mean of the rest
with the least standard error. It always finds one, so whether the beginning differs is a second
question, answered by a t test that counts the cuts which were looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from assay.judge.statistics.autocorrelation import Series, inflation

LEAST_SECONDS = 5
FALSE_ALARMS = 0.01
"""Of steady series, the share in which a warm-up may be seen."""

NEARLY = 1.1
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


def beginning(values: Series) -> Beginning | None:
    """None where nothing says that the first seconds differ from the rest."""
    n = len(values)
    if n < LEAST_SECONDS:
        return None
    cuts = range(n // 2 + 1)
    errors = [float(values[cut:].var()) / (n - cut) for cut in cuts]
    # Of cuts that are nearly as good the first one: the minimum is flat, and drawn far by chance.
    cut = next(at for at in cuts if errors[at] <= NEARLY * min(errors))
    if cut in (0, n // 2):  # at the last one there is no steady rest, but a drift
        return None
    first, rest = values[:cut], values[cut:]
    # A beginning that climbs has a variance of its own: that of the rest is the measure.
    variance = float(rest.var(ddof=1)) * inflation(rest)
    difference = float(first.mean() - rest.mean())
    if variance > 0:
        score = abs(difference) / np.sqrt(variance * (1 / cut + 1 / (n - cut)))
        if 2 * stdtr(n - cut - 1, -score) * len(cuts) > FALSE_ALARMS:
            return None
    elif difference == 0:
        return None
    return Beginning(cut, float(first.mean()), float(rest.mean()))
