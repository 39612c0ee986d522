"""Warm-up, drift and outliers: hundreds of invented series, steady ones and others with a fault."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.judge.statistics.drift import drift
from assay.judge.statistics.outliers import among_repetitions, among_seconds
from assay.judge.statistics.warm_up import beginning

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


@pytest.mark.parametrize("n", [10, 15, 120])
@pytest.mark.parametrize("noise", STEADY)
def test_steady_noise_is_called_steady(noise: str, n: int) -> None:
    def steady(random: np.random.Generator) -> Series:
        return STEADY[noise](random, n)

    for found in (beginning, drift, among_seconds):
        assert share(found, steady) <= 0.05, found.__name__


def test_a_warm_up_is_found_with_its_length() -> None:
    def slow_start(random: np.random.Generator) -> Series:
        return np.concatenate([random.normal(600, 50, 8), random.normal(1000, 50, 52)])

    def is_right(values: Series) -> bool:
        found = beginning(values)
        return found is not None and 6 <= found.seconds <= 10 and found.per_s < found.rest_per_s

    assert share(is_right, slow_start) >= 0.8
    assert share(beginning, slow_start) >= 0.98


def test_a_climbing_warm_up_is_found_too() -> None:
    def climbs(random: np.random.Generator) -> Series:
        level = np.minimum(1.0, 0.2 + np.arange(60) / 12)
        return level * random.normal(1000, 50, 60)

    assert share(beginning, climbs) >= 0.95


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
        return {20, 41} <= {one.at for one in among_seconds(values)}

    assert share(is_right, two_dips) >= 0.98


def test_one_transaction_more_is_no_outlier() -> None:
    values = np.full(60, 4.0)
    values[30] = 5
    assert among_seconds(values) == []


@pytest.mark.parametrize("n", [4, 5, 10])
def test_an_outlying_repetition_is_named_and_rarely_without_need(n: int) -> None:
    def alike(random: np.random.Generator) -> Series:
        return random.normal(1000, 150, n)

    def one_is_slow(random: np.random.Generator) -> Series:
        values = random.normal(1000, 15, n)
        values[2] = 600
        return values

    assert share(among_repetitions, alike) <= 0.05
    found = share(lambda values: (one := among_repetitions(values)) and one.at == 2, one_is_slow)
    assert found >= (0.6 if n == 4 else 0.95)
