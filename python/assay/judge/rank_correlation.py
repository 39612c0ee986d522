"""Takes pairs of numbers; returns how far the first rank as the second."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

LEAST_PAIRS = 3
"""Two things have only two orders: their correlation says nothing."""


def kendall_tau(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Kendall's tau-b: 1 for the same order, -1 for the opposite one, with a correction for ties
    (M. G. Kendall, Rank Correlation Methods, 1948). None for fewer than `LEAST_PAIRS` pairs, and
    where all numbers of one side are equal."""
    if len(pairs) < LEAST_PAIRS:
        return None
    together = first_untied = second_untied = 0
    for (x1, y1), (x2, y2) in combinations(pairs, 2):
        by_first, by_second = _sign(x1 - x2), _sign(y1 - y2)
        together += by_first * by_second
        first_untied += abs(by_first)
        second_untied += abs(by_second)
    if not (first_untied and second_untied):
        return None
    return together / math.sqrt(first_untied * second_untied)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
