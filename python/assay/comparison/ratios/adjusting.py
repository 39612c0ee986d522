"""Takes the p-values of several comparisons; gives them adjusted for their number."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """For the probability of even one false call among all (S. Holm, Scandinavian Journal of
    Statistics 6, 1979)."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, (len(p_values) - place) * p_values[index])
        adjusted[index] = min(1.0, highest)
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """For the expected share of false calls among those made (Y. Benjamini and Y. Hochberg, Journal
    of the Royal Statistical Society B 57, 1995)."""
    adjusted = [0.0] * len(p_values)
    lowest = 1.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for place in reversed(range(len(order))):
        lowest = min(lowest, len(order) / (place + 1) * p_values[order[place]])
        adjusted[order[place]] = lowest
    return adjusted
