"""Takes the observations of several client machines that drove one run together; returns the one
of all their clients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache, reduce
from operator import attrgetter
from typing import Any, TypeVar, get_type_hints

from msgspec.structs import replace

from assay.contracts.documents import Shape
from assay.contracts.observation.clients import (
    Arrival,
    CarriedOver,
    ClientEnd,
    GroupReport,
    InFlight,
    LittlesLaw,
    Outage,
    Standstill,
    TimeSpan,
    TransactionsPerClient,
)
from assay.contracts.observation.costs import ClientCost, Interval
from assay.contracts.observation.field_merge import (
    KNOWN_PARTS,
    LATENCY,
    PARTS,
    WHOLE,
    FieldMerge,
    Keyed,
    NamedRule,
    Rule,
)
from assay.contracts.observation.observation import VERSION, Observation
from assay.contracts.observation.transactions import (
    MOST_PASS_TIMES,
    AllOk,
    Outcomes,
    Resolution,
    encoded,
    merged_latency,
    merged_latency_or_none,
)


def merge(parts: Sequence[Observation], *, on_one_machine: bool = False) -> Observation:
    """Of all machines, or of processes ``on_one_machine``. Raises `ValueError` where two drove the
    same client."""
    if len(parts) < 2:
        return parts[0]
    ends = sorted((end for part in parts for end in part.client_ends), key=attrgetter("client"))
    doubled = [client for client, n in Counter(end.client for end in ends).items() if n > 1]
    if doubled:
        raise ValueError(f"client {doubled[0]} was driven by two machines")
    stalls = common_spans([part.stalls for part in parts], Standstill, least_ns=SECOND_NS)
    suspensions = union_of_spans([part.suspensions for part in parts], Standstill)
    passes = sorted(
        (one for part in parts for one in part.pass_times), key=attrgetter("end_ns", "client")
    )
    elapsed_ns = max(part.elapsed_ns for part in parts)
    added = of_all(parts)
    left_out = sum(part.pass_times_left_out for part in parts) + len(passes[MOST_PASS_TIMES:])
    return replace(
        added,
        groups=tuple(with_rates(group) for group in added.groups),
        pass_times=tuple(passes[:MOST_PASS_TIMES]),
        pass_times_left_out=left_out,
        intervals=merged_intervals([part.intervals for part in parts], stalls, suspensions),
        client_ends=tuple(ends),
        transactions_per_client=per_client(ends),
        littles_law=littles_law(parts, elapsed_ns),
        stalls=stalls,
        suspensions=suspensions,
        outages=common_spans([part.outages for part in parts], Outage),
        client_cost=client_cost(
            [part.client_cost for part in parts], added.outcomes.ended, on_one_machine
        ),
    )


def with_rates(group: GroupReport) -> GroupReport:
    """With its throughput, and that of its endpoints, in its own time."""
    elapsed_s = group.elapsed_ns / 1e9
    return replace(
        group,
        throughput_per_s=group.outcomes.ok / elapsed_s if elapsed_s else 0.0,
        endpoints=tuple(
            replace(one, throughput_per_s=one.ok / elapsed_s if elapsed_s else 0.0)
            for one in group.endpoints
        ),
    )


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


def client_cost(
    parts: Sequence[ClientCost], ended: int, on_one_machine: bool, *, is_later: bool = False
) -> ClientCost:
    """How busy the processors were is seen by every process of a machine."""
    whole = of_all(parts, is_later=is_later)
    busy_ns = [part.machine_busy_ns for part in parts if part.machine_busy_ns is not None]
    whole_busy_ns = max(busy_ns, default=0) if on_one_machine else sum(busy_ns)
    return replace(
        whole,
        per_transaction_ns=(whole.user_ns + whole.system_ns) / ended if ended else 0.0,
        machine_busy_ns=whole_busy_ns if len(busy_ns) == len(parts) else None,
    )


One = TypeVar("One", bound=Shape)


@cache
def rules(kind: type[Shape]) -> Mapping[str, FieldMerge]:
    """Of each field that says it, or whose class does for all of them (``fields_merge``)."""
    hints = get_type_hints(kind, include_extras=True)
    of_class = getattr(kind, "fields_merge", None)
    said = {
        name: next(filter(_is_merge, getattr(hints[name], "__metadata__", ())), of_class)
        for name in kind.__struct_fields__
    }
    return {name: rule for name, rule in said.items() if rule is not None}


def _is_merge(said: object) -> bool:
    return isinstance(said, FieldMerge)


def of_all(parts: Sequence[One], *, is_later: bool = False) -> One:
    """Parts that were measured at the same time; ``is_later``: one after another. What is made of
    the whole is the first part's as yet."""
    said = {
        name: one.later if is_later else one.together for name, one in rules(type(parts[0])).items()
    }
    found = {
        name: _value(rule, [getattr(part, name) for part in parts], is_later)
        for name, rule in said.items()
        if rule is not WHOLE
    }
    return replace(parts[0], **found)


def _value(rule: Rule | Keyed | NamedRule, values: Sequence[Any], is_later: bool) -> Any:
    if isinstance(rule, Keyed):
        return _by(rule, values, is_later)
    if not isinstance(rule, NamedRule):
        return rule(values)
    if rule is LATENCY:
        return merged_latency_or_none(values)
    known = [value for value in values if value is not None]
    if not known or (rule is PARTS and len(known) < len(values)):
        return None
    assert rule in (PARTS, KNOWN_PARTS)
    return of_all(known, is_later=is_later)


