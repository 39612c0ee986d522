"""What an observation says of clients: their groups, how each was served and how its work ended,
their load generators, and the servers that answered them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, TypeVar

from msgspec.structs import replace

from assay.contracts.documents import Shape
from assay.contracts.observation.field_merge import PARTS, WHOLE, Keyed, merged, none, same
from assay.contracts.observation.transactions import (
    AllOk,
    BegunOutcomes,
    ErrorReport,
    Outcomes,
    Passes,
    TransactionOutcomes,
    TransactionReport,
)

ClientState = Literal["done", "lost", "failed", "refused", "interrupted"]
EndedBy = Literal["stop", "interrupted", "refused", "lost", "all clients failed"]
"""Why a run ended; ``stop``: as asked."""


class ClientEnd(Shape, frozen=True):
    """The end of one client's work."""

    client: int
    group: str
    elapsed_ns: int
    passes: int
    transactions: int
    state: ClientState


def end_of_all(parts: Sequence[EndedBy]) -> EndedBy:
    """Refused or interrupted if one part was; clients are lost only if all are."""
    words = set(parts)
    for word in ("refused", "interrupted"):
        if word in words:
            return "refused" if word == "refused" else "interrupted"
    if "stop" in words:
        return "stop"
    return words.pop() if len(words) == 1 else "all clients failed"


class Unfinished(Shape, frozen=True):
    """Transactions that were given up because they did not end."""

    transactions: Annotated[int, merged(sum)]
    cancelled: Annotated[int, merged(sum)]
    limit_s: Annotated[float, merged(max)]
    responds: Annotated[bool | None, merged(none)] = None
    """Whether the system opened another session afterwards; found out by `assay.drive.watched`."""

    @property
    def is_deaf(self) -> bool:
        """Whether the system opened no further session behind them."""
        return self.responds is False


_CLEARLY = 0.98
"""Of the time of all groups: one that worked for less of it has ended before the others."""

ArrivalKind = Literal["closed", "constant", "poisson", "deferred", "mixed"]


class Arrival(Shape, frozen=True):
    """How transactions arrived, as the drive document said."""

    kind: ArrivalKind
    offered_rate_per_s: float | None


def arrival_of_all(parts: Sequence[Arrival]) -> Arrival:
    """At the sum of the rates."""
    kinds = {part.kind for part in parts}
    rates = [part.offered_rate_per_s for part in parts if part.offered_rate_per_s is not None]
    return Arrival(kinds.pop() if len(kinds) == 1 else "mixed", sum(rates) if rates else None)


def longest(queues: Sequence[int | None]) -> int | None:
    """None: none of them is of clients that run what others defer."""
    known = [queue for queue in queues if queue is not None]
    return max(known, default=None)


ONE_OF_EACH_ERROR = merged(
    Keyed(("class_", "code", "certainty", "transaction"), first="first_at_ns")
)


class EndpointReport(BegunOutcomes, frozen=True, kw_only=True):
    """What the clients of one group did at one of several endpoints."""

    name: Annotated[str, merged(same)]
    """``HOST:PORT``, or the path of its socket."""
    is_replica: Annotated[bool, merged(same)]
    clients: Annotated[int, merged(sum, later=same)]
    throughput_per_s: Annotated[float, merged(WHOLE)]
    """Transactions that ended ok there, by the time of the whole group."""
    all_ok: Annotated[AllOk, merged(PARTS)]
    errors: Annotated[tuple[ErrorReport, ...], ONE_OF_EACH_ERROR]


class DrivenClients(Shape, frozen=True):
    """Clients, and the outcomes of their transactions."""

    clients: Annotated[int, merged(sum, later=same)]
    arrival: Annotated[Arrival, merged(arrival_of_all, later=same)]
    elapsed_ns: Annotated[int, merged(max, later=sum)]
    outcomes: Annotated[Outcomes, merged(PARTS)]
    outcomes_by_transaction: Annotated[tuple[TransactionOutcomes, ...], merged(Keyed(("name",)))]
    transactions: Annotated[tuple[TransactionReport, ...], merged(Keyed(("name", "outcome")))]
    all_ok: Annotated[AllOk, merged(PARTS)]
    passes: Annotated[Passes | None, merged(PARTS, later=none)]
    errors: Annotated[tuple[ErrorReport, ...], ONE_OF_EACH_ERROR]


