"""Takes the values of two cells or sides; returns the ratio B/A with its confidence interval.

All is done on logarithms, since a ratio is asked for: the estimate is the ratio of the geometric
means. *Paired*: the k-th values of both sides were measured one after the other; the mean of their
log-ratios has a t interval with n - 1 degrees of freedom, and what changes slowly on the machine
cancels in each pair. *Independent*: Welch's t interval of the difference of the mean logarithms
(B. L. Welch, Biometrika 34, 1947), which allows each side its own variance. *Single*: one value on
a side, so that nothing is known of how values vary, and there is no interval.

Two or three values may be equal by chance, where they are counts or rounded. So the variance of a
side is taken to be at least what counting or rounding alone causes (`LeastDeviation`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from enum import Enum

from msgspec import Struct

from assay.text import units

SIGNIFICANCE = 0.02
"""The share of false differences that verdicts of comparisons allow. It is not the usual 5 %: with
that, 4 of 10 series of 200 comparisons of equal sides would have more than 5 % of them called
different; with 2 % one series of 400 has."""
CONFIDENCE = 1 - SIGNIFICANCE
"""Of their intervals, so that one which excludes 1 and a verdict say the same."""
POWER = 0.8
"""The probability with which the detectable difference is found."""
_FARTHEST = 1000
"""An upper bound more than so many times the ratio is reported as unbounded."""
_MOST_DIGITS = 12
"""Digits kept of a geometric mean: those after them are rounding error of log and exp."""
LeastDeviation = Callable[[float], float]
"""Value → the standard deviation that its logarithm has at least."""


class Design(Enum):
    """How the values of two sides belong together."""

    PAIRED = "paired"
    INDEPENDENT = "independent"
    SINGLE = "single"


class Estimate(Struct, frozen=True):
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
        half = self.standard_error * t_quantile(self.degrees_of_freedom, (1 + confidence) / 2)
        return _exp(self.log_ratio - half), _exp(self.log_ratio + half)

    def is_unbounded(self, confidence: float = CONFIDENCE) -> bool:
        """Whether its interval says nothing: it goes from next to nothing to any number."""
        interval = self.interval(confidence)
        return interval is not None and interval[1] > _FARTHEST * self.ratio

    @property
    def p_value(self) -> float | None:
        """Two-sided, of the hypothesis that the ratio is 1."""
        if self.standard_error is None or self.degrees_of_freedom is None:
            return None
        if self.standard_error == 0:
            return 1.0 if self.log_ratio == 0 else 0.0
        from scipy.special import stdtr

        t = abs(self.log_ratio) / self.standard_error
        return 2 * float(stdtr(self.degrees_of_freedom, -t))

    @property
    def effect_size(self) -> float | None:
        """The log-ratio in standard deviations (Cohen's d), with Hedges' correction for few values;
        None: there are too few, or they do not vary."""
        if not self.deviation or self.deviation_freedom < 2:
            return None
        return self.log_ratio / self.deviation * (1 - 3 / (4 * self.deviation_freedom - 1))

    @property
    def detectable_difference(self) -> float | None:
        """The smallest true difference, as a share of A, that such a comparison finds with a
        probability of 80 %; None: there is no interval."""
        if self.standard_error is None or self.degrees_of_freedom is None:
            return None
        from scipy.special import nctdtrinc

        # The noncentrality with which Student's t exceeds its limit that often.
        limit = t_quantile(self.degrees_of_freedom, (1 + CONFIDENCE) / 2)
        steps = float(nctdtrinc(self.degrees_of_freedom, 1 - POWER, limit))
        return _exp(steps * self.standard_error) - 1


def exact(_value: float) -> float:
    """The least deviation of a value that is neither counted nor rounded."""
    return 0.0


def paired(
    a: Sequence[float], b: Sequence[float], least_deviation: LeastDeviation = exact
) -> Estimate:
    """``a`` and ``b`` are positive, and the k-th of both belong together."""
    ratios = [math.log(right / left) for left, right in zip(a, b, strict=True)]
    if len(ratios) < 2:
        return Estimate(Design.SINGLE, statistics.fmean(ratios), None, None, None)
    least = _mean_square(a, least_deviation) + _mean_square(b, least_deviation)
    deviation = math.sqrt(max(statistics.variance(ratios), least))
    return Estimate(
        Design.PAIRED,
        statistics.fmean(ratios),
        deviation / math.sqrt(len(ratios)),
        len(ratios) - 1,
        deviation,
        len(ratios) - 1,
    )


def independent(
    a: Sequence[float], b: Sequence[float], least_deviation: LeastDeviation = exact
) -> Estimate:
    """``a`` and ``b`` are positive."""
    logs = [[math.log(value) for value in side] for side in (a, b)]
    log_ratio = statistics.fmean(logs[1]) - statistics.fmean(logs[0])
    if min(len(a), len(b)) < 2:
        return Estimate(Design.SINGLE, log_ratio, None, None, None)
    variances = [
        max(statistics.variance(of_side), _mean_square(side, least_deviation))
        for of_side, side in zip(logs, (a, b), strict=True)
    ]
    variance, degrees_of_freedom = _uncertainty(variances, [len(a), len(b)])
    within = sum(variance * (len(side) - 1) for variance, side in zip(variances, logs, strict=True))
    return Estimate(
        Design.INDEPENDENT,
        log_ratio,
        math.sqrt(variance),
        degrees_of_freedom,
        math.sqrt(within / (len(a) + len(b) - 2)),
        len(a) + len(b) - 2,
    )


def _mean_square(values: Sequence[float], least_deviation: LeastDeviation) -> float:
    return statistics.fmean(least_deviation(value) ** 2 for value in values)


def center(values: Sequence[float]) -> float:
    """The geometric mean; where a value is 0, the arithmetic one."""
    if len(set(values)) == 1:
        return values[0]
    positive = all(value > 0 for value in values)
    found = statistics.geometric_mean(values) if positive else statistics.fmean(values)
    return float(f"{found:.{_MOST_DIGITS}g}")


def why_no_ratio(values: Sequence[float], unit: str) -> str:
    """What the side measured where not all its values are above 0 (``measured -48 µs, 21 µs``);
    empty: it has a ratio."""
    if all(value > 0 for value in values):
        return ""
    shown = (units.latency(one) if unit == "ns" else units.shown(one, unit) for one in values)
    return f"measured {', '.join(shown)}, so that there is no ratio"


def t_quantile(degrees_of_freedom: float, probability: float) -> float:
    """Of Student's distribution."""
    from scipy.special import stdtrit  # here, so that the help of a command does without SciPy

    return float(stdtrit(degrees_of_freedom, probability))


def _exp(value: float) -> float:
    """A bound too large for a number is infinite."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _uncertainty(variances: Sequence[float], counts: Sequence[int]) -> tuple[float, float]:
    """The variance of the difference of the means of two samples, and its degrees of freedom
    (Welch 1947). Each count is 2 at least."""
    parts = [variance / count for variance, count in zip(variances, counts, strict=True)]
    squares = sum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    variance = sum(parts)
    return variance, variance**2 / squares if squares else sum(counts) - 2
