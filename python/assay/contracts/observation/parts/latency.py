"""Distributions of durations, which merge without a loss."""

from __future__ import annotations

from typing import Annotated

import msgspec

from assay.contracts.observation.parts.shape import Shape


class EncodedHistogram(Shape, frozen=True):
    """All samples: exact count, least, greatest and sum, and the HDR histogram as text."""

    count: int
    min_ns: int
    max_ns: int
    sum_ns: int
    overflow: int
    histogram: str
    unanswered: int = 0
    """Transactions of an open loop that were due and had no answer (skipped, or of unknown
    outcome): no samples, but above all of them."""

    @property
    def due(self) -> int:
        """All that was due, of which percentiles are."""
        return self.count + self.unanswered


class Latency(EncodedHistogram, frozen=True, kw_only=True):
    """The same, with what reports read at once (`assay.judge.statistics.samples.time_ns`): the mean
    of the samples, and percentiles of all that was due. None: the rank is among what had no
    answer."""

    mean_ns: float
    p50_ns: int | None
    p90_ns: int | None
    p95_ns: int | None
    p99_ns: int | None
    p99_9_ns: int | None


class Resolution(Shape, frozen=True):
    """How fine times are."""

    lowest_ns: Annotated[int, msgspec.Meta(ge=1)]
    significant_digits: Annotated[int, msgspec.Meta(ge=1, le=5)]
    highest_ns: int
