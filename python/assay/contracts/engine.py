"""What the engine takes and returns, typed as its own structs: where its sessions go, what is
loaded and what clients do, how far they are; what the processes say to each other that run it,
and the fleet of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypedDict

import msgspec
from msgspec import UNSET, UnsetType, field

from assay.contracts.documents import EngineDocument, ScriptDocument, TextStyle
from assay.contracts.driving import OF_ENGINE
from assay.contracts.observation.clients import GeneratorReport, Outage, SharedNumbersDocument
from assay.contracts.observation.costs import ClientCost, Interval, MachineSecond
from assay.contracts.setting import Flag, Pause
from assay.errors import SystemDied
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
    text_style: TextStyle | UnsetType = UNSET
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


class SessionAddress(msgspec.Struct, frozen=True):
    """How sessions reach a system."""

    driver: str
    """Of the engine, by name."""
    unix: str | None = None
    """Path of a Unix socket."""
    host: str | None = None
    """Name or IP address; None: a socket or a file."""
    port: int | None = None
    """Of TCP; None: a socket or a file."""
    host_address: str | None = None
    """Where ``host`` is, an IP address: it is not looked up, and certificates are still for
    ``host``."""
    file: str | None = None
    """A database file, for systems that live in this process."""
    user: str = ""
    """Who logs in; empty: there are no users."""
    password: str | None = None
    """None: none is sent."""
    database: str = ""
    """The one of the session; empty: the server has one only."""
    tls: str = "off"
    """``off``, ``prefer``, ``require`` (not verified), ``verify-ca`` (signed by an authority) or
    ``verify`` (and for this host). ``allow``: off, or else required, which the first session finds
    out; the engine has no such mode."""
    ca_file: str | None = None
    """PEM file of the authorities; None: those of this machine."""
    cert_file: str | None = None
    """PEM files of the client's own certificate and its key."""
    key_file: str | None = None
    """PEM file of the key of ``cert_file``."""
    session_statements: tuple[str, ...] = ()
    """Statements that each new session runs first."""
    server_query: str | None = None
    """What each session of a run's clients is asked once it is open, before the measurement: a row
    of the server's own address, its role, and its id of the session; None: nothing."""
    connect_timeout_s: float = 30.0
    """How long a session may take to open, in seconds."""
    answer_timeout_s: float | None = None
    """How long a session outside the measurement waits for one answer; None: without limit."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The driver's own (the null driver's delays)."""

    def __repr__(self) -> str:
        """Without the password and the options."""
        found = f"driver={self.driver!r}, host={self.host!r}, port={self.port!r}"
        return f"{type(self).__name__}({found})"


class DeploymentDocument(EngineDocument, SessionAddress, frozen=True, kw_only=True):
    """Of one address, or of several that differ in where they are; ``options`` are with those that
    are secret."""

    endpoints: tuple[DeploymentDocument, ...] | UnsetType = UNSET
    """Client c uses endpoint c mod n, of those that its group reads at; left out: there is one, and
    it is here."""
    name: str | UnsetType = UNSET
    """Of an endpoint; left out: its address."""
    is_replica: bool | UnsetType = UNSET


class TableDocument(EngineDocument, frozen=True, kw_only=True):
    name: str
    bulk: str
    """The statement that takes its rows."""
    form: str
    """``native`` or ``multi-row``."""
    types: tuple[str, ...] = ()
    """The neutral types of its columns."""


class LoadDocument(EngineDocument, frozen=True, kw_only=True):
    deployment: DeploymentDocument
    before: tuple[str, ...] = ()
    """Statements that each session runs first."""
    tables: tuple[TableDocument, ...]
    after: tuple[str, ...] = ()
    on_error: tuple[str, ...] = ()
    sessions: int = 1
    checksums: bool = False


class LoadProgress(msgspec.Struct, frozen=True):
    """How far a load is, at most ten times a second."""

    table: str
    """The current one; with several sessions, that of the slowest."""
    rows: int
    """Of all tables."""
    bytes_read: int
    """Of the source's input."""
    bytes_sent: int
    elapsed_s: float


class TableReport(msgspec.Struct, frozen=True):
    name: str
    rows: int
    affected: int
    bytes: int
    checksum: str | None
    """None: not asked for."""


class LoadReport(msgspec.Struct, frozen=True):
    tables: tuple[TableReport, ...]
    elapsed_ns: int
    bytes_sent: int
    sessions: int


Scalar = str | int | float | bool


class GeneratedColumn(EngineDocument, frozen=True, kw_only=True):
    name: str
    type: str
    value: str
    """An expression."""
    line: int
    """With the next: where it stands in the file."""
    column: int


class GeneratedTable(EngineDocument, frozen=True, kw_only=True):
    name: str
    instance: int | None
    rows: str
    """The expression of their number."""
    line: int
    """With the next: where it stands in the file."""
    column: int
    per: str | None
    """The table for each of whose rows it has that many."""
    is_loaded: bool | UnsetType = UNSET
    """False: other tables are made from it."""
    columns: tuple[GeneratedColumn, ...]


