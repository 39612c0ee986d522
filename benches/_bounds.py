"""Takes what two sides measured in the same rounds; returns their ratio, its interval, and whether
a bound is missed.

A bound is missed when the whole 95 % interval of the ratio lies beyond it: single rounds on a
machine shared with the server differ by a third, so a median beyond a bound proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.judge.statistics.estimate import paired

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Measured:
    """One side in one round."""

    rate_per_s: float
    cost_us: float
    """CPU time of the client for each transaction."""
    latency_ms: float = 0.0
    """The mean."""


Rounds = Sequence[Measured]


@dataclass(frozen=True)
class Bound:
    """How ours may compare with another side."""

    quantity: str
    of: Callable[[Measured], float]
    peer: str
    limit: float
    """Of ours ÷ the peer's."""
    is_least: bool = False
    """The ratio must not lie below the limit; else not above it."""

    @property
    def name(self) -> str:
        """As a table and a message say it."""
        return f"{self.quantity} {'≥' if self.is_least else '≤'} {self.limit:g} of {self.peer}"


@dataclass(frozen=True)
class Verdict:
    """What the rounds say about a bound."""

    bound: Bound
    ratio: float
    """Of the geometric means of the rounds."""
    interval: tuple[float, float]

    @property
    def is_missed(self) -> bool:
        lower, upper = self.interval
        return upper < self.bound.limit if self.bound.is_least else lower > self.bound.limit

    @property
    def word(self) -> str:
        """``met`` and ``missed`` are certain, ``open``: the interval includes the limit."""
        lower, upper = self.interval
        if self.is_missed:
            return "missed"
        is_met = lower >= self.bound.limit if self.bound.is_least else upper <= self.bound.limit
        return "met" if is_met else "open"


def judge(bound: Bound, ours: Rounds, theirs: Rounds) -> Verdict:
    """The k-th of both were measured in one round; there are two rounds at least."""
    estimate = paired([bound.of(side) for side in theirs], [bound.of(side) for side in ours])
    interval = estimate.interval(CONFIDENCE)
    if interval is None:
        raise ValueError("expected two rounds at least, found one")
    return Verdict(bound, estimate.ratio, interval)


def costs_at_most(limit: float, ours: Rounds, theirs: Rounds) -> bool:
    """Whether a transaction costs one side at most so many times what it costs the other."""
    return paired([side.cost_us for side in theirs], [side.cost_us for side in ours]).ratio <= limit
