"""What an observation says of transactions: their outcomes in numbers that add up, errors,
statements and answers, each with its distribution of durations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import attrgetter
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from assay import _engine
from assay.contracts.documents import Shape
from assay.contracts.observation.field_merge import LATENCY, Keyed, merged, same
from assay.errors import InputError


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


Outcome = Literal["ok", "aborted", "failed", "unknown"]
"""How a transaction that was begun ended."""


OUTCOMES = ("ok", "aborted", "failed", "unknown", "skipped")
"""Every scheduled transaction has one of them."""


class BegunOutcomes(Shape, frozen=True):
    """How many of the transactions that were begun ended in which way."""

    ok: Annotated[int, merged(sum)]
    aborted: Annotated[int, merged(sum)]
    failed: Annotated[int, merged(sum)]
    unknown: Annotated[int, merged(sum)]
    late: Annotated[int, merged(sum)]
    retries: Annotated[int, merged(sum)]

    @property
    def ended(self) -> int:
        """All that have been begun and have ended."""
        return self.ok + self.aborted + self.failed + self.unknown

    @property
    def completed(self) -> int:
        """All that ended as the workload asked, whether they committed or were rolled back."""
        return self.ok + self.aborted

    @property
    def lost(self) -> int:
        """All that failed, or may have."""
        return self.failed + self.unknown


class Outcomes(BegunOutcomes, frozen=True, kw_only=True):
    """``scheduled = ok + aborted + failed + unknown + skipped`` and
    ``attempts = scheduled - skipped + retries``."""

    scheduled: Annotated[int, merged(sum)]
    skipped: Annotated[int, merged(sum)]
    attempts: Annotated[int, merged(sum)]


class WarmUpOutcomes(Shape, frozen=True):
    """Transactions of one type that began in the warm-up: with the measured ones they are all that
    may have changed the data."""

    name: Annotated[str, merged(same)]
    ok: Annotated[int, merged(sum)]
    unknown: Annotated[int, merged(sum)]


class TransactionOutcomes(Outcomes, frozen=True, kw_only=True):
    """The outcomes of one transaction type."""

    name: Annotated[str, merged(same)]


class EncodedHistogram(Shape, frozen=True):
    """All samples: exact count, least, greatest and sum, and the HDR histogram as text."""

    count: int
    min_ns: int
    max_ns: int
    sum_ns: int
    overflow: int
    histogram: str
    unanswered: int = 0
    """Transactions of an open loop that were due and had no answer (skipped, or of unknown
    outcome): no samples, but above all of them."""

    @property
    def due(self) -> int:
        """All that was due, of which percentiles are."""
        return self.count + self.unanswered


class Latency(EncodedHistogram, frozen=True, kw_only=True):
    """The same, with what reports read at once (`assay.judge.statistics.samples.time_ns`): the mean
    of the samples, and percentiles of all that was due. None: the rank is among what had no
    answer."""

    mean_ns: float
    p50_ns: int | None
    p90_ns: int | None
    p95_ns: int | None
    p99_ns: int | None
    p99_9_ns: int | None


class Resolution(Shape, frozen=True):
    """How fine times are."""

    lowest_ns: Annotated[int, msgspec.Meta(ge=1)]
    significant_digits: Annotated[int, msgspec.Meta(ge=1, le=5)]
    highest_ns: int


def merged_latency(parts: Sequence[EncodedHistogram]) -> Latency:
    """Exact, in whatever order. Raises `InputError` where one of them is damaged."""
    fields = EncodedHistogram.__struct_fields__
    encoded = [{name: getattr(part, name) for name in fields} for part in parts]
    try:
        text = _engine.merge_latency(msgspec.json.encode(encoded).decode())
    except _engine.EngineError as error:
        raise InputError(
            f"a latency distribution that was kept cannot be read: {error}",
            file="",
            hint="the record file, or what a load generator kept, is damaged: use a copy of it",
        ) from error
    return msgspec.json.decode(text, type=Latency)


def merged_latency_or_none(parts: Sequence[EncodedHistogram | None]) -> Latency | None:
    """Of those that are there, if any is."""
    known = [part for part in parts if part is not None]
    return merged_latency(known) if known else None


def encoded(latency: Latency) -> EncodedHistogram:
    """Without what can be computed from it."""
    fields = EncodedHistogram.__struct_fields__
    return EncodedHistogram(**{name: getattr(latency, name) for name in fields})


Certainty = Literal["undone", "unknown"]
"""``undone``: the transaction is known to have had no effect."""


class ErrorReport(Shape, frozen=True, rename={"class_": "class"}):
    """All errors of one class, code and certainty in one transaction type."""

    class_: Annotated[str, merged(same)]
    code: Annotated[str, merged(same)]
    certainty: Annotated[Certainty, merged(same)]
    message: Annotated[str, merged(same)]
    count: Annotated[int, merged(sum)]
    retried: Annotated[int, merged(sum)]
    transaction: Annotated[str | None, merged(same)]
    first_at_ns: Annotated[int, merged(same)]


class ResultReport(Shape, frozen=True):
    """How far the answers to one statement agree, over all clients and passes."""

    transaction: str
    statement: int
    rows: int
    digest: str | None
    answers: int
    differing: int
    first_difference: str | None


def result_of_all(parts: Sequence[ResultReport]) -> ResultReport:
    """An answer that differs on another machine from the first of all counts as differing, and so
    do all answers of a machine whose first one does."""
    return reduce(_two_results, parts)


def _two_results(first: ResultReport, other: ResultReport) -> ResultReport:
    is_same = (first.rows, first.digest) == (other.rows, other.digest)
    found = f"{other.rows} rows, the first answer {first.rows}"
    if other.rows == first.rows:
        found = f"other values in {other.rows} rows"
    difference = other.first_difference if is_same else found
    return replace(
        first,
        answers=first.answers + other.answers,
        differing=first.differing + (other.differing if is_same else other.answers),
        first_difference=first.first_difference or difference,
    )


def sum_of_digests(digests: Sequence[str]) -> str:
    """Digests of transactions are summed, and wrap around, in the engine too."""
    return f"{sum(int(one, 16) for one in digests) % 2**64:016x}"


class FirstAnswersReport(Shape, frozen=True):
    """What the first transactions of the first clients, or of the list that they share, were
    answered by one statement."""

    transactions: Annotated[int, merged(same)]
    answers: Annotated[int, merged(sum)]
    rows: Annotated[int, merged(sum)]
    digest: Annotated[str, merged(sum_of_digests)]
    fractions: Annotated[int, merged(sum)]
    fraction_sum: Annotated[float, merged(sum)]
    clients: Annotated[int, merged(sum)]


class AnswerReport(Shape, frozen=True):
    """The answers to one statement, to be compared with those of other runs."""

    transaction: Annotated[str, merged(same)]
    statement: Annotated[int, merged(same)]
    line: Annotated[int, merged(same)]
    text: Annotated[str, merged(same)]
    answers: Annotated[int, merged(sum)]
    rows: Annotated[int, merged(sum)]
    rows_squared: Annotated[float, merged(sum)]
    varies: Annotated[bool, merged(any)]
    first: Annotated[tuple[FirstAnswersReport, ...], merged(Keyed(("transactions",), in_all=True))]


class AnswerSumReport(Shape, frozen=True):
    """What all transactions of one type that ended ok were answered."""

    transaction: Annotated[str, merged(same)]
    transactions: Annotated[int, merged(sum)]
    rows: Annotated[int, merged(sum)]
    """Of all their statements together."""
    digest: Annotated[str, merged(sum_of_digests)]
    """16 hexadecimal digits: equal where every transaction got the same rows."""


PERCENTILES = ("p50", "p90", "p95", "p99", "p99.9")


class Headline(Shape, frozen=True):
    """The rate by which a test is known: so many transactions of these types per minute, whether
    they committed or were rolled back as the workload asked."""

    title: str
    """What is counted: ``new orders``."""
    transactions: tuple[str, ...]


class DerivedValue(Shape, frozen=True):
    """A metric that the workload derives from what was measured."""

    name: str
    title: str
    value: float | None = None
    why_none: str = ""
    """Empty: there is a value."""
    is_more_better: bool = True


class ResponseLimit(Shape, frozen=True):
    """How long a transaction type may take: a percentile of its latencies, those that were rolled
    back as the workload asked included, is below the limit."""

    transaction: str
    percentile: str
    """One of `PERCENTILES`."""
    limit_ns: int
