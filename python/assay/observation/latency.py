"""Distributions of durations, which merge without a loss."""

from __future__ import annotations

from typing import Annotated

import msgspec

from assay.observation.shape import Shape


class EncodedHistogram(Shape, frozen=True):
    """All samples: exact count, least, greatest and sum, and the HDR histogram as text."""

    count: int
    min_ns: int
    max_ns: int
    sum_ns: int
    overflow: int
    histogram: str


class Latency(EncodedHistogram, frozen=True):
    """The same, with what reports read at once."""

    mean_ns: float
    p50_ns: int
    p90_ns: int
    p95_ns: int
    p99_ns: int
    p99_9_ns: int


class Resolution(Shape, frozen=True):
    """How fine times are."""

    lowest_ns: Annotated[int, msgspec.Meta(ge=1)]
    significant_digits: Annotated[int, msgspec.Meta(ge=1, le=5)]
    highest_ns: int
