"""What clients do, as the engine takes it (`DriveDocument`), and how far they are and what they
have done so far, as it says it while they work (`DriveProgress`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType, field

from assay.contracts.driving import OF_ENGINE
from assay.contracts.engine.deployment import DeploymentDocument
from assay.contracts.engine.document import EngineDocument, ScriptDocument
from assay.contracts.observation.parts.costs import ClientCost
from assay.contracts.observation.parts.generators import GeneratorReport
from assay.contracts.observation.parts.intervals import Interval
from assay.contracts.observation.parts.machine_seconds import MachineSecond
from assay.contracts.observation.parts.service import Outage
from assay.contracts.observation.parts.shared_numbers import SharedNumbersDocument
from assay.contracts.setting import Flag, Pause
from assay.text.quantities import Whole

Value = str | int | float | bool | None
"""Of a variable. The engine takes lists and objects, too."""


class StopDocument(EngineDocument, frozen=True, kw_only=True):
    """What ends a client's work; the first limit that is reached."""

    passes: int | UnsetType = UNSET
    transactions: int | UnsetType = UNSET
    queue: int | UnsetType = UNSET
    duration_s: float | UnsetType = UNSET


class RateStep(EngineDocument, frozen=True, kw_only=True):
    """The offered rate from an instant of the measurement on."""

    from_s: float
    per_s: float
    to_per_s: float | UnsetType = UNSET
    """At the next step; left out: it is even."""


class ArrivalDocument(EngineDocument, frozen=True, kw_only=True):
    """Of an open loop, or of clients that run what others defer."""

    kind: str
    offered_rate_per_s: float | tuple[RateStep, ...] | UnsetType | None = UNSET


class RetriesDocument(EngineDocument, frozen=True, kw_only=True):
    most: int
    classes: tuple[str, ...]


class ReconnectDocument(EngineDocument, frozen=True, kw_only=True):
    after_loss: bool
    timeout_s: float


class LogDocument(EngineDocument, frozen=True, kw_only=True):
    """The file of single transactions."""

    path: str
    run: int
    sample: float
    """The share of them that is written."""


_KINDS: Mapping[type, type] = {Whole: int, Flag: bool, Pause: str}
if TYPE_CHECKING:

    class _OfDriving(EngineDocument, frozen=True, kw_only=True):
        """The fields of `Driving` that the engine has as they stand; left out where they are
        nothing."""

else:
    _OfDriving = msgspec.defstruct(
        "_OfDriving",
        [
            (name, _KINDS.get(type(one.quantity or one.kind), float) | UnsetType, UNSET)
            for name, one in OF_ENGINE.items()
        ],
        bases=(EngineDocument,),
        frozen=True,
        kw_only=True,
    )


class ClientsDocument(_OfDriving, frozen=True, kw_only=True):
    """Clients that are alike: how many, what they use, and their pace."""

    order: str | UnsetType = UNSET
    """``sequence``, ``mix`` or ``deck``."""
    clients: int | UnsetType = UNSET
    first_client: int | UnsetType = UNSET
    """Its number among them; the clients before it are in another process."""
    of_clients: int | UnsetType = UNSET
    """All of them, in all processes."""
    read: str | dict[str, str] | UnsetType = UNSET
    """Which endpoints they use: a word of `READS`, or one for each script; others: the primary."""
    arrival: ArrivalDocument | UnsetType = UNSET
    retries: RetriesDocument | UnsetType = UNSET


_CLIENTS = ("order", "clients", "first_client", "of_clients", "read")


class GroupDocument(ClientsDocument, frozen=True, kw_only=True):
    """Clients of one kind, where there are several."""

    first = ("name", "scripts", *_CLIENTS, "arrival")
    name: str
    scripts: tuple[str, ...]
    clients: int
    weights: dict[str, int] | UnsetType = UNSET
    ends_with: str | UnsetType = UNSET
    """The group with whose last client these clients end."""
    stop: StopDocument | UnsetType = UNSET


