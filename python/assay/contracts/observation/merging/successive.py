"""Takes the observations of parts of one drive that were measured one after another, with time
between them that is not measured; returns the one of the whole.

Its time is the sum of the measured times: a part begins where the one before it ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import TypeVar

from msgspec.structs import asdict, replace

from assay.contracts.observation.observation import Observation
from assay.contracts.observation.parts.clients import ClientEnd
from assay.contracts.observation.parts.costs import ClientCost, DeviceCost, MachineCost, ServerCost
from assay.contracts.observation.parts.generators import GeneratorReport
from assay.contracts.observation.parts.groups import GroupReport
from assay.contracts.observation.parts.intervals import Interval
from assay.contracts.observation.parts.machine_seconds import MachineSecond
from assay.contracts.observation.parts.service import Standstill, TimeSpan
from assay.contracts.observation.parts.shared_numbers import numbers_of_all
from assay.contracts.observation.parts.transactions import TransactionReport

Span = TypeVar("Span", bound=TimeSpan)
Cost = TypeVar("Cost", DeviceCost, MachineCost)


def begins_ns(parts: Sequence[Observation]) -> list[int]:
    """How much was measured before each part."""
    return list(accumulate((part.elapsed_ns for part in parts[:-1]), initial=0))


def successive(parts: Sequence[Observation]) -> Observation:
    """Of the same clients. Passes are left out: no part has a whole one."""
    if len(parts) < 2:
        return parts[0]
    placed = [_later(part, by_ns) for part, by_ns in _placed(parts)]
    from assay.contracts.observation.merging.simultaneous import added_up

    added = added_up(placed)
    stalls = tuple(one for part in placed for one in part.stalls)
    suspensions = tuple(one for part in placed for one in part.suspensions)
    elapsed_ns = sum(part.elapsed_ns for part in parts)
    ends = _client_ends([end for part, by_ns in _placed(parts) for end in _later_ends(part, by_ns)])
    from assay.contracts.observation.merging.simultaneous import (
        littles_law,
        per_client,
        total_or_none,
    )

    return replace(
        added,
        generators=_generators(parts),
        elapsed_ns=elapsed_ns,
        drained_ns=sum(part.drained_ns for part in parts),
        connect_ns=sum(part.connect_ns for part in parts),
        threads=max(part.threads for part in parts),
        passes=None,
        pass_times=(),
        pass_times_left_out=0,
        groups=tuple(_group(group, parts, at) for at, group in enumerate(added.groups)),
        intervals=_intervals(parts, stalls, suspensions),
        client_ends=ends,
        transactions_per_client=per_client(ends),
        littles_law=littles_law(parts, elapsed_ns),
        stalls=stalls,
        suspensions=suspensions,
        outages=tuple(one for part in placed for one in part.outages),
        client_cost=_client_cost([part.client_cost for part in parts], added.outcomes.ended),
        server_cost=_server_cost([part.server_cost for part in parts], added.outcomes.ended),
        device_cost=_sums([part.device_cost for part in parts]),
        log_device_cost=_sums([part.log_device_cost for part in parts]),
        machine_cost=_sums([part.machine_cost for part in parts]),
        machine_seconds=_machine_seconds(parts),
        data_in_memory=parts[-1].data_in_memory,
        embedded_read_bytes=total_or_none([part.embedded_read_bytes for part in parts]),
        server_counters=dict(sum((Counter(part.server_counters) for part in parts), Counter())),
        other_isolation={
            named: level for part in parts for named, level in part.other_isolation.items()
        },
        staleness=(),
        why_no_staleness=parts[0].why_no_staleness
        or ("it was measured in parts" if parts[0].staleness else ""),
        script_warnings=tuple(dict.fromkeys(one for part in parts for one in part.script_warnings)),
        next_transaction=max(part.next_transaction for part in parts),
        shared_numbers=numbers_of_all(part.shared_numbers for part in parts),
        begun_levels=tuple(dict.fromkeys(one for part in parts for one in part.begun_levels)),
        ended_by=parts[-1].ended_by,
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


def _group(group: GroupReport, parts: Sequence[Observation], at: int) -> GroupReport:
    elapsed_ns = sum(part.groups[at].elapsed_ns for part in parts)
    first = parts[0].groups[at]
    return replace(
        group,
        clients=first.clients,
        arrival=first.arrival,
        elapsed_ns=elapsed_ns,
        throughput_per_s=group.outcomes.ok / (elapsed_ns / 1e9) if elapsed_ns else 0.0,
        passes=None,
        endpoints=tuple(
            replace(
                whole,
                clients=one.clients,
                throughput_per_s=whole.ok / (elapsed_ns / 1e9) if elapsed_ns else 0.0,
            )
            for whole, one in zip(group.endpoints, first.endpoints, strict=True)
        ),
    )


def _intervals(
    parts: Sequence[Observation], stalls: Sequence[Standstill], suspensions: Sequence[Standstill]
) -> tuple[Interval, ...]:
    """A second of a part counts for the second of the whole in which it began."""
    by_second: dict[tuple[int, str], list[Interval]] = {}
    from assay.contracts.observation.merging.spans import SECOND_NS

    for part, by_ns in _placed(parts):
        for line in part.intervals:
            second = (line.second * SECOND_NS + by_ns) // SECOND_NS
            by_second.setdefault((second, line.group), []).append(line)
    from assay.contracts.observation.merging.merged_intervals import line_of

    return tuple(
        line_of(
            second,
            group,
            lines,
            min(line.clients_connected for line in lines),
            stalls,
            suspensions,
        )
        for (second, group), lines in sorted(by_second.items())
    )


def _machine_seconds(parts: Sequence[Observation]) -> tuple[MachineSecond, ...]:
    """Of two that are one second of the whole, the first."""
    by_second: dict[int, MachineSecond] = {}
    from assay.contracts.observation.merging.spans import SECOND_NS

    for part, by_ns in _placed(parts):
        for one in part.machine_seconds:
            second = (one.second * SECOND_NS + by_ns) // SECOND_NS
            by_second.setdefault(second, replace(one, second=second))
    return tuple(one for _, one in sorted(by_second.items()))


def _client_cost(parts: Sequence[ClientCost], ended: int) -> ClientCost:
    peaks = ("resident_peak_bytes", "resident_bytes", "resident_grown_bytes")
    most = {name: max(getattr(part, name) for part in parts) for name in peaks}
    from assay.contracts.observation.merging.simultaneous import client_cost

    return replace(client_cost(parts, ended, on_one_machine=False), **most)


def _server_cost(parts: Sequence[ServerCost | None], ended: int) -> ServerCost | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    cpu_ns = sum(part.cpu_ns for part in known)
    from assay.contracts.observation.merging.simultaneous import total_or_none

    return ServerCost(
        cpu_ns=cpu_ns,
        read_bytes=total_or_none([part.read_bytes for part in known]),
        resident_peak_bytes=max(part.resident_peak_bytes for part in known),
        per_transaction_ns=cpu_ns / ended if ended else 0.0,
        counts={
            name: sum(part.counts[name] for part in known)
            for name in known[0].counts
            if all(name in part.counts for part in known)
        },
    )


def _sums(parts: Sequence[Cost | None]) -> Cost | None:
    """Every number is a sum, but a peak is the largest of all and what was least the least; None
    where one of the parts has no number."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    numbers = {}
    for name, value in asdict(known[0]).items():
        if not isinstance(value, str):
            each = [getattr(part, name) for part in known]
            words = name.split("_")
            of_all = max if "peak" in words else min if "least" in words else sum
            numbers[name] = None if None in each else of_all(each)
    return replace(known[0], **numbers)


def _generators(parts: Sequence[Observation]) -> tuple[GeneratorReport, ...]:
    """One that was lost in a part has its numbers of that part: in the others it was observed."""
    return tuple(map(_generator, zip(*(part.generators for part in parts), strict=True)))


def _generator(same: Sequence[GeneratorReport]) -> GeneratorReport:
    counted = [one for one in same if one.is_lost] or same
    totals = {name: sum(getattr(one, name) for one in counted) for name in _COUNTS}
    is_bound_known = all(one.is_bound_known for one in counted)
    return replace(counted[-1], **totals, is_bound_known=is_bound_known)


_COUNTS = ("ok", "failed", "unknown")
