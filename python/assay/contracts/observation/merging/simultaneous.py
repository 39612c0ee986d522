"""Takes the observations of several client machines that drove one run together; returns the one of
all their clients.

Counts, sums and distributions add up exactly: what each machine recorded is what one machine with
all clients would have. Seconds count from each machine's own beginning; machines begin at a given
instant, so the same number is the same second, as far as their clocks agree. A stall of all is what
the stalls of each have in common, and so is an outage; a suspension is of whichever machine had it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial, reduce
from operator import attrgetter
from typing import Any, TypedDict, TypeVar

from msgspec.structs import asdict, replace

from assay.contracts.observation.merging import spans
from assay.contracts.observation.observation import Observation
from assay.contracts.observation.parts.clients import ClientEnd, EndedBy, Unfinished
from assay.contracts.observation.parts.costs import ClientCost, LogReport
from assay.contracts.observation.parts.error_reports import ErrorReport
from assay.contracts.observation.parts.groups import Arrival, EndpointReport, GroupReport
from assay.contracts.observation.parts.latency import Latency
from assay.contracts.observation.parts.outcomes import Outcomes, TransactionOutcomes
from assay.contracts.observation.parts.results import (
    AnswerReport,
    AnswerSumReport,
    FirstAnswersReport,
    ResultReport,
)
from assay.contracts.observation.parts.servers import ServerReport
from assay.contracts.observation.parts.service import (
    CarriedOver,
    InFlight,
    LittlesLaw,
    Outage,
    Standstill,
    TransactionsPerClient,
)
from assay.contracts.observation.parts.shape import Shape
from assay.contracts.observation.parts.shared_numbers import numbers_of_all
from assay.contracts.observation.parts.transactions import (
    MOST_PASS_TIMES,
    AllOk,
    Passes,
    StatementReport,
    TransactionReport,
)

One = TypeVar("One", bound=Shape)


def merge(parts: Sequence[Observation], *, on_one_machine: bool = False) -> Observation:
    """Of all machines, or of processes ``on_one_machine``. Raises `ValueError` where two drove the
    same client."""
    if len(parts) < 2:
        return parts[0]
    ends = sorted((end for part in parts for end in part.client_ends), key=attrgetter("client"))
    doubled = [client for client, n in Counter(end.client for end in ends).items() if n > 1]
    if doubled:
        raise ValueError(f"client {doubled[0]} was driven by two machines")
    stalls = spans.common([part.stalls for part in parts], Standstill, least_ns=spans.SECOND_NS)
    suspensions = spans.union([part.suspensions for part in parts], Standstill)
    passes = sorted((one for part in parts for one in part.pass_times), key=_end_and_client)
    added = added_up(parts)
    from assay.contracts.observation.merging.merged_intervals import merged_intervals

    return replace(
        added,
        elapsed_ns=max(part.elapsed_ns for part in parts),
        drained_ns=max(part.drained_ns for part in parts),
        connect_ns=max(part.connect_ns for part in parts),
        clients=_total(parts, "clients"),
        threads=_total(parts, "threads"),
        arrival=_arrival([part.arrival for part in parts]),
        passes=_passes([part.passes for part in parts]),
        pass_times=tuple(passes[:MOST_PASS_TIMES]),
        pass_times_left_out=(_total(parts, "pass_times_left_out") + len(passes[MOST_PASS_TIMES:])),
        intervals=merged_intervals([part.intervals for part in parts], stalls, suspensions),
        client_ends=tuple(ends),
        transactions_per_client=per_client(ends),
        littles_law=littles_law(parts, max(part.elapsed_ns for part in parts)),
        stalls=stalls,
        suspensions=suspensions,
        outages=spans.common([part.outages for part in parts], Outage),
        client_cost=client_cost(
            [part.client_cost for part in parts], added.outcomes.ended, on_one_machine
        ),
        next_transaction=max(part.next_transaction for part in parts),
        shared_numbers=numbers_of_all(part.shared_numbers for part in parts),
        begun_levels=tuple(dict.fromkeys(one for part in parts for one in part.begun_levels)),
        ended_by=_ended_by([part.ended_by for part in parts]),
    )


def added_up(parts: Sequence[Observation]) -> Observation:
    """The first part with the counts, distributions, errors and answers of all of them, which add
    up whether they were measured at the same time or one after another. All else is the first's."""
    return replace(
        parts[0],
        started_unix_ns=min(part.started_unix_ns for part in parts),
        outcomes=_sum_of([part.outcomes for part in parts]),
        outcomes_by_transaction=_by(parts, "outcomes_by_transaction", _name, _sum_of),
        warm_up=_by(parts, "warm_up", _name, _sum_of),
        transactions=_by(parts, "transactions", _name_and_outcome, _transaction),
        all_ok=_all_ok([part.all_ok for part in parts]),
        statements=_total(parts, "statements"),
        per_statement=_by(parts, "per_statement", _place, _statement),
        groups=_by(parts, "groups", _name, _group),
        errors=_by(parts, "errors", _kind, _error),
        in_flight=InFlight(
            count=sum(part.in_flight.count for part in parts),
            oldest_ns=max(part.in_flight.oldest_ns for part in parts),
            begun_in_warm_up=sum(part.in_flight.begun_in_warm_up for part in parts),
        ),
        carried_over=CarriedOver(
            count=sum(part.carried_over.count for part in parts),
            longest_ns=max(part.carried_over.longest_ns for part in parts),
        ),
        reconnects=_total(parts, "reconnects"),
        partly_durable=_total(parts, "partly_durable"),
        not_retried=_total(parts, "not_retried"),
        prepared_again=_total(parts, "prepared_again"),
        servers=_by(parts, "servers", _server, _sessions),
        results=_by(parts, "results", _place, _result),
        answer_sums=_by(parts, "answer_sums", attrgetter("transaction"), _answer_sum),
        answers=_by(parts, "answers", _place, _answer),
        driver_counters=dict(sum((Counter(part.driver_counters) for part in parts), Counter())),
        log=_log([part.log for part in parts if part.log]),
        unfinished=_unfinished([part.unfinished for part in parts if part.unfinished]),
        commits=total_or_none([part.commits for part in parts]),
    )


