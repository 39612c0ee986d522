"""Transactions by type and outcome, passes and statements, with their distributions."""

from __future__ import annotations

from assay.contracts.observation.parts.latency import Latency
from assay.contracts.observation.parts.outcomes import Outcome
from assay.contracts.observation.parts.shape import Shape


class FirstExecution(Shape, frozen=True):
    """The first execution of a transaction type, which finds the caches as the measurement began
    with them."""

    began_ns: int
    latency_ns: int


class TransactionReport(Shape, frozen=True):
    """The transactions of one type that ended one way."""

    name: str
    outcome: Outcome
    count: int
    late: int
    latency: Latency
    service_time: Latency
    schedule_lag: Latency | None
    first: FirstExecution | None = None
    """The one that began before all others; None: there is none."""


class AllOk(Shape, frozen=True):
    """The transactions of all types that ended ok."""

    count: int
    latency: Latency
    service_time: Latency
    schedule_lag: Latency | None


class Passes(Shape, frozen=True):
    """Passes of which every transaction ended ok."""

    count: int
    latency: Latency


MOST_PASS_TIMES = 10_000
"""How many an observation has: those that ended first."""


class PassTime(Shape, frozen=True):
    """One pass of which every transaction ended ok."""

    client: int
    """Its number, from 0."""
    end_ns: int
    """Since the start of the measurement."""
    latency_ns: int
    """Of the whole pass, pauses between its transactions included."""


class StatementReport(Shape, frozen=True):
    """One statement, wherever it stands."""

    transaction: str
    statement: int
    line: int
    text: str
    count: int
    service_time: Latency


class BegunLevelReport(Shape, frozen=True):
    """A ``\\begin`` with an isolation level that clients executed."""

    script: str
    number: int
    """Among those of its script, from 0."""
    level: str
    """As the script names it."""