class GroupReport(DrivenClients, frozen=True, kw_only=True):
    """Clients that run the same scripts at the same pace. The name is empty where the drive
    document names no group."""

    name: Annotated[str, merged(same)]
    throughput_per_s: Annotated[float, merged(WHOLE)]
    """Of its own time (`until_s`): those of several groups add up where all worked to the end."""
    longest_queue: Annotated[int | None, merged(longest)] = None
    """Of clients that run what others defer: the most that waited at once; None: others."""
    endpoints: Annotated[tuple[EndpointReport, ...], merged(Keyed(("name",)))] = ()
    """The same by the endpoints that its clients used; empty where the run had one."""

    @property
    def is_deferred(self) -> bool:
        """Whether it ran what scripts of other groups queued."""
        return self.arrival.kind == "deferred"

    def until_s(self, elapsed_ns: int) -> float | None:
        """When it had ended, in the measurement of ``elapsed_ns`` of all groups, where that was
        clearly before its end; None: it worked as long as the others."""
        return self.elapsed_ns / 1e9 if self.elapsed_ns < _CLEARLY * elapsed_ns else None


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


Counts = TypeVar("Counts", bound=Outcomes)


class GeneratorReport(Shape, frozen=True):
    machine: str
    """Its name in the fleet."""
    clients: int
    ok: int
    """Measured transactions; of one that was lost, those that it had reported."""
    failed: int
    """While it works, those of unknown outcome are among them; of one that was lost, 0."""
    unknown: int
    """Of one that was lost: what it had reported as not ok, which may have committed, and the most
    that it may have done since its last report, where that is known."""
    lag_p99_ns: int | None = None
    """How late transactions of an open loop were begun; None: a closed loop, or it was lost. While
    it works, this and the next two are of the last second."""
    cpu_share: float | None = None
    """Busy share of its threads; None: not measured."""
    waited_share: float | None = None
    """Share of their time in which its threads waited for a processor."""
    load_1min: float | None = None
    """Of its machine, behind the measurement; while it works, now."""
    clock_ahead_ns: int | None = None
    """Its monotonic clock after that of the machine that coordinates."""
    clock_uncertainty_ns: int | None = None
    """The most by which that may be wrong."""
    clock_drift_ns_per_s: float | None = None
    """How much farther its clock went in each second, as far as that is certain; None: it was not
    read afterwards."""
    lost_after_s: float | None = None
    """Since clients began; None: it was not lost."""
    is_bound_known: bool = True
    """False of one that was lost before its rate was known: it may have done more than ``unknown``
    says."""

    @property
    def is_lost(self) -> bool:
        return self.lost_after_s is not None


def with_lost(outcomes: Counts, generators: Iterable[GeneratorReport], times: int = 1) -> Counts:
    """With the transactions of those that were lost, ``times`` -1: without them. So the server has
    at least what is ``ok``, and at most that and what is ``unknown``. What they had reported as
    rolled back or skipped is not there: it changed nothing."""
    lost = [one for one in generators if one.is_lost]
    ok, unknown = times * sum(one.ok for one in lost), times * sum(one.unknown for one in lost)
    return replace(
        outcomes,
        scheduled=outcomes.scheduled + ok + unknown,
        attempts=outcomes.attempts + ok + unknown,
        ok=outcomes.ok + ok,
        unknown=outcomes.unknown + unknown,
    )


def without_lost(reports: Iterable[GeneratorReport]) -> str:
    """``without 2 lost generators: 1234 ok, at most 56 unknown``: what numbers do not have that are
    of the others alone. Empty: none was lost."""
    lost = [one for one in reports if one.is_lost]
    if not lost:
        return ""
    many = f"{len(lost)} lost generators" if len(lost) > 1 else "the lost generator"
    return f"without {many}: {sum(one.ok for one in lost)} ok, {most_unknown(lost)}"