class GeneratedDocument(EngineDocument, frozen=True, kw_only=True):
    kind: str = "generated"
    seed: int
    file: str
    """In messages: where the expressions stand."""
    variables: dict[str, Scalar]
    tables: tuple[GeneratedTable, ...]
    part: tuple[int, int] | UnsetType = UNSET
    """Its number, from 1, of so many; left out: all rows."""


class ExportDocument(EngineDocument, frozen=True, kw_only=True):
    """How the rows of a table are written."""

    table: str
    form: str
    """``csv`` or ``sql``; of the latter all but the next."""
    header: bool | UnsetType = UNSET
    insert: str | UnsetType = UNSET
    """The beginning of the statement."""
    literal_style: str | UnsetType = UNSET
    has_braced_arrays: bool | UnsetType = UNSET
    rows_per_statement: int | UnsetType = UNSET


class TableMeasure(msgspec.Struct, frozen=True):
    name: str
    rows: int
    bytes: int
    """About so many."""
    checksum: str | None
    """None: not asked for."""


class Measure(msgspec.Struct, frozen=True):
    tables: tuple[TableMeasure, ...]


class PlaceInFleet(TypedDict):
    """Which of how many generators a process is."""

    generator: int
    of: int


class EngineRequest(TypedDict, total=False):
    """``call`` names a method of `assay.provision.engine.engine_process.Calls`; the other keys are
    its arguments. ``begin`` and ``rows`` answer a question of the process; the last three are said
    while clients work."""

    call: str
    module: str
    deployment: str
    document: str
    statement: str
    types: list[str] | None
    upto: int
    source: str
    tables: list[str]
    lease_s: float | None
    part_file: str
    """Where the process keeps its observation if the one that asked is lost."""
    part: PlaceInFleet
    run: int
    epoch: int
    """The drive that this belongs to. A process that knows one hears no other, and says which it is
    in each message."""
    begin: int
    """The instant at which clients begin, on the monotonic clock of the process, in nanoseconds."""
    rows: str
    alive: bool
    """The one that says it is there, and the lease begins anew."""
    clock: int
    """The clock is asked for: so often, with this time, one question behind the other."""
    stop: bool
    """Clients are to end."""


class FileMistake(TypedDict, total=False):
    """What is wrong with a file, and where."""

    message: str
    file: str
    line: int
    """From 1; 0: of the whole file."""
    column: int
    """From 1; 0: of the whole line."""
    hint: str | None


class ErrorFields(FileMistake, total=False):
    """Of `assay._engine.EngineError`."""

    kind: str
    error_class: str
    certainty: str
    code: str


class Message(TypedDict, total=False):
    """It has one key beside ``run`` and ``epoch``. ``value`` or ``error`` ends a call;
    ``ready`` and ``more`` are questions."""

    value: Any
    """What the call returned."""
    error: ErrorFields
    progress: str
    clock: ClockReading
    """What was asked for while clients work."""
    ready: bool
    more: str
    """The table whose next rows are asked for."""
    run: int
    epoch: int
    """Those that it was given, where it was given any."""


class ClockReading(TypedDict):
    """The answer to ``clock``."""

    monotonic_ns: int
    unix_ns: int


class Examined(TypedDict, total=False):
    """What a module is, where it can be imported: the first four."""

    version: str
    place: str
    connects: bool
    paramstyle: str | None
    exception: str
    words: str
    missing: str | None
    """The module that is not there."""
    is_import: bool
    """Whether the exception is an `ImportError`."""
    ended: int | str
    """The exit status with which the module ended the program."""


class TextRows(TypedDict):
    """The answer to one statement, in text form."""

    is_query: bool
    columns: list[str]
    rows: list[tuple[str | None, ...]]
    affected: int


Receive = Callable[[Message | None], None]
"""Is called in another thread with each message; with None when the program has ended."""


class Channel(Protocol):
    """To one program (`assay.provision.engine.engine_process`). What passes through it, passwords
    too, is kept nowhere. It is used for one drive and never opened again: what a program that was
    given up says later is heard by no one."""

    def send(self, request: EngineRequest) -> None:
        """Never raises: a program that has ended is noticed by its silence."""

    def look_after(self) -> None:
        """Has the end of the program received, also where it could not say it."""

    def why_it_died(self, during: str, process: str = "") -> SystemDied:
        """``during``: what it did; ``process``: its name, where there are several."""

    def kill(self) -> None:
        """Ends the program and whatever it started, whatever it does, and waits for that."""


class Fleet(Protocol):
    def machines(self) -> Sequence[str]:
        """Their names, as reports show them."""

    def start(self, machine: int, receive: Receive) -> Channel:
        """Starts a program on the machine at this place of `machines`."""

    def stop(self) -> None:
        """Ends every program, and leaves nothing on the machines."""
