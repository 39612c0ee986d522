"""Statistics against what textbooks print, what least squares finds and what is true: effects over
a grid, correlation of ranks, drift."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

from assay.judge.statistics import estimate
from assay.judge.statistics.estimate import Place
from assay.judge.statistics.samples import kendall_tau, median_and_spread, ranks
from assay.judge.statistics.series import drift, outlying_repetitions, outlying_seconds, warm_up

ETCH = {
    (0, 0, 0): (550, 604), (1, 0, 0): (669, 650), (0, 1, 0): (633, 601), (1, 1, 0): (642, 635),
    (0, 0, 1): (1037, 1052), (1, 0, 1): (749, 868), (0, 1, 1): (1075, 1063), (1, 1, 1): (729, 860),
}  # fmt: skip
"""The plasma etch experiment of Montgomery, Design and Analysis of Experiments, example 6.1: etch
rate by gap, gas flow and power, twice each."""


def test_a_printed_experiment_has_the_printed_effects() -> None:
    grid = estimate.factorial(
        {place: [math.exp(one / 1000) for one in both] for place, both in ETCH.items()},
        in_blocks=False,
    )
    for factor, printed in enumerate((-101.625, 7.375, 306.125)):
        found = estimate.effect(grid, factor, 1, 0)
        assert found is not None and found[1] == 4
        assert 1000 * found[0].log_ratio == pytest.approx(printed)
    for pair, printed in (((0, 1), -24.875), ((0, 2), -153.625), ((1, 2), -2.125)):
        both = estimate.interaction(grid, (pair[0], 1, 0), (pair[1], 1, 0))
        assert both is not None
        assert 1000 * both[0].log_ratio / 2 == pytest.approx(printed)  # he prints half of it


def noisy(
    seed: int, repetitions: int, levels: Sequence[int] = (2, 2, 2), block: float = 0.0
) -> dict[Place, list[float]]:
    """Cells of which each varies differently: the first factor makes 1.5 times of it, and with the
    last level of the second 1.5 · 1.2 times."""
    draw = random.Random(seed)
    blocks = [draw.gauss(0, block) for _ in range(repetitions)]
    cells = {}
    for k, place in enumerate(itertools.product(*map(range, levels))):
        effect = (place[0] > 0) * (math.log(1.5) + math.log(1.2) * (place[1] == levels[1] - 1))
        deviation = 0.01 * (1 + k % 4)
        cells[place] = [math.exp(effect + draw.gauss(one, deviation)) for one in blocks]
    return cells


def test_ratio_and_interval_are_those_of_a_least_squares_fit() -> None:
    """With each cell's own variance: the covariance of MacKinnon and White (HC2) of a model of all
    effects in ±1/2 coding."""
    cells = noisy(seed=3, repetitions=4)
    rows = [(place, value) for place, values in cells.items() for value in values]
    terms = [term for size in range(4) for term in itertools.combinations(range(3), size)]
    x = np.array([[math.prod(at[k] - 0.5 for k in term) for term in terms] for at, _ in rows])
    y = np.array([math.log(value) for _, value in rows])
    inverse = np.linalg.inv(x.T @ x)
    coefficients = inverse @ x.T @ y
    leverage = np.einsum("ij,jk,ik->i", x, inverse, x)
    squares = (y - x @ coefficients) ** 2 / (1 - leverage)
    covariance = inverse @ (x.T * squares) @ x @ inverse
    grid = estimate.factorial(cells, in_blocks=False)
    for k, term in enumerate(terms):
        if len(term) == 1:
            found = estimate.effect(grid, term[0], 1, 0)
        elif len(term) == 2:
            found = estimate.interaction(grid, (term[0], 1, 0), (term[1], 1, 0))
        else:
            continue
        assert found is not None
        assert found[0].log_ratio == pytest.approx(coefficients[k])
        assert found[0].standard_error == pytest.approx(math.sqrt(covariance[k, k]))


@pytest.mark.slow
@pytest.mark.parametrize("block", [0.0, 0.05])
@pytest.mark.parametrize("repetitions", [3, 6])
def test_the_interval_holds_the_true_ratio_about_as_often_as_it_says(
    repetitions: int, block: float
) -> None:
    """98 of 100; what a whole repetition has in common widens nothing."""
    held, widths = 0, []
    for seed in range(400):
        cells = noisy(seed, repetitions, block=block)
        grid = estimate.factorial(cells, in_blocks=True)
        found = estimate.interaction(grid, (0, 1, 0), (1, 1, 0))
        assert found is not None
        low, high = found[0].interval() or (0.0, 0.0)
        held += low <= 1.2 <= high
        widths.append(high - low)
    assert held >= 384
    assert np.median(widths) < 0.2


def test_a_missing_cell_takes_its_combination_with_it_and_nothing_else() -> None:
    cells = noisy(seed=5, repetitions=3, levels=(2, 2, 3))
    del cells[1, 0, 2]
    grid = estimate.factorial(cells, in_blocks=True)
    found = estimate.effect(grid, 0, 1, 0)
    assert found is not None and found[1] == 5
    logs = {place: np.mean(np.log(values)) for place, values in cells.items()}
    there = [place for place in logs if place[0] == 0 and (1, *place[1:]) in logs]
    by_hand = np.mean([logs[1, place[1], place[2]] - logs[place] for place in there])
    assert found[0].log_ratio == pytest.approx(by_hand)
    both = estimate.interaction(grid, (0, 1, 0), (2, 2, 0))
    assert both is not None and both[1] == 1
    del cells[1, 1, 2]
    assert estimate.effect(estimate.factorial(cells, in_blocks=True), 2, 2, 0) is not None
    assert (
        estimate.interaction(estimate.factorial(cells, in_blocks=True), (0, 1, 0), (2, 2, 0))
        is None
    )


def test_of_cells_that_were_run_once_higher_interactions_are_the_error() -> None:
    cells = noisy(seed=7, repetitions=1, levels=(2, 2, 2, 2))
    grid = estimate.factorial(cells, in_blocks=True)
    assert grid.is_pooled
    found = estimate.effect(grid, 0, 1, 0)
    assert found is not None and found[0].degrees_of_freedom == 5
    # Of 16 values the 5 contrasts of three factors and more are left.
    places = list(cells)
    y = np.array([math.log(cells[place][0]) for place in places])
    high = [term for size in (3, 4) for term in itertools.combinations(range(4), size)]
    contrasts = [
        sum(np.prod([2 * at[k] - 1 for k in term]) * v for at, v in zip(places, y, strict=True))
        for term in high
    ]
    variance = sum(one**2 / 16 for one in contrasts) / 5
    assert found[0].standard_error == pytest.approx(math.sqrt(variance / 4))
    few = estimate.effect(estimate.factorial(noisy(1, 1), in_blocks=True), 0, 1, 0)
    assert few is not None and few[0].interval() is None
    low, high_bound = found[0].interval() or (0.0, 0.0)

    assert high_bound / low == pytest.approx(
        math.exp(2 * scipy.stats.t.ppf(0.99, 5) * math.sqrt(variance / 4))
    )


def test_tau_of_known_orders() -> None:
    for first, second, tau in (
        ((1, 2, 3), (10, 20, 30), 1.0),
        ((1, 2, 3), (30, 20, 10), -1.0),
        ((1, 2, 3), (10, 30, 20), 1 / 3),
        # 25 of the 45 pairs are in the same order.
        ((1, 2, 3, 4, 5, 6, 7, 8, 9, 10), (4, 7, 2, 10, 3, 6, 8, 1, 5, 9), 5 / 45),
        # Of three pairs one is a tie of the first: two of them are in order, of sqrt(2 * 3).
        ((1, 1, 2), (1, 2, 3), 2 / math.sqrt(6)),
    ):
        assert kendall_tau(list(zip(first, second, strict=True))) == pytest.approx(tau)
    for pairs in ([], [(1, 1), (2, 2)], [(1, 1), (1, 2), (1, 3)], [(1, 5), (2, 5), (3, 5)]):
        assert kendall_tau(pairs) is None, "too few, or equal ones"


def test_values_within_their_spread_share_a_rank() -> None:
    every: list[tuple[list[list[float]], list[int]]] = [
        ([[10], [20], [15]], [3, 1, 2]),
        # 9 % apart, and 11 % apart.
        ([[100], [109], [50]], [1, 1, 3]),
        ([[100], [111], [50]], [2, 1, 3]),
        # The ranges of the repetitions overlap.
        ([[100, 130, 160], [150, 200, 250], [20, 21, 22]], [1, 1, 3]),
        # The third is near the second, but not near the first, with which that shares a rank.
        ([[100], [108], [95]], [1, 1, 3]),
        ([], []),
    ]
    for values, expected in every:
        assert ranks([median_and_spread(one) for one in values]) == expected


Series = NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Series]
CASES = 300


def _dependent(random: np.random.Generator, n: int) -> Series:
    """Each second is half that of the one before, as where a buffer fills and flushes."""
    series = random.normal(0, 1, n)
    for at in range(1, n):
        series[at] = 0.5 * series[at - 1] + series[at] * np.sqrt(0.75)
    return 1000 * (1 + 0.1 * series)


STEADY: dict[str, Noise] = {
    "normal": lambda random, n: random.normal(1000, 100, n),
    "few per second": lambda random, n: random.poisson(20, n).astype(float),
    "long tail": lambda random, n: 1000 * np.exp(random.normal(0, 0.3, n)),
    "dependent": _dependent,
}


def share(
    found: Callable[[Series], object], series: Callable[[np.random.Generator], Series]
) -> float:
    """Of `CASES` series, those in which something is found."""
    random = np.random.default_rng(2026)
    return sum(bool(found(series(random))) for _ in range(CASES)) / CASES


@pytest.mark.parametrize("n", [10, pytest.param(120, marks=pytest.mark.slow)])
@pytest.mark.parametrize("noise", STEADY)
def test_steady_noise_is_called_steady(noise: str, n: int) -> None:
    def steady(random: np.random.Generator) -> Series:
        return STEADY[noise](random, n)

    for found in (warm_up, drift, outlying_seconds):
        assert share(found, steady) <= 0.05, found.__name__


@pytest.mark.slow
def test_a_warm_up_is_found_with_its_length() -> None:
    def slow_start(random: np.random.Generator) -> Series:
        return np.concatenate([random.normal(600, 50, 8), random.normal(1000, 50, 52)])

    def is_right(values: Series) -> bool:
        found = warm_up(values)
        return found is not None and 6 <= found.seconds <= 10 and found.per_s < found.rest_per_s

    assert share(is_right, slow_start) >= 0.8
    assert share(warm_up, slow_start) >= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("change", [-0.25, 0.25])
def test_a_drift_is_found_with_its_size(change: float) -> None:
    def drifts(random: np.random.Generator) -> Series:
        return np.linspace(1 - change / 2, 1 + change / 2, 60) * random.normal(1000, 60, 60)

    def is_right(values: Series) -> bool:
        found = drift(values)
        return found is not None and found.relative == pytest.approx(change, abs=0.1)

    assert share(is_right, drifts) >= 0.95


def test_outlying_seconds_are_found_where_they_are_and_do_not_hide_one_another() -> None:
    def two_dips(random: np.random.Generator) -> Series:
        values = random.normal(1000, 40, 60)
        values[[20, 41]] = 500, 520
        return values

    def is_right(values: Series) -> bool:
        return {20, 41} <= {one.at for one in outlying_seconds(values)}

    assert share(is_right, two_dips) >= 0.98
    values = np.full(60, 4.0)
    values[30] = 5
    assert outlying_seconds(values) == [], "one transaction more is none"


@pytest.mark.parametrize("n", [4, 5, 10])
def test_an_outlying_repetition_is_named_and_rarely_without_need(n: int) -> None:
    def alike(random: np.random.Generator) -> Series:
        return random.normal(1000, 150, n)

    def one_is_slow(random: np.random.Generator) -> Series:
        values = random.normal(1000, 15, n)
        values[2] = 600
        return values

    assert share(outlying_repetitions, alike) <= 0.05
    found = share(lambda values: (one := outlying_repetitions(values)) and one.at == 2, one_is_slow)
    assert found >= (0.6 if n == 4 else 0.95)
