"""How clients were served over the whole measurement, and when nothing was."""

from __future__ import annotations

from typing import Annotated

from assay.contracts.observation.parts.merged import merged
from assay.contracts.observation.parts.shape import Shape


class TransactionsPerClient(Shape, frozen=True):
    """Of the client that had the fewest, the middle one and the one that had the most."""

    least: int
    median: int
    most: int


class InFlight(Shape, frozen=True):
    """Transactions under way when the measurement ended by the clock."""

    count: Annotated[int, merged(sum)]
    oldest_ns: Annotated[int, merged(max)]
    begun_in_warm_up: Annotated[int, merged(sum)]


class CarriedOver(Shape, frozen=True):
    """Transactions that began in the warm-up and were under way when the measurement began."""

    count: Annotated[int, merged(sum)]
    longest_ns: Annotated[int, merged(max)]


class LittlesLaw(Shape, frozen=True):
    """Of a closed loop: clients = throughput x (latency + pause)."""

    clients: float
    throughput_per_s: float
    latency_ns: float
    pause_ns: float
    clients_by_law: float


class TimeSpan(Shape, frozen=True):
    """Since the beginning of the measurement."""

    from_ns: int
    to_ns: int

    @property
    def lasted_ns(self) -> int:
        return self.to_ns - self.from_ns


class Standstill(TimeSpan, frozen=True):
    """A time in which the system, or this process, stood still."""


class Outage(TimeSpan, frozen=True):
    """A time in which no client had a session."""
