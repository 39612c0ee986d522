"""Takes an experiment with a goal; returns the offered rates among which the highest that meets it
is searched for.

They are those of a geometric series from 1/s, rounded to three digits, so that searches on other
systems and on other days try the same rates: their cells are equal, and can be compared.
"""

from __future__ import annotations

import math

from assay.errors import ArgumentError
from assay.experiment import Experiment
from assay.text import rates
from assay.text.mentions import phrase
from assay.text.rates import Rate

LEAST_PER_S, MOST_PER_S = 1.0, 1_000_000.0
"""Where no other range is given."""


def offered_rates(experiment: Experiment) -> tuple[Rate | None, ...]:
    """The levels of the offered rate: those of the search, or those that were given; None: that of
    the test. Raises `ArgumentError` where a search has no range."""
    given = experiment.offered_rates_per_s
    if not experiment.goal or experiment.goal_over:
        return given or (None,)
    return _between(*_range(given), experiment.goal_tolerance)


def _range(given: tuple[Rate, ...]) -> tuple[float, float]:
    if not given:
        return LEAST_PER_S, MOST_PER_S
    numbers = [float(one) for one in given if not isinstance(one, str)]
    if len(numbers) != len(given) or len(numbers) != 2 or numbers[0] >= numbers[1]:
        found = ", ".join(map(rates.shown, given))
        raise ArgumentError(
            phrase(
                "expected the least and the greatest rate that {--goal} may try, found {}", found
            ),
            hint=phrase("{--offered-rate 100,2000}, or leave it out"),
        )
    return numbers[0], numbers[1]


def _between(least: float, most: float, tolerance: float) -> tuple[float, ...]:
    """The ends, and what is between them of the series whose neighbours differ by the tolerance at
    most, but for the rounding."""
    of_decade = math.ceil(math.log(10) / math.log1p(tolerance))
    first = math.floor(math.log10(least) * of_decade)
    last = math.ceil(math.log10(most) * of_decade)
    series = (float(f"{10 ** (place / of_decade):.3g}") for place in range(first, last + 1))
    inside = {rate for rate in series if least < rate < most}
    return tuple(sorted({least, most} | inside))
