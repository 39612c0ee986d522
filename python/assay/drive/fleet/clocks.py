"""Takes readings of another machine's clock, each made between two readings of this machine's;
returns its offset, and the uncertainty of that.

The reading with the shortest round trip knows it best: it was made somewhere between its two
instants, so that half of the round trip is the most by which the offset can be wrong.

While clients work, a generator looks at what it is asked ten times a second. So it is asked a few
times, one question behind the other, for which it waits a moment.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec import Struct

from assay.contracts.engine.messages import ClockReading, EngineRequest
from assay.contracts.observation.parts.shape import convert

READINGS = 30
"""Of which the best counts."""
READINGS_AT_WORK = 6
"""The same while clients work."""


class ClockRoundTrip(NamedTuple):
    sent_ns: int
    """On our monotonic clock, as the next."""
    received_ns: int
    theirs_ns: int
    """On their monotonic clock."""
    wall_ahead_ns: int
    """Their wall clock after ours, without the time that the reading took."""


class ClockOffset(Struct, frozen=True):
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


class Clock:
    """Of one generator, as it is asked for and answered."""

    def __init__(self) -> None:
        self.at_work: ClockOffset | None = None
        """The last one of those while clients worked."""
        self._sent_ns = self._wall_ns = 0
        self._readings: list[ClockRoundTrip] = []
        self._is_asked = False

    def sent(self) -> None:
        """It is being asked now."""
        self._sent_ns, self._wall_ns = time.monotonic_ns(), time.time_ns()

    def read(self, answer: Any) -> ClockRoundTrip:
        """It has answered now."""
        received_ns = time.monotonic_ns()
        theirs = convert(answer, ClockReading, "answer")
        half_ns = (received_ns - self._sent_ns) // 2
        return ClockRoundTrip(
            self._sent_ns,
            received_ns,
            theirs["monotonic_ns"],
            theirs["unix_ns"] - self._wall_ns - half_ns,
        )

    def ask(self) -> EngineRequest:
        """The first question of several, while clients work; none as long as one is not answered:
        its answer would be taken for that of the next one."""
        return {} if self._is_asked else self._question()

    def answered(self, answer: Any) -> EngineRequest:
        """The next one; none: these were all."""
        if not self._is_asked:
            return {}
        self._readings.append(self.read(answer))
        self._is_asked = False
        if len(self._readings) < READINGS_AT_WORK:
            return self._question()
        self.at_work = offset(self._readings)
        self._readings.clear()
        return {}

    def _question(self) -> EngineRequest:
        self.sent()
        self._is_asked = True
        return {"clock": READINGS_AT_WORK - len(self._readings)}
