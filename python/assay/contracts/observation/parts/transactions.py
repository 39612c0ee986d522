"""Transactions by type and outcome, passes and statements, with their distributions."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated

from assay.contracts.observation.parts.latency import Latency
from assay.contracts.observation.parts.merged import LATENCY, merged, same
from assay.contracts.observation.parts.outcomes import Outcome
from assay.contracts.observation.parts.shape import Shape


class FirstExecution(Shape, frozen=True):
    """The first execution of a transaction type, which finds the caches as the measurement began
    with them."""

    began_ns: int
    latency_ns: int


def first_of_all(values: Sequence[FirstExecution | None]) -> FirstExecution | None:
    """The one that began first; None where it is not known of a part."""
    known = [value for value in values if value is not None]
    return min(known, key=attrgetter("began_ns")) if len(known) == len(values) else None


class TransactionReport(Shape, frozen=True):
    """The transactions of one type that ended one way."""

    name: Annotated[str, merged(same)]
    outcome: Annotated[Outcome, merged(same)]
    count: Annotated[int, merged(sum)]
    late: Annotated[int, merged(sum)]
    latency: Annotated[Latency, merged(LATENCY)]
    service_time: Annotated[Latency, merged(LATENCY)]
    schedule_lag: Annotated[Latency | None, merged(LATENCY)]
    first: Annotated[FirstExecution | None, merged(first_of_all)] = None
    """The one that began before all others; None: there is none."""


class AllOk(Shape, frozen=True):
    """The transactions of all types that ended ok."""

    count: Annotated[int, merged(sum)]
    latency: Annotated[Latency, merged(LATENCY)]
    service_time: Annotated[Latency, merged(LATENCY)]
    schedule_lag: Annotated[Latency | None, merged(LATENCY)]


class Passes(Shape, frozen=True):
    """Passes of which every transaction ended ok."""

    count: Annotated[int, merged(sum)]
    latency: Annotated[Latency, merged(LATENCY)]


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

    transaction: Annotated[str, merged(same)]
    statement: Annotated[int, merged(same)]
    line: Annotated[int, merged(same)]
    text: Annotated[str, merged(same)]
    count: Annotated[int, merged(sum)]
    service_time: Annotated[Latency, merged(LATENCY)]


class BegunLevelReport(Shape, frozen=True):
    """A ``\\begin`` with an isolation level that clients executed."""

    script: str
    number: int
    """Among those of its script, from 0."""
    level: str
    """As the script names it."""
