"""Takes readings of another machine's clock, each made between two readings of this machine's;
returns its offset, and the uncertainty of that.

The reading with the shortest round trip knows it best: it was made somewhere between its two
instants, so that half of the round trip is the most by which the offset can be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

READINGS = 30
"""Of which the best counts."""


class ClockRoundTrip(NamedTuple):
    sent_ns: int
    """On our monotonic clock, as the next."""
    received_ns: int
    theirs_ns: int
    """On their monotonic clock."""
    wall_ahead_ns: int
    """Their wall clock after ours, without the time that the reading took."""


@dataclass(frozen=True)
class ClockOffset:
    at_ns: int
    """Of our monotonic clock, when it was read."""
    ahead_ns: int
    """Their monotonic clock after ours."""
    uncertainty_ns: int
    """The most by which that may be wrong."""
    wall_ahead_ns: int


SAME_CLOCK = ClockOffset(0, 0, 0, 0)
"""Of a process of this machine, which reads the same clock."""


def offset(readings: Iterable[ClockRoundTrip]) -> ClockOffset:
    best = min(readings, key=lambda reading: reading.received_ns - reading.sent_ns)
    middle_ns = (best.sent_ns + best.received_ns) // 2
    return ClockOffset(
        at_ns=middle_ns,
        ahead_ns=best.theirs_ns - middle_ns,
        uncertainty_ns=(best.received_ns - best.sent_ns + 1) // 2,
        wall_ahead_ns=best.wall_ahead_ns,
    )


def drift_ns_per_s(before: ClockOffset, after: ClockOffset) -> float:
    """How much farther their clock went in each second, as far as that is more than the
    uncertainty of both offsets; negative: it fell behind."""
    passed_s = (after.at_ns - before.at_ns) / 1e9
    went_ns = after.ahead_ns - before.ahead_ns
    certain_ns = max(0, abs(went_ns) - before.uncertainty_ns - after.uncertainty_ns)
    if passed_s <= 0 or not certain_ns:
        return 0.0
    return certain_ns / passed_s * (1 if went_ns > 0 else -1)
