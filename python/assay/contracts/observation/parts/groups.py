"""What one group of clients did in the measurement that all groups share."""

from __future__ import annotations

from typing import Literal

from assay.contracts.observation.parts.error_reports import ErrorReport
from assay.contracts.observation.parts.outcomes import Outcomes, TransactionOutcomes
from assay.contracts.observation.parts.shape import Shape
from assay.contracts.observation.parts.transactions import AllOk, Passes, TransactionReport

ArrivalKind = Literal["closed", "constant", "poisson", "deferred", "mixed"]


class Arrival(Shape, frozen=True):
    """How transactions arrived, as the drive document said."""

    kind: ArrivalKind
    offered_rate_per_s: float | None


class GroupReport(Shape, frozen=True):
    """Clients that run the same scripts at the same pace. The name is empty where the drive
    document names no group."""

    name: str
    clients: int
    arrival: Arrival
    elapsed_ns: int
    throughput_per_s: float
    outcomes: Outcomes
    outcomes_by_transaction: tuple[TransactionOutcomes, ...]
    transactions: tuple[TransactionReport, ...]
    all_ok: AllOk
    passes: Passes | None
    errors: tuple[ErrorReport, ...]
    longest_queue: int | None = None
    """Of clients that run what others defer: the most that waited at once; None: others."""

    @property
    def is_deferred(self) -> bool:
        """Whether it ran what scripts of other groups queued."""
        return self.arrival.kind == "deferred"
