"""What one group of clients did in the measurement that all groups share."""

from __future__ import annotations

from typing import Literal

from assay.contracts.observation.parts.error_reports import ErrorReport
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


class EndpointReport(Shape, frozen=True):
    """What the clients of one group did at one of several endpoints."""

    name: str
    """``HOST:PORT``, or the path of its socket."""
    is_replica: bool
    clients: int
    throughput_per_s: float
    """Transactions that ended ok there, by the time of the whole group."""
    ok: int
    aborted: int
    failed: int
    unknown: int
    late: int
    retries: int
    all_ok: AllOk
    errors: tuple[ErrorReport, ...]


class GroupReport(Shape, frozen=True):
    """Clients that run the same scripts at the same pace. The name is empty where the drive
    document names no group."""

    name: str
    clients: int
    arrival: Arrival
    elapsed_ns: int
    throughput_per_s: float
    """Of its own time (`until_s`): those of several groups add up where all worked to the end."""
    outcomes: Outcomes
    outcomes_by_transaction: tuple[TransactionOutcomes, ...]
    transactions: tuple[TransactionReport, ...]
    all_ok: AllOk
    passes: Passes | None
    errors: tuple[ErrorReport, ...]
    longest_queue: int | None = None
    """Of clients that run what others defer: the most that waited at once; None: others."""
    endpoints: tuple[EndpointReport, ...] = ()
    """The same by the endpoints that its clients used; empty where the run had one."""

    @property
    def is_deferred(self) -> bool:
        """Whether it ran what scripts of other groups queued."""
        return self.arrival.kind == "deferred"

    def until_s(self, elapsed_ns: int) -> float | None:
        """When it had ended, in the measurement of ``elapsed_ns`` of all groups, where that was
        clearly before its end; None: it worked as long as the others."""
        return self.elapsed_ns / 1e9 if self.elapsed_ns < _CLEARLY * elapsed_ns else None
