"""Takes times in which something stood still, of several machines; returns what they have in
common, or all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TypeVar

from assay.contracts.observation.parts.service import TimeSpan

SECOND_NS = 1_000_000_000

Span = TypeVar("Span", bound=TimeSpan)
Pairs = list[tuple[int, int]]


def common(
    parts: Iterable[Sequence[TimeSpan]], shape: type[Span], least_ns: int = 1
) -> tuple[Span, ...]:
    """In which all of them stood still, for ``least_ns`` or longer."""
    found = reduce(_both, (_pairs(part) for part in parts))
    return tuple(shape(begin, end) for begin, end in found if end - begin >= least_ns)


def union(parts: Iterable[Sequence[TimeSpan]], shape: type[Span]) -> tuple[Span, ...]:
    """In which any of them stood still."""
    found: Pairs = []
    for begin, end in sorted(pair for part in parts for pair in _pairs(part)):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return tuple(shape(begin, end) for begin, end in found)


def within(spans: Iterable[TimeSpan], from_ns: int, to_ns: int) -> int:
    """How much of a stretch of time they take up."""
    return sum(max(0, min(span.to_ns, to_ns) - max(span.from_ns, from_ns)) for span in spans)


def _pairs(spans: Iterable[TimeSpan]) -> Pairs:
    return [(span.from_ns, span.to_ns) for span in spans]


def _both(some: Pairs, others: Pairs) -> Pairs:
    pairs = (
        (max(begin, other_begin), min(end, other_end))
        for begin, end in some
        for other_begin, other_end in others
    )
    return sorted((begin, end) for begin, end in pairs if begin < end)
