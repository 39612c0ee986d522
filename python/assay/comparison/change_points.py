"""Takes values in the order of time; gives the places from which on they are others, by binary
segmentation with a permutation test.

The statistic of a part is the greatest difference of means to the left and to the right of a place,
weighted by √(k(n - k)/n) (the CUSUM statistic). Without a change every order of the values is as
likely as the one that was seen, so the share of random orders with as great a statistic is the
p-value: how often chance alone would show as great a change. Where it is at most 5 %, the place is
a change point, and both sides of it are looked at in the same way. Each side of a change has at
least 2 values; with fewer than 8 values no order is rare enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.05
LEAST_VALUES = 8
"""With fewer no order of the values is rare enough."""
_LEAST_SIDE = 2
_ORDERS = 4999
_MOST_AT_ONCE = 1_000_000
"""Values in memory, of the orders that are tried at a time."""
_SEED = 1
"""The same values always have the same change points."""

Floats = NDArray[np.float64]


class ChangePoint(NamedTuple):
    place: int
    """Of the first value after the change."""
    p_value: float


def change_points(values: Sequence[float]) -> list[ChangePoint]:
    """In their order."""
    return sorted(_within(np.asarray(values, dtype=np.float64), 0))


def _within(values: Floats, first: int) -> list[ChangePoint]:
    if len(values) < LEAST_VALUES:
        return []
    statistics = _statistics(values[np.newaxis, :])[0]
    place = int(np.argmax(statistics))
    # Sums in another order differ in their last digits.
    limit = float(statistics[place]) * (1 - 1e-9)
    p_value = (1 + _orders_as_great(values, limit)) / (1 + _ORDERS)
    if p_value > LEVEL:
        return []
    middle = place + _LEAST_SIDE
    return [
        ChangePoint(first + middle, p_value),
        *_within(values[:middle], first),
        *_within(values[middle:], first + middle),
    ]


def _orders_as_great(values: Floats, limit: float) -> int:
    """How many random orders of the values have as great a statistic as ``limit``."""
    chance = np.random.default_rng(_SEED)
    at_once = max(1, _MOST_AT_ONCE // len(values))
    found = 0
    for begin in range(0, _ORDERS, at_once):
        rows = np.tile(values, (min(at_once, _ORDERS - begin), 1))
        found += int((_statistics(chance.permuted(rows, axis=1)).max(axis=1) >= limit).sum())
    return found


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