class DriveDocument(ClientsDocument, frozen=True, kw_only=True):
    """The clients of one step. Either all are alike, or they are in ``groups``."""

    first = ("deployment", "scripts", "variables", "groups", *_CLIENTS, "stop", "arrival")
    deployment: DeploymentDocument | None = None
    """None: it is compiled, and not driven."""
    scripts: tuple[ScriptDocument, ...]
    variables: dict[str, Value] = field(default_factory=dict)
    groups: tuple[GroupDocument, ...] | UnsetType = UNSET
    stop: StopDocument = StopDocument()
    threads: int = 0
    """0: as the engine chooses."""
    protocol: str = "simple"
    requires_bound_values: bool = False
    warm_up_s: float = 0.0
    drain_s: float = 10.0
    seed: int
    digest: bool = False
    has_transactions: bool = True
    statement_timeout_s: float | None = None
    statement_limit_s: float | UnsetType = UNSET
    ramp_up_s: float | UnsetType = UNSET
    reconnect: ReconnectDocument | UnsetType = UNSET
    connect_each_transaction: bool | UnsetType = UNSET
    per_statement: bool | UnsetType = UNSET
    allow_shell: bool | UnsetType = UNSET
    sum_answers: bool | UnsetType = UNSET
    compare_answers: bool | UnsetType = UNSET
    leaves_parts: bool | UnsetType = UNSET
    """Whether a statement that fails outside a transaction may leave a part of its changes."""
    identifiers: dict[str, list[str]] | UnsetType = UNSET
    """What ``:{name}`` chooses among, as the dialect writes names."""
    unknown_statements: dict[str, str] | UnsetType = UNSET
    lexer: str | UnsetType = UNSET
    literal_style: str | UnsetType = UNSET
    begins: dict[str, list[str]] | UnsetType = UNSET
    """Isolation level → the statements that begin a transaction."""
    first_transaction: int | UnsetType = UNSET
    shared_numbers: tuple[SharedNumbersDocument, ...] | UnsetType = UNSET
    """Where the numbers that clients share go on."""
    log: LogDocument | UnsetType = UNSET

    @property
    def plain(self) -> dict[str, Any]:
        groups = {"groups": [group.plain for group in self.groups]} if self.groups else {}
        return {**super().plain, **groups}


class ThreadUse(NamedTuple):
    """Of the threads that drive clients."""

    cpus: float
    """CPU seconds per second of all of them."""
    busy: float
    """Share of the time of each."""
    waited: float
    """Share of the time in which each was ready to run and had no processor."""


class ClientsSoFar(msgspec.Struct, frozen=True):
    """What an observation will say of the clients, as far as it is known while they work: numbers
    since the measurement began, with the names and the meaning that they have there."""

    elapsed_ns: int
    threads: int
    client_cost: ClientCost
    """Without its memory. How long threads waited is extrapolated for some seconds where there are
    very many."""
    statements: int
    load_1min: float | None = None
    """Of the machine, in the last minute."""
    outages: tuple[Outage, ...] = ()
    """One that has not ended lasts until now."""
    transactions: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """By group: of each client that works or is done. Empty in an open loop, and of very many."""

    def use_since(self, before: ClientsSoFar | None) -> ThreadUse | None:
        """``before``: None: the beginning. None where nothing is known to have passed since."""
        now, was = self.client_cost, None if before is None else before.client_cost
        cpu_ns = now.cpu_ns - (was.cpu_ns if was else 0)
        waited_ns = now.waited_for_processor_ns - (was.waited_for_processor_ns if was else 0)
        passed_ns = self.elapsed_ns - (before.elapsed_ns if before else 0)
        return thread_use(cpu_ns, waited_ns, passed_ns, self.threads)


_LEAST_NS = 100_000_000
"""Shorter work says nothing of processors: the kernel counts in ticks."""


def thread_use(cpu_ns: int, waited_ns: int, elapsed_ns: int, threads: int) -> ThreadUse | None:
    """None where too little time has passed, or fewer threads are counted than before."""
    if elapsed_ns < _LEAST_NS or cpu_ns < 0:
        return None
    of_all_ns = elapsed_ns * max(1, threads)
    waited = max(0.0, min(1.0, waited_ns / of_all_ns))
    return ThreadUse(cpu_ns / elapsed_ns, min(1.0, cpu_ns / of_all_ns), waited)


class DrainProgress(msgspec.Struct, frozen=True):
    """The measurement has ended, and transactions that are still open are waited for."""

    open: int
    elapsed_s: float
    """Since the measurement ended."""
    limit_s: float
    """The maximum."""


class DriveProgress(msgspec.Struct, frozen=True):
    """How far the clients are, at most ten times a second."""

    elapsed_s: float
    """Since the first client began, or since connecting began if none has yet."""
    done: int
    """Measured transactions that have ended."""
    scheduled: int | None
    """All transactions of the drive; None: not known beforehand."""
    ok: int
    failed: int
    """Failed, or of unknown outcome."""
    clients_running: int
    seconds: tuple[Interval, ...] = ()
    """The seconds of the measurement that were completed since the last report: an interval of each
    group. The observation has the same and, where a transaction was counted late, more."""
    so_far: ClientsSoFar | None = None
    """Once a second of the measurement; None: not this time."""
    draining: DrainProgress | None = None
    generators: tuple[GeneratorReport, ...] = ()
    """What is known of each load generator so far, where there are several: once a second, and when
    one is lost. The engine, which is one of them, says none."""
    machine: tuple[MachineSecond, ...] = ()
    """Of the same seconds as ``seconds``; the engine says none."""


def read_progress(text: str) -> DriveProgress:
    """What the engine has reported."""
    return msgspec.json.decode(text, type=DriveProgress)
