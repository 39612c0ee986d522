"""Takes the values of cells; returns the ratio of two with its confidence interval, the order of
several, and the contrasts of a grid."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from itertools import combinations

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


CONFIDENCE_OF_ORDER = 0.95


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


def ratio_of_means(
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
    low, high = found.interval(CONFIDENCE_OF_ORDER) or (None, None)
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
    wide = t_quantile(len(values) - 2, (1 + CONFIDENCE_OF_ORDER) / 2) * math.sqrt(variance)
    return ConfidenceInterval(slope, slope - wide, slope + wide)


Place = tuple[int, ...]
"""Of a cell: the number of its level of each factor."""
_LEAST_POOLED = 4
"""Degrees of freedom of an error that is estimated from interactions of three and more factors."""

ERROR_OF_POOLED = (
    "each cell was run once: the error is estimated from interactions of three and more factors, "
    "which are taken for noise"
)


class Factorial(Struct, frozen=True):
    """Cells with their logarithms."""

    logs: Mapping[Place, Sequence[float]]
    variances: Mapping[Place, float]
    """Of a single value in the cell; empty: not known."""
    freedom: Mapping[Place, float]
    """Degrees of freedom of each variance."""
    is_pooled: bool = False
    """One variance for all cells, from interactions of three and more factors: each was run
    once."""

    @property
    def has_error(self) -> bool:
        return bool(self.variances)


def factorial(
    values: Mapping[Place, Sequence[float]],
    *,
    in_blocks: bool,
    least_deviation: LeastDeviation = exact,
) -> Factorial:
    """``values`` are positive, one at least in each cell. ``in_blocks``: the k-th values of all
    cells were measured together."""
    logs = {place: [math.log(value) for value in of_cell] for place, of_cell in values.items()}
    if all(len(of_cell) == 1 for of_cell in logs.values()):
        return _run_once(logs)
    if any(len(of_cell) < 2 for of_cell in logs.values()):
        return Factorial(logs, {}, {})
    residuals, share = _residuals(logs, in_blocks=in_blocks)
    variances = {}
    for place, of_cell in residuals.items():
        least = statistics.fmean(least_deviation(value) ** 2 for value in values[place])
        squares = sum(one**2 for one in of_cell)
        variances[place] = max(squares / ((len(of_cell) - 1) * share), least)
    return Factorial(logs, variances, {place: len(of_cell) - 1 for place, of_cell in logs.items()})


def effect(
    grid: Factorial, factor: int, level: int, compared_with: int
) -> tuple[Estimate, int] | None:
    """The result at a level, divided by that at another one: the estimate, and in how many
    combinations of the other factors both levels are there. None: in none."""
    return _mean_contrast(grid, [(factor, level, compared_with)])


def interaction(
    grid: Factorial, first: tuple[int, int, int], second: tuple[int, int, int]
) -> tuple[Estimate, int] | None:
    """The effect of the first at the level of the second, divided by that at the level that the
    second is compared with. Each is (factor, level, compared with)."""
    return _mean_contrast(grid, [first, second])


def _mean_contrast(
    grid: Factorial, sides: Sequence[tuple[int, int, int]]
) -> tuple[Estimate, int] | None:
    """Over the combinations of the other factors in which all cells are there."""
    corners = _corners(sides)
    factors = {factor for factor, _, _ in sides}
    rests = {
        tuple((k, at) for k, at in enumerate(place) if k not in factors) for place in grid.logs
    }
    width = len(next(iter(grid.logs)))
    whole: list[list[tuple[float, Place]]] = []
    for rest in rests:
        cells = [
            (sign, tuple({**dict(rest), **at}[k] for k in range(width))) for sign, at in corners
        ]
        if all(place in grid.logs for _, place in cells):
            whole.append(cells)
    if not whole:
        return None
    weights = {place: sign / len(whole) for cells in whole for sign, place in cells}
    return _contrast_estimate(grid, weights), len(whole)


def _corners(sides: Sequence[tuple[int, int, int]]) -> list[tuple[float, dict[int, int]]]:
    """The cells of a contrast, each with its sign and its levels of the factors."""
    corners: list[tuple[float, dict[int, int]]] = [(1.0, {})]
    for factor, level, compared_with in sides:
        corners = [
            (sign * own, {**at, factor: place})
            for sign, at in corners
            for own, place in ((1.0, level), (-1.0, compared_with))
        ]
    return corners


def _contrast_estimate(grid: Factorial, weights: Mapping[Place, float]) -> Estimate:
    log_ratio = math.fsum(
        weight * statistics.fmean(grid.logs[place]) for place, weight in weights.items()
    )
    if not grid.has_error:
        return Estimate(Design.SINGLE, log_ratio, None, None, None)
    parts = {
        place: weight**2 * grid.variances[place] / len(grid.logs[place])
        for place, weight in weights.items()
    }
    variance = math.fsum(parts.values())
    if grid.is_pooled:
        freedom = next(iter(grid.freedom.values()))
    else:
        squares = math.fsum(part**2 / grid.freedom[place] for place, part in parts.items())
        freedom = variance**2 / squares if squares else sum(grid.freedom[one] for one in parts)
    return Estimate(Design.INDEPENDENT, log_ratio, math.sqrt(variance), freedom, None)


def _residuals(
    logs: Mapping[Place, Sequence[float]], *, in_blocks: bool
) -> tuple[dict[Place, list[float]], float]:
    """What each value has beside the mean of its cell (and of its block), and the share of its
    variance that is left in it."""
    means = {place: statistics.fmean(of_cell) for place, of_cell in logs.items()}
    residuals = {
        place: [value - means[place] for value in of_cell] for place, of_cell in logs.items()
    }
    if not in_blocks or len({len(of_cell) for of_cell in logs.values()}) > 1 or len(logs) < 3:
        return residuals, 1.0
    blocks = [statistics.fmean(block) for block in zip(*residuals.values(), strict=True)]
    within = {
        place: [value - block for value, block in zip(of_cell, blocks, strict=True)]
        for place, of_cell in residuals.items()
    }
    return within, (len(logs) - 1) / len(logs)


def _run_once(logs: Mapping[Place, Sequence[float]]) -> Factorial:
    """With the error of a model of all effects and interactions of two factors."""
    import numpy as np

    places = list(logs)
    terms_of = [set(_subsets(place)) for place in places]
    terms = sorted(set().union(*terms_of))
    design = np.array([[float(term in own) for term in terms] for own in terms_of])
    found = np.array([logs[place][0] for place in places])
    rank = int(np.linalg.matrix_rank(design))
    freedom = len(places) - rank
    if freedom < _LEAST_POOLED:
        return Factorial(logs, {}, {})
    fitted = design @ np.linalg.lstsq(design, found, rcond=None)[0]
    variance = float(((found - fitted) ** 2).sum()) / freedom
    return Factorial(
        logs, dict.fromkeys(places, variance), dict.fromkeys(places, freedom), is_pooled=True
    )


def _subsets(place: Place) -> Iterable[tuple[tuple[int, int], ...]]:
    """The levels of no, one and two factors."""
    levels = list(enumerate(place))
    for size in range(3):
        yield from combinations(levels, size)
