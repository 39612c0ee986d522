"""Distributions of durations, and the one of all samples of several, without a loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from assay import _engine
from assay.contracts.observation.parts.shape import Shape
from assay.errors import InputError


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


def merged_latency(parts: Sequence[EncodedHistogram]) -> Latency:
    """Exact, in whatever order. Raises `InputError` where one of them is damaged."""
    fields = EncodedHistogram.__struct_fields__
    encoded = [{name: getattr(part, name) for name in fields} for part in parts]
    try:
        text = _engine.merge_latency(msgspec.json.encode(encoded).decode())
    except _engine.EngineError as error:
        raise InputError(
            f"a latency distribution that was kept cannot be read: {error}",
            file="",
            hint="the record file, or what a load generator kept, is damaged: use a copy of it",
        ) from error
    return msgspec.json.decode(text, type=Latency)


def merged_latency_or_none(parts: Sequence[EncodedHistogram | None]) -> Latency | None:
    """Of those that are there, if any is."""
    known = [part for part in parts if part is not None]
    return merged_latency(known) if known else None


def encoded(latency: Latency) -> EncodedHistogram:
    """Without what can be computed from it."""
    fields = EncodedHistogram.__struct_fields__
    return EncodedHistogram(**{name: getattr(latency, name) for name in fields})
