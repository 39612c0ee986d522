"""Takes an observation with the response limits of its test; returns whether each was met, and the
time that was compared with it.

A transaction that was rolled back as the workload asked has been answered, so that its time counts
with those that ended ok.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assay.contracts.observation import Latency, Observation, ResponseLimit
from assay.judge.statistics import samples
from assay.judge.statistics.samples import UNREACHED
from assay.text import units

MET, MISSED, NOT_JUDGED = "met", "missed", "not judged"
_COMPLETED = ("ok", "aborted")


class JudgedLimit(NamedTuple):
    limit: ResponseLimit
    samples: int
    """Transactions that its percentile is of."""
    found_ns: float | None
    """None: too few of them; `UNREACHED`: more of what was due had no answer."""

    @property
    def word(self) -> str:
        if self.found_ns is None:
            return NOT_JUDGED
        return MET if self.found_ns < self.limit.limit_ns else MISSED

    @property
    def said(self) -> str:
        """``new-order p90 6.1 s (limit 5s)``."""
        limit = units.exact_duration(self.limit.limit_ns / 1e9)
        named = f"{self.limit.transaction} {self.limit.percentile}"
        if self.found_ns is None:
            needed = samples.needed_for(self.limit.percentile)
            return f"{named}: {self.samples} of {needed} transactions"
        reached = self.found_ns != UNREACHED
        found = units.latency(self.found_ns) if reached else samples.NOT_REACHED
        return f"{named} {found} (limit {limit})"


def judged(observation: Observation) -> Iterator[JudgedLimit]:
    for limit in observation.response_limits:
        times = _times(observation, limit.transaction)
        if times is None:
            yield JudgedLimit(limit, 0, None)
        else:
            yield JudgedLimit(limit, times.due, samples.time_ns(times, limit.percentile))


def _times(observation: Observation, transaction: str) -> Latency | None:
    found = [
        one.latency
        for one in observation.transactions
        if one.name == transaction and one.outcome in _COMPLETED
    ]
    from assay.contracts.observation.merging.latencies import merged_latency

    return merged_latency(found) if len(found) > 1 else next(iter(found), None)


def worst(limits: Iterable[JudgedLimit]) -> str:
    """Of the repetitions: missed where one missed it; met where each met it."""
    words = {one.word for one in limits}
    return next(word for word in (MISSED, NOT_JUDGED, MET) if word in words)
