"""Takes measured values; returns the rank of each, the greatest first, or how far two orders agree.
Values that lie within one another's range share a rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from assay.judge.statistics.spread import Spread

NEARLY_EQUAL = 1.1
"""A single measurement says nothing of its own spread: what differs by less than this ratio has no
certain order, however often it was measured."""


def ranks(values: Sequence[Spread]) -> list[int]:
    """From 1; of values that share a rank, the next one leaves as many out."""
    found = [0] * len(values)
    order = sorted(range(len(values)), key=lambda place: -values[place].median)
    first = 0
    for number, place in enumerate(order):
        if not number or not _are_near(values[order[first]], values[place]):
            first = number
        found[place] = first + 1
    return found


def _are_near(greater: Spread, less: Spread) -> bool:
    return less.high >= greater.low or greater.median < NEARLY_EQUAL * less.median


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