def _by(rule: Keyed, lists: Sequence[Sequence[Any]], is_later: bool) -> tuple[Any, ...]:
    found: dict[Hashable, list[Any]] = {}
    key = attrgetter(*rule.keys)
    for items in lists:
        for item in items:
            found.setdefault(key(item), []).append(item)
    several = [*found.values()]
    if rule.in_all:
        several = [same for same in several if len(same) == len(lists)]
    if rule.first:
        several = [sorted(same, key=attrgetter(rule.first)) for same in several]
    if rule.of is not None:
        return tuple(map(rule.of, several))
    return tuple(of_all(same, is_later=is_later) for same in several)


def merged_intervals(
    parts: Sequence[Sequence[Interval]],
    stalls: Sequence[Standstill],
    suspensions: Sequence[Standstill],
) -> tuple[Interval, ...]:
    """In the order of seconds, and of groups as they first come."""
    groups = list(dict.fromkeys(line.group for lines in parts for line in lines))
    known = [{(line.second, line.group): line for line in lines} for lines in parts]
    seconds = 1 + max((line.second for lines in parts for line in lines), default=-1)
    connected = [dict.fromkeys(groups, 0) for _ in parts]
    found = []
    for second in range(seconds):
        for group in groups:
            lines = []
            for lines_of_machine, clients in zip(known, connected, strict=True):
                if (line := lines_of_machine.get((second, group))) is not None:
                    lines.append(line)
                    # Behind a machine's last line its clients are as they were.
                    clients[group] = line.clients_connected
            total = sum(clients[group] for clients in connected)
            found.append(merged_line(second, group, lines, total, stalls, suspensions))
    return tuple(found)


def merged_line(
    second: int,
    group: str,
    lines: Iterable[Interval],
    clients_connected: int,
    stalls: Sequence[Standstill],
    suspensions: Sequence[Standstill],
) -> Interval:
    """The lines of one group as that of one second; the spans are of the whole measurement."""
    lines = list(lines)
    latency = merged_latency_or_none([line.latency for line in lines])
    lag = merged_latency_or_none([line.schedule_lag for line in lines])
    sums = [name for name, rule in rules(Interval).items() if rule.together is sum]
    begin_ns, end_ns = second * SECOND_NS, (second + 1) * SECOND_NS
    return Interval(
        second=second,
        group=group,
        **{name: sum(getattr(line, name) for line in lines) for name in sums},
        clients_connected=clients_connected,
        latency=encoded(latency) if latency else None,
        schedule_lag=encoded(lag) if lag else None,
        p50_ns=(latency.p50_ns or 0) if latency else 0,
        p99_ns=(latency.p99_ns or 0) if latency else 0,
        max_ns=latency.max_ns if latency else 0,
        schedule_lag_p99_ns=lag.p99_ns if lag else None,
        stalled_ns=spans_within(stalls, begin_ns, end_ns),
        suspended_ns=spans_within(suspensions, begin_ns, end_ns),
    )


SECOND_NS = 1_000_000_000

Span = TypeVar("Span", bound=TimeSpan)
Pairs = list[tuple[int, int]]


def common_spans(
    parts: Iterable[Sequence[TimeSpan]], shape: type[Span], least_ns: int = 1
) -> tuple[Span, ...]:
    """In which all of them stood still, for ``least_ns`` or longer."""
    found = reduce(_both, (_pairs(part) for part in parts))
    return tuple(shape(begin, end) for begin, end in found if end - begin >= least_ns)


def union_of_spans(parts: Iterable[Sequence[TimeSpan]], shape: type[Span]) -> tuple[Span, ...]:
    """In which any of them stood still."""
    found: Pairs = []
    for begin, end in sorted(pair for part in parts for pair in _pairs(part)):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return tuple(shape(begin, end) for begin, end in found)


def spans_within(spans: Iterable[TimeSpan], from_ns: int, to_ns: int) -> int:
    """How much of a stretch of time they take up."""
    return sum(max(0, min(span.to_ns, to_ns) - max(span.from_ns, from_ns)) for span in spans)


def _pairs(spans: Iterable[TimeSpan]) -> Pairs:
    return [(span.from_ns, span.to_ns) for span in spans]


def _both(some: Pairs, others: Pairs) -> Pairs:
    pairs = (
        (max(begin, other_begin), min(end, other_end))
        for begin, end in some
        for other_begin, other_end in others
    )
    return sorted((begin, end) for begin, end in pairs if begin < end)


_RESOLUTION = Resolution(lowest_ns=1, significant_digits=3, highest_ns=3600 * 1_000_000_000)
"""Of histograms that have nothing; the engine's own is in what it observed."""


def empty_observation(clients: int, arrival: Arrival) -> Observation:
    """Interrupted after no time."""
    no_latency = merged_latency([])
    return Observation(
        version=VERSION,
        started_unix_ns=0,
        elapsed_ns=0,
        drained_ns=0,
        connect_ns=0,
        clients=clients,
        threads=0,
        arrival=arrival,
        resolution=_RESOLUTION,
        outcomes=Outcomes(**dict.fromkeys(Outcomes.__struct_fields__, 0)),
        outcomes_by_transaction=(),
        transactions=(),
        all_ok=AllOk(0, latency=no_latency, service_time=no_latency, schedule_lag=None),
        passes=None,
        statements=0,
        per_statement=(),
        groups=(),
        intervals=(),
        errors=(),
        client_ends=(),
        transactions_per_client=TransactionsPerClient(0, 0, 0),
        in_flight=InFlight(0, 0, 0),
        carried_over=CarriedOver(0, 0),
        littles_law=None,
        stalls=(),
        suspensions=(),
        reconnects=0,
        outages=(),
        results=(),
        client_cost=ClientCost(0, 0, 0.0, 0, 0, 0, 0, 0, 0, None),
        ended_by="interrupted",
    )
