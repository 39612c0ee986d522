"""The text of a condition: names and limits with and without their units."""

from __future__ import annotations

import pytest

from assay.comparison.conditions import condition
from assay.errors import ArgumentError


@pytest.mark.parametrize(
    ("text", "name", "limit"),
    [
        ("p99 < 5ms", "latency_p99_ns", 5e6),
        ("p99.9 < 250us", "latency_p99_9_ns", 250e3),
        ("latency_p99[insert] > 1.5s", "latency_p99_ns[insert]", 1.5e9),
        ("latency_p99_ns > 5000000", "latency_p99_ns", 5e6),
        ("latency_p99_ns > 5ms", "latency_p99_ns", 5e6),
        ("throughput > 100/s", "throughput_per_s", 100),
        ("throughput_per_s < 0.95x", "throughput_per_s", 0.95),
        ("p99[insert] > 1.2x", "latency_p99_ns[insert]", 1.2),
    ],
)
def test_a_limit_has_the_unit_of_its_metric_or_its_own(text: str, name: str, limit: float) -> None:
    found = condition(text)
    assert (found.metric.name, found.limit) == (name, pytest.approx(limit))
    assert found.is_ratio == text.endswith("x")


@pytest.mark.parametrize(
    "text", ["p99 < 5", "p99 < 5%", "throughput_per_s > 5ms", "p98 < 5ms", "failed > 1ms", "p99"]
)
def test_a_limit_whose_unit_is_not_known_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        condition(text)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("p99 < 5", "'p99 < 5ms'"),
        ("p99[insert]  <  5", "'p99[insert] < 5ms'"),
        ("elapsed < 2", "'elapsed < 2s'"),
        ("throughput < 100", "'throughput < 100/s'"),
        ("size_on_disk < 100", "'size_on_disk_bytes < 100'"),
    ],
)
def test_a_limit_without_its_unit_is_refused_with_the_unit(text: str, hint: str) -> None:
    with pytest.raises(ArgumentError, match="expected a limit with its unit") as refused:
        condition(text)
    assert refused.value.hint == hint


def test_an_unknown_percentile_is_answered_with_those_that_are_kept() -> None:
    with pytest.raises(ArgumentError, match="there is no metric 'p98'") as caught:
        condition("p98 < 5ms")
    assert caught.value.hint == "the percentiles that are kept: p50, p90, p95, p99, p99.9"
