"""Takes the values of a metric on two sides; gives the ratio B/A with its confidence interval.

All is done on logarithms, since a ratio is asked for: the estimate is the ratio of the geometric
means. *Paired*: the k-th values of both sides were measured one after the other; the mean of their
log-ratios has a t interval with n - 1 degrees of freedom, and what changes slowly on the machine
cancels in each pair. *Independent*: Welch's t interval of the difference of the mean logarithms
(B. L. Welch, Biometrika 34, 1947), which allows each side its own variance. *Single*: one value on
a side, so that nothing is known of how values vary, and there is no interval.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from scipy import special

LEVEL = 0.02
"""The share of false differences that verdicts allow. It is not the usual 5 %: with that, every
second series of 200 comparisons of equal sides would have more than 5 % of them called different;
with 2 % one series of 400 has."""
CONFIDENCE = 1 - LEVEL
"""Of intervals, so that one which excludes 1 and a verdict say the same."""
POWER = 0.8
"""The probability with which the smallest difference would have been seen."""


class Design(Enum):
    """How the values of two sides belong together."""

    PAIRED = "paired"
    INDEPENDENT = "independent"
    SINGLE = "single"


@dataclass(frozen=True)
class Estimate:
    """The ratio B/A."""

    design: Design
    log_ratio: float
    standard_error: float | None
    """Of the log-ratio; None: of a single value on a side."""
    degrees_of_freedom: float | None
    deviation: float | None
    """Standard deviation by which the effect size is given: of the log-ratios of pairs, or of the
    logarithms within both sides."""
    deviation_freedom: int = 0
    """Degrees of freedom of that."""

    @property
    def ratio(self) -> float:
        return math.exp(self.log_ratio)

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
        """The lower and the upper bound of the ratio; None: there is no interval."""
        if self.standard_error is None or self.degrees_of_freedom is None:
            return None
        half = self.standard_error * float(
            special.stdtrit(self.degrees_of_freedom, (1 + confidence) / 2)
        )
        return _exp(self.log_ratio - half), _exp(self.log_ratio + half)

    @property
    def p_value(self) -> float | None:
        """Two-sided, of the hypothesis that the ratio is 1."""
        if self.standard_error is None or self.degrees_of_freedom is None:
            return None
        if self.standard_error == 0:
            return 1.0 if self.log_ratio == 0 else 0.0
        t = abs(self.log_ratio) / self.standard_error
        return 2 * float(special.stdtr(self.degrees_of_freedom, -t))

    @property
    def effect_size(self) -> float | None:
        """The log-ratio in standard deviations (Cohen's d), with Hedges' correction for few values;
        None: there are too few, or they do not vary."""
        if not self.deviation or self.deviation_freedom < 2:
            return None
        return self.log_ratio / self.deviation * (1 - 3 / (4 * self.deviation_freedom - 1))

    @property
    def smallest_seen(self) -> float | None:
        """The smallest difference, as a share of A, that would have been seen with a probability
        of 80 %; None: there is no interval."""
        if self.standard_error is None or self.degrees_of_freedom is None:
            return None
        df = self.degrees_of_freedom
        steps = float(special.stdtrit(df, (1 + CONFIDENCE) / 2) + special.stdtrit(df, POWER))
        return _exp(steps * self.standard_error) - 1


def paired(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """``a`` and ``b`` are positive, and the k-th of both belong together."""
    ratios = [math.log(right / left) for left, right in zip(a, b, strict=True)]
    if len(ratios) < 2:
        return Estimate(Design.SINGLE, statistics.fmean(ratios), None, None, None)
    deviation = statistics.stdev(ratios)
    return Estimate(
        Design.PAIRED,
        statistics.fmean(ratios),
        deviation / math.sqrt(len(ratios)),
        len(ratios) - 1,
        deviation,
        len(ratios) - 1,
    )


def independent(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """``a`` and ``b`` are positive."""
    logs = [[math.log(value) for value in side] for side in (a, b)]
    log_ratio = statistics.fmean(logs[1]) - statistics.fmean(logs[0])
    if min(len(a), len(b)) < 2:
        return Estimate(Design.SINGLE, log_ratio, None, None, None)
    variances = [statistics.variance(side) for side in logs]
    parts = [variance / len(side) for variance, side in zip(variances, logs, strict=True)]
    squares = sum(part**2 / (len(side) - 1) for part, side in zip(parts, logs, strict=True))
    degrees_of_freedom = sum(parts) ** 2 / squares if squares else len(a) + len(b) - 2
    within = sum(variance * (len(side) - 1) for variance, side in zip(variances, logs, strict=True))
    return Estimate(
        Design.INDEPENDENT,
        log_ratio,
        math.sqrt(sum(parts)),
        degrees_of_freedom,
        math.sqrt(within / (len(a) + len(b) - 2)),
        len(a) + len(b) - 2,
    )


def center(values: Sequence[float]) -> float:
    """The geometric mean; where a value is 0, the arithmetic one."""
    positive = all(value > 0 for value in values)
    return statistics.geometric_mean(values) if positive else statistics.fmean(values)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted so that of all of them the share of families with a false one is kept (S. Holm,
    Scandinavian Journal of Statistics 6, 1979)."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, (len(p_values) - place) * p_values[index])
        adjusted[index] = min(1.0, highest)
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted so that the share of false ones among those called is kept (Y. Benjamini and
    Y. Hochberg, Journal of the Royal Statistical Society B 57, 1995)."""
    adjusted = [0.0] * len(p_values)
    lowest = 1.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for place in reversed(range(len(order))):
        lowest = min(lowest, len(order) / (place + 1) * p_values[order[place]])
        adjusted[order[place]] = lowest
    return adjusted


def _exp(value: float) -> float:
    """A bound too large for a number is infinite."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf
