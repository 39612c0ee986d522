"""What one group of clients did in the measurement that all groups share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from assay.contracts.observation.parts.error_reports import ErrorReport
from assay.contracts.observation.parts.merged import PARTS, WHOLE, Keyed, merged, none, same
from assay.contracts.observation.parts.outcomes import Outcomes, TransactionOutcomes
from assay.contracts.observation.parts.shape import Shape
from assay.contracts.observation.parts.transactions import AllOk, Passes, TransactionReport

_CLEARLY = 0.98
"""Of the time of all groups: one that worked for less of it has ended before the others."""

ArrivalKind = Literal["closed", "constant", "poisson", "deferred", "mixed"]


class Arrival(Shape, frozen=True):
    """How transactions arrived, as the drive document said."""

    kind: ArrivalKind
    offered_rate_per_s: float | None


def arrival_of_all(parts: Sequence[Arrival]) -> Arrival:
    """At the sum of the rates."""
    kinds = {part.kind for part in parts}
    rates = [part.offered_rate_per_s for part in parts if part.offered_rate_per_s is not None]
    return Arrival(kinds.pop() if len(kinds) == 1 else "mixed", sum(rates) if rates else None)


def longest(queues: Sequence[int | None]) -> int | None:
    """None: none of them is of clients that run what others defer."""
    known = [queue for queue in queues if queue is not None]
    return max(known, default=None)


class EndpointReport(Shape, frozen=True):
    """What the clients of one group did at one of several endpoints."""

    name: Annotated[str, merged(same)]
    """``HOST:PORT``, or the path of its socket."""
    is_replica: Annotated[bool, merged(same)]
    clients: Annotated[int, merged(sum, later=same)]
    throughput_per_s: Annotated[float, merged(WHOLE)]
    """Transactions that ended ok there, by the time of the whole group."""
    ok: Annotated[int, merged(sum)]
    aborted: Annotated[int, merged(sum)]
    failed: Annotated[int, merged(sum)]
    unknown: Annotated[int, merged(sum)]
    late: Annotated[int, merged(sum)]
    retries: Annotated[int, merged(sum)]
    all_ok: Annotated[AllOk, merged(PARTS)]
    errors: Annotated[
        tuple[ErrorReport, ...],
        merged(Keyed(("class_", "code", "certainty", "transaction"), first="first_at_ns")),
    ]


class GroupReport(Shape, frozen=True):
    """Clients that run the same scripts at the same pace. The name is empty where the drive
    document names no group."""

    name: Annotated[str, merged(same)]
    clients: Annotated[int, merged(sum, later=same)]
    arrival: Annotated[Arrival, merged(arrival_of_all, later=same)]
    elapsed_ns: Annotated[int, merged(max, later=sum)]
    throughput_per_s: Annotated[float, merged(WHOLE)]
    """Of its own time (`until_s`): those of several groups add up where all worked to the end."""
    outcomes: Annotated[Outcomes, merged(PARTS)]
    outcomes_by_transaction: Annotated[tuple[TransactionOutcomes, ...], merged(Keyed(("name",)))]
    transactions: Annotated[tuple[TransactionReport, ...], merged(Keyed(("name", "outcome")))]
    all_ok: Annotated[AllOk, merged(PARTS)]
    passes: Annotated[Passes | None, merged(PARTS, later=none)]
    errors: Annotated[
        tuple[ErrorReport, ...],
        merged(Keyed(("class_", "code", "certainty", "transaction"), first="first_at_ns")),
    ]
    longest_queue: Annotated[int | None, merged(longest)] = None
    """Of clients that run what others defer: the most that waited at once; None: others."""
    endpoints: Annotated[tuple[EndpointReport, ...], merged(Keyed(("name",)))] = ()
    """The same by the endpoints that its clients used; empty where the run had one."""

    @property
    def is_deferred(self) -> bool:
        """Whether it ran what scripts of other groups queued."""
        return self.arrival.kind == "deferred"

    def until_s(self, elapsed_ns: int) -> float | None:
        """When it had ended, in the measurement of ``elapsed_ns`` of all groups, where that was
        clearly before its end; None: it worked as long as the others."""
        return self.elapsed_ns / 1e9 if self.elapsed_ns < _CLEARLY * elapsed_ns else None
