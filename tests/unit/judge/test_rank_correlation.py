"""Kendall's tau-b on orders whose correlation is known; the ranks of measured values."""

from __future__ import annotations

import math

import pytest

from assay.judge.statistics.ranks import kendall_tau, ranks
from assay.judge.statistics.spread import spread


@pytest.mark.parametrize(
    ("first", "second", "tau"),
    [
        ((1, 2, 3), (10, 20, 30), 1.0),
        ((1, 2, 3), (30, 20, 10), -1.0),
        ((1, 2, 3), (10, 30, 20), 1 / 3),
        # 25 of the 45 pairs are in the same order.
        ((1, 2, 3, 4, 5, 6, 7, 8, 9, 10), (4, 7, 2, 10, 3, 6, 8, 1, 5, 9), 5 / 45),
        # Of three pairs one is a tie of the first: two of them are in order, of sqrt(2 * 3).
        ((1, 1, 2), (1, 2, 3), 2 / math.sqrt(6)),
    ],
)
def test_tau_of_known_orders(
    first: tuple[float, ...], second: tuple[float, ...], tau: float
) -> None:
    assert kendall_tau(list(zip(first, second, strict=True))) == pytest.approx(tau)


@pytest.mark.parametrize(
    "pairs", [[], [(1, 1), (2, 2)], [(1, 1), (1, 2), (1, 3)], [(1, 5), (2, 5), (3, 5)]]
)
def test_too_few_and_equal_numbers_have_no_correlation(pairs: list[tuple[float, float]]) -> None:
    assert kendall_tau(pairs) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[10], [20], [15]], [3, 1, 2]),
        # 9 % apart, and 11 % apart.
        ([[100], [109], [50]], [1, 1, 3]),
        ([[100], [111], [50]], [2, 1, 3]),
        # The ranges of the repetitions overlap.
        ([[100, 130, 160], [150, 200, 250], [20, 21, 22]], [1, 1, 3]),
        # The third is near the second, but not near the first, with which that shares a rank.
        ([[100], [108], [95]], [1, 1, 3]),
        ([], []),
    ],
)
def test_values_within_their_spread_share_a_rank(
    values: list[list[float]], expected: list[int]
) -> None:
    assert ranks([spread(one) for one in values]) == expected
