"""Takes the values of repetitions; returns their median and how far they lie apart."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from msgspec import Struct


class Spread(Struct, frozen=True):
    """Median, smallest, largest. No mean: one disturbed repetition must not move the number."""

    median: float
    low: float
    high: float
    n: int

    @property
    def relative(self) -> float:
        """(largest - smallest) / median."""
        return (self.high - self.low) / self.median if self.median else 0.0


def middle_places(values: Sequence[float]) -> tuple[int, ...]:
    """Where the one value stands that the median is, or the two of which it is the mean."""
    places = sorted(range(len(values)), key=values.__getitem__)
    return tuple(dict.fromkeys((places[(len(places) - 1) // 2], places[len(places) // 2])))


def median_of_all(values: Iterable[float | None]) -> float | None:
    """The median of repetitions; None where one of them has no such number."""
    found = list(values)
    known = [value for value in found if value is not None]
    return statistics.median(known) if known and len(known) == len(found) else None


def spread(values: Sequence[float]) -> Spread:
    """``values`` holds at least one."""
    return Spread(statistics.median(values), min(values), max(values), len(values))
