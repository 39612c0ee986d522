"""Takes the observations of several client machines that drove one run together; returns the one of
all their clients.

Counts, sums and distributions add up exactly: what each machine recorded is what one machine with
all clients would have. Seconds count from each machine's own beginning; machines begin at a given
instant, so the same number is the same second, as far as their clocks agree. A stall of all is what
the stalls of each have in common, and so is an outage; a suspension is of whichever machine had it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from msgspec.structs import replace

from assay.contracts.observation.merging import spans
from assay.contracts.observation.merging.fields import of_all
from assay.contracts.observation.merging.merged_intervals import merged_intervals
from assay.contracts.observation.observation import Observation
from assay.contracts.observation.parts.clients import ClientEnd
from assay.contracts.observation.parts.costs import ClientCost
from assay.contracts.observation.parts.groups import GroupReport
from assay.contracts.observation.parts.service import (
    LittlesLaw,
    Outage,
    Standstill,
    TransactionsPerClient,
)
from assay.contracts.observation.parts.transactions import MOST_PASS_TIMES


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
        outages=spans.common([part.outages for part in parts], Outage),
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
