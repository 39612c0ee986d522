"""Takes measured values; returns the rank of each, the greatest first. Values that lie within one
another's range share a rank."""

from __future__ import annotations

from collections.abc import Sequence

from assay.judge.spread import Spread

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
