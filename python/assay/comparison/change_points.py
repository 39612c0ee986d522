"""Takes several series of values, each in the order of time; gives the places of each from which on
its values are others, by binary segmentation with a permutation test.

The statistic of a part is the greatest difference of means to the left and to the right of a place,
weighted by √(k(n - k)/n) (the CUSUM statistic). Without a change every order of the values is as
likely as the one that was seen, so the share of random orders with as great a statistic is the
p-value: how often chance alone would show as great a change. Random orders are tried until 50 have
as great a statistic (J. Besag and P. Clifford, Biometrika 78, 1991).

The false discoveries are limited to the share that comparisons allow. The p-values of the first
split of all series are adjusted for their number (Benjamini and Hochberg's method). Both sides of a
change are looked at in the same way, only in the series that have one; these p-values are adjusted
for the selection: times the number of series, divided by that of those with a change (Y. Benjamini
and M. Bogomolov, Journal of the Royal Statistical Society B 76, 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.comparison.ratios.adjusting import benjamini_hochberg
from assay.judge.statistics.estimate import SIGNIFICANCE

LEAST_VALUES = 9
"""With fewer no order of the values is rare enough: of 8, a change in the middle has 1/35."""
_LEAST_SIDE = 2
_LEAST_ORDERS = 4999
_ORDERS_PER_SERIES = 200
"""So that the smallest p-value, times the number of series, is far below the limit."""
_ENOUGH = 50
_MOST_AT_ONCE = 1000
_MOST_VALUES_AT_ONCE = 1_000_000
"""In memory, of the orders that are tried at a time."""
_SEED = 1
"""The same values always have the same change points."""

Floats = NDArray[np.float64]


class ChangePoint(NamedTuple):
    place: int
    """Of the first value after the change."""
    adjusted_p: float


class _Split(NamedTuple):
    """Of the values of one part, where the means differ most."""

    place: int
    p_value: float


def change_points(series: Sequence[Sequence[float]]) -> list[list[ChangePoint]]:
    """Of each series, in their order."""
    values = [np.asarray(one, dtype=np.float64) for one in series]
    orders = max(
        _LEAST_ORDERS, _ORDERS_PER_SERIES * sum(len(one) >= LEAST_VALUES for one in values)
    )
    known = [(place, split) for place, one in enumerate(values) if (split := _split(one, orders))]
    adjusted = benjamini_hochberg([split.p_value for _, split in known])
    changed = [(*one, p) for one, p in zip(known, adjusted, strict=True) if p <= SIGNIFICANCE]
    found: list[list[ChangePoint]] = [[] for _ in series]
    for place, split, p in changed:
        sides = _sides(values[place], split.place, 0, orders, len(known) / len(changed))
        found[place] = sorted([ChangePoint(split.place, p), *sides])
    return found


def _sides(
    values: Floats, middle: int, first: int, orders: int, adjustment: float
) -> list[ChangePoint]:
    """Change points on both sides of ``middle``; ``first`` is the place of the first value."""
    found = []
    for begin, part in ((0, values[:middle]), (middle, values[middle:])):
        split = _split(part, orders)
        if split is not None and (p := min(1.0, adjustment * split.p_value)) <= SIGNIFICANCE:
            found.append(ChangePoint(first + begin + split.place, p))
            found += _sides(part, split.place, first + begin, orders, adjustment)
    return found


def _split(values: Floats, orders: int) -> _Split | None:
    """None: there are too few values."""
    if len(values) < LEAST_VALUES:
        return None
    statistics = _statistics(values[np.newaxis, :])[0]
    place = int(np.argmax(statistics))
    # Sums in another order differ in their last digits.
    limit = float(statistics[place]) * (1 - 1e-9)
    return _Split(place + _LEAST_SIDE, _p_value(values, limit, orders))


def _p_value(values: Floats, limit: float, orders: int) -> float:
    """The share of random orders of the values whose statistic is as great as ``limit``."""
    chance = np.random.default_rng(_SEED)
    at_once = max(1, min(_MOST_AT_ONCE, _MOST_VALUES_AT_ONCE // len(values)))
    found = 0
    for begin in range(0, orders, at_once):
        rows = np.tile(values, (min(at_once, orders - begin), 1))
        (as_great,) = (_statistics(chance.permuted(rows, axis=1)).max(axis=1) >= limit).nonzero()
        if found + len(as_great) >= _ENOUGH:
            return _ENOUGH / (begin + int(as_great[_ENOUGH - found - 1]) + 1)
        found += len(as_great)
    return (1 + found) / (1 + orders)


def _statistics(rows: Floats) -> Floats:
    """Of each row, the statistic at every place that has enough values on both sides."""
    count = rows.shape[1]
    left = np.arange(_LEAST_SIDE, count - _LEAST_SIDE + 1)
    sums = np.cumsum(rows, axis=1)
    total = sums[:, -1:]
    before = sums[:, left - 1]
    difference = np.abs((total - before) / (count - left) - before / left)
    found: Floats = difference * np.sqrt(left * (count - left) / count)
    return found
