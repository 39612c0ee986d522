"""Takes the observations of parts of one drive that were measured one after another, with time
between them that is not measured; returns the one of the whole.

Its time is the sum of the measured times: a part begins where the one before it ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import TypeVar

from msgspec.structs import replace

from assay.contracts.observation.clients import ClientEnd, GeneratorReport, Standstill, TimeSpan
from assay.contracts.observation.costs import Interval, MachineSecond, ServerCost
from assay.contracts.observation.merging import (
    SECOND_NS,
    client_cost,
    littles_law,
    merged_line,
    of_all,
    per_client,
    with_rates,
)
from assay.contracts.observation.observation import Observation
from assay.contracts.observation.transactions import TransactionReport

Span = TypeVar("Span", bound=TimeSpan)


def begins_ns(parts: Sequence[Observation]) -> list[int]:
    """How much was measured before each part."""
    return list(accumulate((part.elapsed_ns for part in parts[:-1]), initial=0))


def successive(parts: Sequence[Observation]) -> Observation:
    """Of the same clients. Passes are left out: no part has a whole one."""
    if len(parts) < 2:
        return parts[0]
    placed = [_later(part, by_ns) for part, by_ns in _placed(parts)]
    added = of_all(placed, is_later=True)
    stalls = tuple(one for part in placed for one in part.stalls)
    suspensions = tuple(one for part in placed for one in part.suspensions)
    ends = _client_ends([end for part, by_ns in _placed(parts) for end in _later_ends(part, by_ns)])
    ended = added.outcomes.ended
    return replace(
        added,
        generators=_generators(parts),
        pass_times=(),
        pass_times_left_out=0,
        groups=tuple(map(with_rates, added.groups)),
        intervals=_intervals(parts, stalls, suspensions),
        client_ends=ends,
        transactions_per_client=per_client(ends),
        littles_law=littles_law(parts, added.elapsed_ns),
        stalls=stalls,
        suspensions=suspensions,
        outages=tuple(one for part in placed for one in part.outages),
        client_cost=client_cost([part.client_cost for part in parts], ended, False, is_later=True),
        server_cost=_server_cost([part.server_cost for part in parts], ended),
        machine_seconds=_machine_seconds(parts),
        staleness=(),
        why_no_staleness=parts[0].why_no_staleness
        or ("it was measured in parts" if parts[0].staleness else ""),
    )


def _placed(parts: Sequence[Observation]) -> Iterable[tuple[Observation, int]]:
    return zip(parts, begins_ns(parts), strict=True)


def _later(part: Observation, by_ns: int) -> Observation:
    """The part with its instants counted from the beginning of the whole."""
    errors = (replace(one, first_at_ns=one.first_at_ns + by_ns) for one in part.errors)
    return replace(
        part,
        errors=tuple(errors),
        transactions=_later_transactions(part.transactions, by_ns),
        groups=tuple(
            replace(group, transactions=_later_transactions(group.transactions, by_ns))
            for group in part.groups
        ),
        stalls=_later_spans(part.stalls, by_ns),
        suspensions=_later_spans(part.suspensions, by_ns),
        outages=_later_spans(part.outages, by_ns),
    )


def _later_transactions(
    reports: Iterable[TransactionReport], by_ns: int
) -> tuple[TransactionReport, ...]:
    return tuple(
        replace(one, first=replace(one.first, began_ns=one.first.began_ns + by_ns))
        if one.first is not None
        else one
        for one in reports
    )


def _later_spans(spans: Iterable[Span], by_ns: int) -> tuple[Span, ...]:
    return tuple(
        replace(one, from_ns=one.from_ns + by_ns, to_ns=one.to_ns + by_ns) for one in spans
    )


def _later_ends(part: Observation, by_ns: int) -> Iterable[ClientEnd]:
    return (replace(end, elapsed_ns=end.elapsed_ns + by_ns) for end in part.client_ends)


def _client_ends(ends: Iterable[ClientEnd]) -> tuple[ClientEnd, ...]:
    """Of each client its last end, with the transactions of all parts."""
    by_client: dict[int, ClientEnd] = {}
    for end in ends:
        earlier = by_client.get(end.client)
        if earlier is not None:
            end = replace(
                end,
                passes=min(earlier.passes, end.passes),
                transactions=earlier.transactions + end.transactions,
            )
        by_client[end.client] = end
    return tuple(sorted(by_client.values(), key=attrgetter("client")))


def _intervals(
    parts: Sequence[Observation], stalls: Sequence[Standstill], suspensions: Sequence[Standstill]
) -> tuple[Interval, ...]:
    """A second of a part counts for the second of the whole in which it began."""
    by_second: dict[tuple[int, str], list[Interval]] = {}

    for part, by_ns in _placed(parts):
        for line in part.intervals:
            second = (line.second * SECOND_NS + by_ns) // SECOND_NS
            by_second.setdefault((second, line.group), []).append(line)

    return tuple(
        merged_line(
            second, group, lines, min(line.clients_connected for line in lines), stalls, suspensions
        )
        for (second, group), lines in sorted(by_second.items())
    )


def _machine_seconds(parts: Sequence[Observation]) -> tuple[MachineSecond, ...]:
    """Of two that are one second of the whole, the first."""
    by_second: dict[int, MachineSecond] = {}

    for part, by_ns in _placed(parts):
        for one in part.machine_seconds:
            second = (one.second * SECOND_NS + by_ns) // SECOND_NS
            by_second.setdefault(second, replace(one, second=second))
    return tuple(one for _, one in sorted(by_second.items()))


def _server_cost(parts: Sequence[ServerCost | None], ended: int) -> ServerCost | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    whole = of_all(known, is_later=True)
    return replace(whole, per_transaction_ns=whole.cpu_ns / ended if ended else 0.0)


def _generators(parts: Sequence[Observation]) -> tuple[GeneratorReport, ...]:
    """One that was lost in a part has its numbers of that part: in the others it was observed."""
    return tuple(map(_generator, zip(*(part.generators for part in parts), strict=True)))


def _generator(same: Sequence[GeneratorReport]) -> GeneratorReport:
    counted = [one for one in same if one.is_lost] or same
    totals = {name: sum(getattr(one, name) for one in counted) for name in _COUNTS}
    is_bound_known = all(one.is_bound_known for one in counted)
    return replace(counted[-1], **totals, is_bound_known=is_bound_known)


_COUNTS = ("ok", "failed", "unknown")
