"""Takes the values of the cells of a grid; returns contrasts of their means on the logarithmic
scale: how many times as large the result is at one level as at another, and how much that depends
on the level of a second factor.

The method is that of factorial experiments (D. C. Montgomery, *Design and Analysis of Experiments*,
chapters 5 and 6): an effect is the mean, over all combinations of the other factors, of the
difference between two levels; an interaction is the difference between two such effects. Each cell
counts the same, however often it was run. Cells may vary differently, so each has its own variance,
and the degrees of freedom are Satterthwaite's (F. E. Satterthwaite, Biometrics Bulletin 2, 1946).
Repetitions that were measured together are blocks: what they have in common is taken out of the
variances, and cancels in every contrast.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from assay.judge.statistics.estimate import Design, Estimate, LeastDeviation, exact

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


def grid(
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
    return _estimate(grid, weights), len(whole)


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


def _estimate(grid: Factorial, weights: Mapping[Place, float]) -> Estimate:
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