def most_unknown(lost: Iterable[GeneratorReport], unknown: str = "unknown") -> str:
    """``at most 56 unknown``, or ``bound not known``: what those that were lost may have done
    beside what they reported."""
    reports = list(lost)
    if not all(one.is_bound_known for one in reports):
        return BOUND_NOT_KNOWN
    return f"at most {sum(one.unknown for one in reports)} {unknown}"


BOUND_NOT_KNOWN = "bound not known"
"""Of what a lost generator did."""


def clients_left(reports: Sequence[GeneratorReport]) -> str:
    """``on 4 of 6 clients from 31 s on, on 2 from 40 s on``, since clients began: how many there
    were after generators were lost. Empty: none was."""
    every = left = sum(one.clients for one in reports)
    said: list[str] = []
    lost = [(one.lost_after_s, one.clients) for one in reports if one.lost_after_s is not None]
    for after_s, clients in sorted(lost):
        left -= clients
        number = f"{left} of {every} clients" if not said else str(left)
        said.append(f"on {number} from {after_s:.0f} s on")
    return ", ".join(said)


class ServerReport(Shape, frozen=True):
    """One of the servers behind the address of a run."""

    version: Annotated[str, merged(same)]
    """As the server said it at login."""
    address: Annotated[str, merged(same)]
    """As the server knows itself; empty where it was not asked, or does not say."""
    role: Annotated[str, merged(same)]
    """``primary``, ``standby`` or ``read-only``; empty as the address."""
    is_behind_pooler: Annotated[bool, merged(same)]
    """Whether it knows its sessions by other ids than those given at login."""
    sessions: Annotated[int, merged(sum)]

    @property
    def described(self) -> str:
        """``VERSION, standby, at 10.0.0.7:5432``."""
        at = f"at {self.address}" if self.address else ""
        return ", ".join(word for word in (self.version, self.role, at) if word)


class StalenessReport(Shape, frozen=True):
    """Of numbers that were written to the primary in the measurement, how long each took until it
    was read at one replica: from the answer that it was written to the answer that had it."""

    name: str
    """``HOST:PORT`` of the replica."""
    numbers: int
    not_read: int
    """Those of them that had not been read when the measurement ended, or when the replica was
    lost: each counts with the time until then, and would have taken longer."""
    p50_ns: int | None
    """None: there are no numbers."""
    p99_ns: int | None
    max_ns: int | None
    resolution_ns: int | None
    """How much too high an age may be, 99th percentile: the time since the last question that did
    not find the number. None: none was read."""
    lost_after_s: float | None = None
    """Since the measurement began, when the replica stopped answering; None: it did not."""


class SharedNumbersDocument(Shape, frozen=True):
    """The numbers of one name; the next clients on the same data go on from here."""

    name: str
    """The variable of ``\\next``."""
    taken: int
    """Above every number that was taken."""
    acknowledged: int
    """All numbers below it are of transactions that ended ``ok``."""


def numbers_of_all(
    parts: Iterable[Iterable[SharedNumbersDocument]],
) -> tuple[SharedNumbersDocument, ...]:
    """Those of several drives; where they share a name, the last."""
    return tuple({one.name: one for part in parts for one in part}.values())


class ReferenceReport(Shape, frozen=True):
    """How clients of which each leaves rows of its own were together, as far as the test's steps
    say it."""

    alone_elapsed_ns: int | None = None
    one_alone_ns: int | None = None
    stagger_ns: int | None = None
    pause_ns: int | None = None
    least_at_once: int | None = None
    most_at_once: int | None = None
    equal_dumps: int | None = None
    overtaken: int | None = None


class ConnectReport(Shape, frozen=True):
    """One turn of a client that connects for each transaction, and of one that does not."""

    inside_ns: int
    outside_ns: int
    connect_ns: int
