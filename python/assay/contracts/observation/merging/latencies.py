"""Takes distributions; returns the one of all their samples, without a loss."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay import _engine
from assay.contracts.observation.parts.latency import EncodedHistogram, Latency
from assay.errors import InputError


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