def _log(parts: Sequence[LogReport]) -> LogReport | None:
    if not parts:
        return None
    totals = {
        name: sum(getattr(part, name) for part in parts) for name in ("rows", "bytes", "cpu_ns")
    }
    return LogReport(sample=parts[0].sample, **totals)


def total_or_none(counts: Sequence[int | None]) -> int | None:
    """None where one of them is not known."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _by(
    parts: Iterable[Any],
    name: str,
    key: Callable[[Any], Hashable],
    merged: Callable[[list[Any]], Any],
) -> tuple[Any, ...]:
    """The lists of that name as one: what has the same key is merged, in the order of the first."""
    found: dict[Hashable, list[Any]] = {}
    for part in parts:
        for item in getattr(part, name):
            found.setdefault(key(item), []).append(item)
    return tuple(merged(same) for same in found.values())


_name = attrgetter("name")
_name_and_outcome = attrgetter("name", "outcome")
_end_and_client = attrgetter("end_ns", "client")
_place = attrgetter("transaction", "statement")
_server = attrgetter("version", "address", "role", "is_behind_pooler")
_kind = attrgetter("class_", "code", "certainty", "transaction")


def _sessions(parts: Sequence[ServerReport]) -> ServerReport:
    return replace(parts[0], sessions=_total(parts, "sessions"))


def _total(parts: Iterable[Any], name: str) -> Any:
    return sum(getattr(part, name) for part in parts)


def _sum_of(parts: Sequence[One]) -> One:
    """Every number is a sum."""
    numbers = {
        name: sum(getattr(part, name) for part in parts)
        for name, value in asdict(parts[0]).items()
        if isinstance(value, int | float)
    }
    return replace(parts[0], **numbers)


def _arrival(parts: Sequence[Arrival]) -> Arrival:
    kinds = {part.kind for part in parts}
    rates = [part.offered_rate_per_s for part in parts if part.offered_rate_per_s is not None]
    return Arrival(kinds.pop() if len(kinds) == 1 else "mixed", sum(rates) if rates else None)


def _transaction(parts: Sequence[TransactionReport]) -> TransactionReport:
    known = [part.first for part in parts if part.first is not None]
    return replace(
        parts[0],
        count=_total(parts, "count"),
        late=_total(parts, "late"),
        first=min(known, key=attrgetter("began_ns")) if len(known) == len(parts) else None,
        **_times(parts),
    )


def _all_ok(parts: Sequence[AllOk]) -> AllOk:
    return replace(parts[0], count=_total(parts, "count"), **_times(parts))


class _Times(TypedDict):
    """Fields that both classes have."""

    latency: Latency
    service_time: Latency
    schedule_lag: Latency | None


def _times(parts: Sequence[TransactionReport] | Sequence[AllOk]) -> _Times:
    from assay.contracts.observation.merging.latencies import merged_latency, merged_latency_or_none

    return _Times(
        latency=merged_latency([part.latency for part in parts]),
        service_time=merged_latency([part.service_time for part in parts]),
        schedule_lag=merged_latency_or_none([part.schedule_lag for part in parts]),
    )


def _passes(parts: Sequence[Passes | None]) -> Passes | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    from assay.contracts.observation.merging.latencies import merged_latency

    return Passes(_total(known, "count"), merged_latency([part.latency for part in known]))


def _statement(parts: Sequence[StatementReport]) -> StatementReport:
    from assay.contracts.observation.merging.latencies import merged_latency

    times = merged_latency([part.service_time for part in parts])
    return replace(parts[0], count=_total(parts, "count"), service_time=times)


def _group(parts: Sequence[GroupReport]) -> GroupReport:
    outcomes: Outcomes = _sum_of([part.outcomes for part in parts])
    by_transaction: tuple[TransactionOutcomes, ...] = _by(
        parts, "outcomes_by_transaction", _name, _sum_of
    )
    elapsed_ns = max(part.elapsed_ns for part in parts)
    return replace(
        parts[0],
        clients=_total(parts, "clients"),
        arrival=_arrival([part.arrival for part in parts]),
        elapsed_ns=elapsed_ns,
        throughput_per_s=outcomes.ok / (elapsed_ns / 1e9) if elapsed_ns else 0.0,
        outcomes=outcomes,
        outcomes_by_transaction=by_transaction,
        transactions=_by(parts, "transactions", _name_and_outcome, _transaction),
        all_ok=_all_ok([part.all_ok for part in parts]),
        passes=_passes([part.passes for part in parts]),
        errors=_by(parts, "errors", _kind, _error),
        longest_queue=max((part.longest_queue or 0 for part in parts), default=0)
        if parts[0].is_deferred
        else None,
        endpoints=_by(parts, "endpoints", _name, partial(_endpoint, elapsed_ns=elapsed_ns)),
    )


def _endpoint(parts: Sequence[EndpointReport], elapsed_ns: int) -> EndpointReport:
    """``elapsed_ns``: of the whole group."""
    whole = _sum_of(parts)
    return replace(
        whole,
        is_replica=parts[0].is_replica,
        throughput_per_s=whole.ok / (elapsed_ns / 1e9) if elapsed_ns else 0.0,
        all_ok=_all_ok([part.all_ok for part in parts]),
        errors=_by(parts, "errors", _kind, _error),
    )


def _error(parts: Sequence[ErrorReport]) -> ErrorReport:
    first = min(parts, key=attrgetter("first_at_ns"))
    return replace(first, count=_total(parts, "count"), retried=_total(parts, "retried"))


def per_client(ends: Sequence[ClientEnd]) -> TransactionsPerClient:
    counts = sorted(end.transactions for end in ends)
    if not counts:
        return TransactionsPerClient(0, 0, 0)
    middle = counts[(len(counts) - 1) // 2] + counts[len(counts) // 2]
    return TransactionsPerClient(counts[0], middle // 2, counts[-1])


def littles_law(parts: Sequence[Observation], whole_ns: int) -> LittlesLaw | None:
    """Over ``whole_ns``: where one measured for less, its clients count for less."""
    laws = [(part.littles_law, part.elapsed_ns) for part in parts if part.littles_law is not None]
    if len(laws) < len(parts):
        return None
    if not whole_ns:
        return None
    shares = [(law, elapsed_ns / whole_ns) for law, elapsed_ns in laws]
    per_s = sum(law.throughput_per_s * share for law, share in shares)

    def mean_ns(name: str) -> float:
        total = sum(getattr(law, name) * law.throughput_per_s * share for law, share in shares)
        return total / per_s if per_s else 0.0

    latency_ns, pause_ns = mean_ns("latency_ns"), mean_ns("pause_ns")
    return LittlesLaw(
        clients=sum(law.clients * share for law, share in shares),
        throughput_per_s=per_s,
        latency_ns=latency_ns,
        pause_ns=pause_ns,
        clients_by_law=per_s * (latency_ns + pause_ns) / 1e9,
    )


def _result(parts: Sequence[ResultReport]) -> ResultReport:
    """An answer that differs on another machine from the first of all counts as differing, and so
    do all answers of a machine whose first one does."""
    return reduce(_two_results, parts)


def _answer_sum(parts: Sequence[AnswerSumReport]) -> AnswerSumReport:
    return replace(
        parts[0],
        transactions=_total(parts, "transactions"),
        rows=_total(parts, "rows"),
        digest=_digest_of_all(parts),
    )


def _answer(parts: Sequence[AnswerReport]) -> AnswerReport:
    """The first transactions of the first clients, as far as every machine has them."""
    by_number = [{one.transactions: one for one in part.first} for part in parts]
    whole = [number for number in by_number[0] if all(number in one for one in by_number)]
    return replace(
        parts[0],
        answers=_total(parts, "answers"),
        rows=_total(parts, "rows"),
        rows_squared=_total(parts, "rows_squared"),
        varies=any(part.varies for part in parts),
        first=tuple(_first_answers([one[number] for one in by_number]) for number in whole),
    )


def _first_answers(parts: Sequence[FirstAnswersReport]) -> FirstAnswersReport:
    return replace(
        parts[0],
        answers=_total(parts, "answers"),
        rows=_total(parts, "rows"),
        digest=_digest_of_all(parts),
        fractions=_total(parts, "fractions"),
        fraction_sum=_total(parts, "fraction_sum"),
        clients=_total(parts, "clients"),
    )


def _digest_of_all(parts: Sequence[AnswerSumReport] | Sequence[FirstAnswersReport]) -> str:
    """Digests of transactions are summed, and wrap around, in the engine too."""
    return f"{sum(int(one.digest, 16) for one in parts) % 2**64:016x}"


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


def client_cost(parts: Sequence[ClientCost], ended: int, on_one_machine: bool) -> ClientCost:
    """All costs are sums. How busy the processors were is seen by every process of a machine."""
    whole = _sum_of([replace(part, machine_busy_ns=None) for part in parts])
    busy_ns = [part.machine_busy_ns for part in parts if part.machine_busy_ns is not None]
    whole_busy_ns = max(busy_ns, default=0) if on_one_machine else sum(busy_ns)
    return replace(
        whole,
        per_transaction_ns=(whole.user_ns + whole.system_ns) / ended if ended else 0.0,
        machine_busy_ns=whole_busy_ns if len(busy_ns) == len(parts) else None,
    )


def _unfinished(parts: Sequence[Unfinished]) -> Unfinished | None:
    if not parts:
        return None
    return Unfinished(
        transactions=_total(parts, "transactions"),
        cancelled=_total(parts, "cancelled"),
        limit_s=max(part.limit_s for part in parts),
    )


def _ended_by(parts: Sequence[EndedBy]) -> EndedBy:
    """Refused or interrupted if one part was; clients are lost only if all are."""
    words = set(parts)
    for word in ("refused", "interrupted"):
        if word in words:
            return "refused" if word == "refused" else "interrupted"
    if "stop" in words:
        return "stop"
    return words.pop() if len(words) == 1 else "all clients failed"
