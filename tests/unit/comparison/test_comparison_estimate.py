"""Ratios, intervals and p-values against SciPy's tests and against values by hand; differences that
are there are called, and noise is called rarely."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
import scipy

from assay.comparison.ratios.adjusting import benjamini_hochberg, holm
from assay.judge.statistics.estimate import (
    CONFIDENCE,
    SIGNIFICANCE,
    Design,
    Estimate,
    independent,
    paired,
)
from assay.record.metrics.catalogue import COMPARED

A = (100.0, 104.0, 97.0, 101.0, 99.0)
B = (91.0, 96.0, 90.0, 92.5, 88.0)


def logs(values: Sequence[float]) -> list[float]:
    return [math.log(value) for value in values]


def test_pairs_have_the_interval_of_the_paired_t_test() -> None:
    found = paired(A, B)
    known = scipy.stats.ttest_rel(logs(B), logs(A))
    low, high = known.confidence_interval(CONFIDENCE)
    assert found.interval() == pytest.approx((math.exp(low), math.exp(high)))
    assert found.p_value == pytest.approx(known.pvalue)
    assert found.ratio == pytest.approx(scipy.stats.gmean(B) / scipy.stats.gmean(A))


def test_independent_sides_have_the_interval_of_welchs_test() -> None:
    found = independent(A, B[:3])
    known = scipy.stats.ttest_ind(logs(B[:3]), logs(A), equal_var=False)
    low, high = known.confidence_interval(CONFIDENCE)
    assert found.interval() == pytest.approx((math.exp(low), math.exp(high)))
    assert found.p_value == pytest.approx(known.pvalue)


def test_one_value_has_a_ratio_and_no_interval() -> None:
    for found in (independent([100], [50]), independent([100], [49, 51]), paired([100], [50])):
        assert found.design is Design.SINGLE
        assert found.ratio == pytest.approx(0.5, rel=0.01)
        assert found.interval() is None and found.p_value is None
        assert found.detectable_difference is None and found.effect_size is None


def test_values_that_never_vary_have_an_interval_without_width() -> None:
    assert paired([5, 5, 5], [5, 5, 5]).p_value == 1.0
    found = independent([5, 5], [6, 6])
    assert found.p_value == 0.0
    assert found.interval() == pytest.approx((1.2, 1.2))


def test_counts_and_rounded_values_that_are_equal_by_chance_make_no_difference() -> None:
    """Two repetitions with 1 error each, and two with 2; latencies one bucket apart."""
    count, latency = COMPARED["failed"], COMPARED["latency_p50_ns"]
    for design in (independent, paired):
        few = design([1, 1], [2, 2], count.least_deviation).p_value
        many = design([900, 900], [1800, 1800], count.least_deviation).p_value
        assert few is not None and few > 0.2
        assert many is not None and many < 0.05
        bucket = design([1_000_000] * 3, [1_000_900] * 3, latency.least_deviation).p_value
        assert bucket is not None and bucket > SIGNIFICANCE


def test_two_values_a_side_make_no_error_however_far_apart_they_are() -> None:
    found = independent([1, 1e12], [1e-9, 1e9])
    interval = found.interval()
    assert interval is not None and interval[0] < 1 < interval[1]


def test_what_changes_on_the_machine_cancels_in_pairs() -> None:
    drifting = [100 * 1.2**place for place in range(6)]
    slower = [value * 0.95 * noise for value, noise in zip(drifting, (1, 1.01) * 3, strict=True)]
    p_values = [paired(drifting, slower).p_value, independent(drifting, slower).p_value]
    assert p_values[0] is not None and p_values[0] < 0.001
    assert p_values[1] is not None and p_values[1] > 0.5


@pytest.mark.parametrize("n", [2, 3, 6])
def test_the_detectable_difference_is_found_four_times_of_five(n: int) -> None:
    """A true difference of that size, in many drawn experiments."""
    chance = random.Random(1)
    spread = 0.05
    size = Estimate(
        Design.PAIRED, 0, spread * math.sqrt(2 / n), n - 1, spread * math.sqrt(2)
    ).detectable_difference
    assert size is not None
    found = 0
    for _ in range(2000):
        a = [math.exp(chance.gauss(0, spread)) for _ in range(n)]
        b = [(1 + size) * math.exp(chance.gauss(0, spread)) for _ in range(n)]
        found += (paired(a, b).p_value or 0.0) < SIGNIFICANCE
    assert 0.77 < found / 2000 < 0.83


@pytest.mark.parametrize(
    "found",
    [paired(A, B), paired(A[:3], B[:3]), independent(A, B[:3])],
    ids=["pairs", "few pairs", "sides"],
)
def test_the_detectable_difference_is_that_of_the_noncentral_t(found: Estimate) -> None:
    assert found.detectable_difference and found.standard_error and found.degrees_of_freedom
    limit = scipy.stats.t.ppf((1 + CONFIDENCE) / 2, found.degrees_of_freedom)
    steps = math.log1p(found.detectable_difference) / found.standard_error
    power = scipy.stats.nct.sf(limit, found.degrees_of_freedom, steps)
    assert power == pytest.approx(0.8, abs=1e-5)


@pytest.mark.parametrize("estimate", [paired, independent])
def test_noise_is_called_in_five_of_a_hundred(estimate: object) -> None:
    chance = random.Random(2)
    called = 0
    for _ in range(4000):
        a, b = ([math.exp(chance.gauss(0, 0.1)) for _ in range(5)] for _ in "ab")
        called += (estimate(a, b).p_value or 0.0) < 0.05  # type: ignore[operator]
    assert 0.03 < called / 4000 < 0.06


def test_p_values_are_adjusted_for_their_number() -> None:
    assert holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm([]) == benjamini_hochberg([]) == []
    given = [0.01, 0.04, 0.03, 0.5]
    known = scipy.stats.false_discovery_control(given)
    assert benjamini_hochberg(given) == pytest.approx(list(known))


def test_the_effect_size_is_in_standard_deviations() -> None:
    found = independent(A, B)
    pooled = math.sqrt((scipy.stats.tvar(logs(A)) + scipy.stats.tvar(logs(B))) / 2)
    assert found.effect_size == pytest.approx(found.log_ratio / pooled * (1 - 3 / 31))
