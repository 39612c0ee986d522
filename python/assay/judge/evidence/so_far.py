"""Takes the seconds of a step that is under way; gives its observation as far as it is known, by
which its warnings are those of a run that has ended.

What is known only at the end is left out: it is neither `stop` by which it ended, nor are there
clients that have, costs, or the distribution of its latencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from msgspec.structs import replace

from assay.contracts.driving import DEFERRED
from assay.contracts.observation import Arrival, Interval, Observation, Outcomes, Standstill
from assay.contracts.observation.of_nothing import of_nothing
from assay.contracts.observation.parts.groups import ArrivalKind
from assay.experiment import Driving

_SECOND_NS = 1_000_000_000
_SLOW = 10
"""As for the engine: what lasts less than so many median transactions is no stall."""
_THREADS = 1_000_000
"""Unknown until the end: so many that the busy share of each is about 0, and warns of nothing."""
_COUNTS = ("ok", "aborted", "failed", "unknown", "skipped", "late", "retries")


class SoFar:
    """Of one step."""

    def __init__(self, driving: Driving, clients: int) -> None:
        self._nothing = of_nothing(clients, Arrival(cast(ArrivalKind, driving.arrival), None))
        self._sums = dict.fromkeys(_COUNTS, 0)
        self._seconds = 0
        self._median_ns = 0
        """The longest of any second and group."""
        self._stalls: list[Standstill] = []
        self._suspensions: list[Standstill] = []

    def add(self, groups: Sequence[Interval]) -> tuple[Interval, ...]:
        """Adds a second; returns it with its stalled time, which the engine itself reports only at
        the end, and then of parts of seconds as well."""
        own = [one for one in groups if one.group != DEFERRED] or list(groups)
        for name in _COUNTS:
            self._sums[name] += sum(getattr(one, name) for one in own)
        second = own[0].second
        self._seconds = second + 1
        suspended_ns = max(one.suspended_ns for one in own)
        stalled_ns = max(one.stalled_ns for one in own)
        if not stalled_ns and not suspended_ns and self._is_still(own):
            stalled_ns = _SECOND_NS
        self._median_ns = max(self._median_ns, *(one.p50_ns for one in own))
        _note(self._stalls, second, stalled_ns)
        _note(self._suspensions, second, suspended_ns)
        return tuple(replace(one, stalled_ns=stalled_ns) for one in groups)

    def _is_still(self, own: Sequence[Interval]) -> bool:
        """Whether clients waited, nothing ended, and transactions are shorter than that."""
        has_ended = any(one.ok + one.aborted + one.failed + one.unknown for one in own)
        has_clients = any(one.clients_connected for one in own)
        return has_clients and not has_ended and 0 < self._median_ns * _SLOW <= _SECOND_NS

    def observation(self, client_cpu: float | None = None) -> Observation | None:
        """None where no second has passed. ``client_cpu``: CPU seconds per second of the client."""
        if not self._seconds:
            return None
        sums = self._sums
        attempted = sum(sums[name] for name in ("ok", "aborted", "failed", "unknown"))
        cost = self._nothing.client_cost
        if client_cpu is not None:
            cost = replace(cost, user_ns=round(client_cpu * self._seconds * _SECOND_NS))
        return replace(
            self._nothing,
            elapsed_ns=self._seconds * _SECOND_NS,
            threads=_THREADS,
            outcomes=Outcomes(
                scheduled=attempted + sums["skipped"],
                attempts=attempted + sums["retries"],
                **sums,
            ),
            all_ok=replace(self._nothing.all_ok, count=sums["ok"]),
            stalls=tuple(self._stalls),
            suspensions=tuple(self._suspensions),
            client_cost=cost,
        )


def _note(spans: list[Standstill], second: int, lasted_ns: int) -> None:
    """Extends the last span where this one continues it."""
    if not lasted_ns:
        return
    begins_ns = second * _SECOND_NS
    if spans and spans[-1].to_ns == begins_ns:
        spans[-1] = replace(spans[-1], to_ns=begins_ns + lasted_ns)
    else:
        from_ns = begins_ns + _SECOND_NS - lasted_ns
        spans.append(Standstill(from_ns, begins_ns + _SECOND_NS))
