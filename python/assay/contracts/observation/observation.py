"""The observation of a run: the engine's report, and measurements taken outside the engine."""

from __future__ import annotations

from typing import Annotated

import msgspec

from assay.contracts.observation.clients import (
    BOUND_NOT_KNOWN,
    CarriedOver,
    ClientEnd,
    ConnectReport,
    DrivenClients,
    EndedBy,
    GeneratorReport,
    GroupReport,
    InFlight,
    LittlesLaw,
    Outage,
    ReferenceReport,
    ServerReport,
    SharedNumbersDocument,
    StalenessReport,
    Standstill,
    TransactionsPerClient,
    Unfinished,
    end_of_all,
    numbers_of_all,
    with_lost,
    without_lost,
)
from assay.contracts.observation.costs import (
    CacheState,
    ClientCost,
    DataInMemory,
    DeviceCost,
    Interval,
    LogReport,
    MachineCost,
    MachineSecond,
    ServerCost,
)
from assay.contracts.observation.field_merge import (
    KNOWN_PARTS,
    PARTS,
    WHOLE,
    Keyed,
    both,
    counts,
    last,
    merged,
    same,
    sum_or_none,
    union,
)
from assay.contracts.observation.transactions import (
    AnswerReport,
    AnswerSumReport,
    BegunLevelReport,
    DerivedValue,
    Headline,
    Latency,
    Outcomes,
    PassTime,
    Resolution,
    ResponseLimit,
    ResultReport,
    StatementReport,
    WarmUpOutcomes,
    result_of_all,
)

VERSION = 3
"""Of the form of an observation; raised when a key changes its meaning."""


class EngineObservation(DrivenClients, frozen=True, kw_only=True):
    """The observation as the engine returns it."""

    version: Annotated[int, merged(same)]
    started_unix_ns: Annotated[int, merged(min)]
    drained_ns: Annotated[int, merged(max, later=sum)]
    connect_ns: Annotated[int, merged(max, later=sum)]
    threads: Annotated[int, merged(sum, later=max)]
    resolution: Annotated[Resolution, merged(same)]
    statements: Annotated[int, merged(sum)]
    per_statement: Annotated[
        tuple[StatementReport, ...], merged(Keyed(("transaction", "statement")))
    ]
    groups: Annotated[tuple[GroupReport, ...], merged(Keyed(("name",)))]
    intervals: Annotated[tuple[Interval, ...], merged(WHOLE)]
    client_ends: Annotated[tuple[ClientEnd, ...], merged(WHOLE)]
    transactions_per_client: Annotated[TransactionsPerClient, merged(WHOLE)]
    in_flight: Annotated[InFlight, merged(PARTS)]
    carried_over: Annotated[CarriedOver, merged(PARTS)]
    littles_law: Annotated[LittlesLaw | None, merged(WHOLE)]
    stalls: Annotated[tuple[Standstill, ...], merged(WHOLE)]
    suspensions: Annotated[tuple[Standstill, ...], merged(WHOLE)]
    reconnects: Annotated[int, merged(sum)]
    outages: Annotated[tuple[Outage, ...], merged(WHOLE)]
    results: Annotated[
        tuple[ResultReport, ...], merged(Keyed(("transaction", "statement"), of=result_of_all))
    ]
    client_cost: Annotated[ClientCost, merged(WHOLE)]
    ended_by: Annotated[EndedBy, merged(end_of_all, later=last)]
    warm_up: Annotated[tuple[WarmUpOutcomes, ...], merged(Keyed(("name",)))] = ()
    """Of the transactions that began in the warm-up, by type; empty without a warm-up."""
    answer_sums: Annotated[tuple[AnswerSumReport, ...], merged(Keyed(("transaction",)))] = ()
    answers: Annotated[tuple[AnswerReport, ...], merged(Keyed(("transaction", "statement")))] = ()
    driver_counters: Annotated[dict[str, int], merged(counts)] = msgspec.field(default_factory=dict)
    log: Annotated[LogReport | None, merged(KNOWN_PARTS)] = None
    servers: Annotated[
        tuple[ServerReport, ...], merged(Keyed(("version", "address", "role", "is_behind_pooler")))
    ] = ()
    """Who answered the sessions when they were opened; empty: a library, or not kept."""
    pass_times: Annotated[tuple[PassTime, ...], merged(WHOLE)] = ()
    """The passes that ended first, in this order, at most 10,000; of groups with several scripts,
    or that end after a number of passes."""
    pass_times_left_out: Annotated[int, merged(WHOLE)] = 0
    """How many more passes these groups made."""
    unfinished: Annotated[Unfinished | None, merged(KNOWN_PARTS)] = None
    partly_durable: Annotated[int, merged(sum)] = 0
    """Measured transactions that failed after a part was committed. They are ``unknown``."""
    not_retried: Annotated[int, merged(sum)] = 0
    """How many of these would have been retried otherwise."""
    prepared_again: Annotated[int, merged(sum)] = 0
    """How often a statement was prepared again that the server no longer accepted."""
    next_transaction: Annotated[int, merged(max)] = 0
    """Above the numbers that its transactions had (``:transaction_number``)."""
    shared_numbers: Annotated[tuple[SharedNumbersDocument, ...], merged(numbers_of_all)] = ()
    """How far the numbers came that its clients share; without those of which none was taken."""
    begun_levels: Annotated[tuple[BegunLevelReport, ...], merged(union)] = ()
    """Where scripts name an isolation level, and a transaction was begun at it."""


class Observation(EngineObservation, frozen=True, kw_only=True):
    """The engine's observation with measurements taken outside it; left out where not known."""

    server_cost: Annotated[ServerCost | None, merged(same, later=WHOLE)] = None
    device_cost: Annotated[DeviceCost | None, merged(same, later=PARTS)] = None
    log_device_cost: Annotated[DeviceCost | None, merged(same, later=PARTS)] = None
    """Of the device under the log, where that is on a storage of its own."""
    machine_cost: Annotated[MachineCost | None, merged(same, later=PARTS)] = None
    machine_seconds: Annotated[tuple[MachineSecond, ...], merged(same, later=WHOLE)] = ()
    """Empty: no second of the measurement was completed."""
    embedded_read_bytes: Annotated[int | None, merged(same, later=sum_or_none)] = None
    """What this process read from storage, page cache left out, where the system works in it."""
    cache_state: Annotated[CacheState | None, merged(same)] = None
    data_in_memory: Annotated[DataInMemory | None, merged(same, later=last)] = None
    """At the end; None: not seen."""
    reads_device: Annotated[bool, merged(same)] = False
    """Whether its test measures reads from the device."""
    left_out: Annotated[tuple[str, ...], merged(same)] = ()
    """Scripts of the test that the system cannot express, and that were not run."""
    went_without: Annotated[tuple[str, ...], merged(same)] = ()
    """Capabilities that the test needs elsewhere, and that the system lacks."""
    declared_atomic: Annotated[tuple[str, ...], merged(same)] = ()
    """Scripts that say with ``\\atomic`` that what they call is one transaction."""
    other_isolation: Annotated[dict[str, str], merged(same, later=both)] = msgspec.field(
        default_factory=dict
    )
    """Isolation level that scripts name and the system does not have → the one at which their
    transactions were."""
    commits: Annotated[int | None, merged(sum_or_none)] = None
    """Transactions that ended ok and are of a type that changes data; None: not known."""
    server_counters: Annotated[dict[str, int], merged(same, later=counts)] = msgspec.field(
        default_factory=dict
    )
    """How far the server's own counters went on in the measurement."""
    client_processes: Annotated[int | None, merged(same)] = None
    """In how many processes the clients worked; None: in one with threads."""
    generators: Annotated[tuple[GeneratorReport, ...], merged(same, later=WHOLE)] = ()
    """Of a fleet; empty: one process drove all clients. What one that was lost had reported, and
    may have done since, is in its report and in ``outcomes``, and in those of a group or type where
    there is one; in nothing else."""
    staleness: Annotated[tuple[StalenessReport, ...], merged(same, later=WHOLE)] = ()
    """Of each replica, where clients read at replicas and it could be measured."""
    why_no_staleness: Annotated[str, merged(same, later=WHOLE)] = ""
    """Why it was not measured where clients read at replicas; empty: it was, or none does."""
    script_warnings: Annotated[tuple[str, ...], merged(same, later=union)] = ()
    reference: Annotated[ReferenceReport | None, merged(same)] = None
    connect: Annotated[ConnectReport | None, merged(same)] = None
    rules: Annotated[dict[str, int | None], merged(same)] = msgspec.field(default_factory=dict)
    """What each of the workload's rules found afterwards, where the test is about them."""
    headline: Annotated[Headline | None, merged(same)] = None
    """None: its test declares none."""
    response_limits: Annotated[tuple[ResponseLimit, ...], merged(same)] = ()
    derived: Annotated[tuple[DerivedValue, ...], merged(same)] = ()
    """The metrics that its workload derives for its test."""

    @property
    def of_clients(self) -> DrivenClients:
        """What the transactions of the clients were, without those that they had queued for others
        (`GroupReport.is_deferred`): a delivery that is asked for and run is not two."""
        if not any(group.is_deferred for group in self.groups):
            return self
        return next((group for group in self.groups if not group.is_deferred), self)

    @property
    def observed_outcomes(self) -> Outcomes:
        """Of the clients whose transactions were timed: without generators that were lost."""
        return with_lost(self.outcomes, self.generators, -1)

    @property
    def types_without(self) -> str:
        """What numbers of single transaction types do not have (`without_lost`): it is not divided
        among them, as what is unknown cannot be. Empty: they are whole."""
        return without_lost(self.generators) if len(self.outcomes_by_transaction) > 1 else ""

    @property
    def groups_without(self) -> str:
        """The same of the groups of clients."""
        return without_lost(self.generators) if len(self.groups) > 1 else ""

    @property
    def ended(self) -> int:
        """Transactions that are known to have ended, those that lost generators reported too."""
        unknown = sum(one.unknown for one in self.generators if one.is_lost)
        return self.outcomes.ended - unknown

    @property
    def is_bound_known(self) -> bool:
        """Whether what lost generators did is at most what is ``ok`` and ``unknown``."""
        return all(one.is_bound_known for one in self.generators if one.is_lost)

    @property
    def lost_generators(self) -> tuple[str, ...]:
        """``load machine 2 of 4 lost after 31 s``, of each that was."""
        count = len(self.generators)
        return tuple(
            f"load machine {number} of {count} lost after {one.lost_after_s:.0f} s"
            f"{'' if one.is_bound_known else f' ({BOUND_NOT_KNOWN})'}"
            for number, one in enumerate(self.generators, 1)
            if one.lost_after_s is not None
        )

    @property
    def throughput_per_s(self) -> float | None:
        """Transactions of the clients that ended ok per second of the measurement; None where no
        time passed."""
        return self.of_clients.outcomes.ok / (self.elapsed_ns / 1e9) if self.elapsed_ns else None

    @property
    def headline_count(self) -> int | None:
        """How many transactions of the headline completed; None: its test declares none."""
        if self.headline is None:
            return None
        types = self.headline.transactions
        return sum(one.completed for one in self.outcomes_by_transaction if one.name in types)

    def latency_of(self, transaction: str) -> Latency | None:
        """Of the transactions of one type that ended ok; None: there are none."""
        ok = (one for one in self.transactions if one.outcome == "ok")
        return next((one.latency for one in ok if one.name == transaction), None)
