"""How the clients of a test are driven, as a frozen value: each setting declared once, with all
that is known of it, and the words that it takes."""

# Annotations are values here, not text: `SETTINGS` is made of them.

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, get_args

from msgspec import Struct, structs

from assay.contracts.setting import (
    IN_NO_FILE,
    Choice,
    Flag,
    Heading,
    Levels,
    NumberOf,
    Pause,
    Route,
    Setting,
    Text,
)
from assay.text import quantities, rates
from assay.text.rates import Rate

ARRIVALS = ("closed", "constant", "poisson")
"""Closed loop: a client starts its next transaction after its last has ended. The others are open
loops: transactions start at an offered rate, regardless of completions."""
ISOLATION_LEVELS = ("read uncommitted", "read committed", "repeatable read", "serializable")
DEFERRED = "deferred"
"""How transactions arrive that a script of other clients queues."""
CONNECTIONS = ("kept", "per transaction")
AS_IS, WARM, COLD, COLD_MACHINE = "as-is", "warm", "cold", "cold-machine"
READ_PRIMARY, READ_REPLICA, READ_ANY = "primary", "replica", "any"
READS = (READ_PRIMARY, READ_REPLICA, READ_ANY)
"""Which of several servers clients use: those that take writes, those that repeat them, or all;
each client one, in turn."""
CACHES = (AS_IS, WARM, COLD, COLD_MACHINE)
"""State of the page cache and of the system's buffer when a measurement begins. As-is: as the load
or the run before left it. Warm: the files of the data were read and, where the test changes no
data, the test was run once unmeasured. Cold: the system was stopped, its files left the page cache,
and it was started again. Cold-machine: all else left the machine's page cache as well."""
COLD_CACHES = (COLD, COLD_MACHINE)
"""With these a measurement begins with the first transaction: ramp-up and warm-up are left out."""
ENGINE, NATIVE = "engine", "native"
CLIENT_PROGRAMS = (ENGINE, NATIVE)
"""What the clients of a test are. Engine: Assay's own, in its engine. Native: a process of the
system's own client program for each client, with the test's scripts as a file."""
END: Final = "end"
CONTINUE: Final = "continue"
OnLost = Literal["end", "continue"]
ON_LOST: Final[tuple[OnLost, ...]] = (END, CONTINUE)
"""What the other load generators do where one is lost. End: all clients, and the run is invalid.
Continue: they work on, and nothing takes the lost clients' place."""
RECONNECT_TIMEOUT_S = 60.0
STOPS = ("passes", "transactions", "queue", "duration_s")


RETRY_CLASSES = (
    "constraint", "data", "deadlock", "other", "permission", "resources", "serialization",
    "syntax", "timeout", "unknown object",
)  # fmt: skip
DRIVE = "drive."
"""The table of an experiment file that says how clients are driven."""


class DrivingChanges(dict[str, Any]):
    """Fields of `Driving` that are set somewhere, in place of what was set before: name → value."""


class Driving(Struct, frozen=True):
    """How the clients of a test are driven: when they begin and end, what they wait for, and how
    they handle errors. Options, keys of files, arguments in Python, their help and their checks are
    made of what is said at each field; so are keys of the engine's document.

    A workload may name a parameter in place of a number or a pause; `assay.plan` inserts its value.
    """

    passes: Annotated[int | str | None, Setting(
        NumberOf(quantities.PASSES), None,
        "How often each client runs all scripts in their order; the end of the measurement.",
        in_groups=True,
    )] = None  # fmt: skip
    """With the next three: the limit that is reached first ends a client's work. Passes and
    transactions are counted per client."""
    transactions: Annotated[int | str | None, Setting(
        NumberOf(quantities.TRANSACTIONS), Heading.CLIENTS,
        "Transactions per client; with --duration, whichever ends first.",
        metavar="N", short="-t", applies="scripts", in_groups=True, after="duration_s",
    )] = None  # fmt: skip
    queue: Annotated[int | str | None, Setting(
        NumberOf(quantities.TRANSACTIONS), None,
        "Transactions that all clients share: whichever client is free takes the next one.",
        in_groups=True,
    )] = None  # fmt: skip
    """The number of transactions in a list that all clients share; random values depend on a
    transaction's number."""
    duration_s: Annotated[float | str | None, Setting(
        NumberOf(quantities.DURATION_S), Heading.CLIENTS,
        "How long to measure: seconds, or with a unit (500ms, 5s, 2min, 1h), as in all "
        "options of time. [default: the test's; 10 for a script]",
        metavar="S", short="-T", applies="a time", after="on_lost",
    )] = None  # fmt: skip
    """Of the measurement, after ramp-up and warm-up."""
    ramp_up_s: Annotated[float | str, Setting(
        NumberOf(quantities.WAIT_S), Heading.CLIENTS,
        "Seconds over which clients start one after another, before the warm-up. [default: "
        "the test's]",
        metavar="S", applies="work before", after="warm_up_s",
    )] = 0.0  # fmt: skip
    """Clients start evenly spread over it."""
    warm_up_s: Annotated[float | str, Setting(
        NumberOf(quantities.WAIT_S), Heading.CLIENTS,
        "Seconds of work before the measurement; none with --cache cold. [default: the "
        "test's]",
        metavar="S", applies="work before", after="transactions",
    )] = 0.0  # fmt: skip
    """All clients work, and nothing is measured."""
    drain_s: Annotated[float | str, Setting(
        NumberOf(quantities.WAIT_S), Heading.CLIENTS,
        "Seconds to wait at the end for open transactions, which are then cancelled. "
        "[default: the test's; 10]",
        metavar="S", applies="scripts", after="ramp_up_s",
    )] = 10.0  # fmt: skip
    """How long to wait for transactions in flight at the end of the measurement; then they are
    cancelled, and their outcome is ``unknown``."""
    statement_limit_s: Annotated[float | str | None, Setting(
        NumberOf(quantities.STATEMENT_LIMIT_S), Heading.CLIENTS,
        "Time after which a statement is cancelled: its transaction then fails, and its "
        "client goes on. [default: the test's; 0: none]",
        "Seconds after which a statement is cancelled: its transaction then fails, and its "
        "client goes on; 0: none.",
        metavar="S", applies="scripts",
    )] = None  # fmt: skip
    """A statement that takes longer is cancelled, and its transaction fails; the client goes on."""
    arrival: Annotated[str, Setting(
        Choice(ARRIVALS), Heading.ARRIVALS,
        "closed: a client starts when its last transaction has ended; constant, poisson: at "
        "the offered rate. [default: the test's]",
        applies="scripts", in_groups=True,
    )] = "closed"  # fmt: skip
    offered_rate_per_s: Annotated[Rate | None, Setting(
        Levels(quantities.OFFERED_RATE_PER_S, example=rates.example), Heading.ARRIVALS,
        "Transactions per second of all clients, each rate a cell; implies --arrival "
        "constant. In time: 0s:200,60s:800; a ramp: 60s:200..800,90s:800.",
        metavar="R,…", short="-R", is_of_tests=True, show=rates.shown, applies="scripts",
        in_groups=True, key_after="latency_limit_s",
    )] = None  # fmt: skip
    """Of all clients together, in an open loop."""
    think_time: Annotated[str | None, Setting(
        Pause(), Heading.ARRIVALS,
        "Pause after each transaction: a distribution such as exponential:1s, or none. "
        "[default: the test's]",
        metavar="D", applies="scripts", in_groups=True, is_of_engine=True, after="goal_trials",
    )] = None  # fmt: skip
    """A pause after each transaction, outside its latency: ``exponential:1s``."""
    keying_time: Annotated[str | None, Setting(
        Pause(), Heading.ARRIVALS,
        "Pause before each transaction, written like --think-time.",
        metavar="D", applies="scripts", in_groups=True, is_of_engine=True,
    )] = None  # fmt: skip
    """A pause before each transaction, in the same form."""
    latency_limit_s: Annotated[float | str | None, Setting(
        NumberOf(quantities.LATENCY_LIMIT_S, of_option=quantities.LATENCY_LIMIT_WITH_UNIT_S),
        Heading.ARRIVALS,
        "After how long a transaction is late, or skipped if it could not start: 20ms. "
        "[default: the test's; 0: none]",
        "Seconds after which a transaction is late, or skipped if it could not start; 0: "
        "none.",
        metavar="TIME", short="-L", applies="scripts", in_groups=True, is_of_engine=True,
        after="offered_rate_per_s",
    )] = None  # fmt: skip
    """Transactions that take longer are late; in an open loop, those that cannot begin within it
    are skipped."""
    retries: Annotated[int | str, Setting(
        NumberOf(quantities.RETRIES), Heading.SESSIONS,
        "Retries after a deadlock or a serialization failure. [default: the test's]",
        metavar="N", applies="scripts", in_groups=True, after="reconnect",
    )] = 0  # fmt: skip
    """How often a transaction that failed with one of the ``retry_classes`` is retried."""
    retry_classes: Annotated[tuple[str, ...], Setting(
        Choice(RETRY_CLASSES), None,
        "Classes of errors after which a transaction is tried again.",
        key=IN_NO_FILE, in_groups=True,
    )] = ("deadlock", "serialization")  # fmt: skip
    isolation: Annotated[str | Mapping[str, str], Setting(
        Choice(ISOLATION_LEVELS), Heading.SESSIONS,
        f"Isolation level: {', '.join(ISOLATION_LEVELS)}. [default: the test's]",
        metavar="LEVEL", applies="scripts", after="protocol",
    )] = ""  # fmt: skip
    """Of each session; empty: the system's own default. System → its level, where each has its own:
    `of_system` leaves that of one."""
    connection: Annotated[str, Setting(
        Choice(CONNECTIONS), Heading.SESSIONS,
        "kept: one session per client; per transaction: a new one each time. [default: the "
        "test's]",
        applies="scripts",
    )] = "kept"  # fmt: skip
    """``per transaction``: a new session for each; opening it counts in the latency."""
    read: Annotated[str, Setting(
        Route(READS), Heading.SESSIONS,
        "Of several servers in a URL (//a,b,c/), where scripts go: primary, replica, any; one"
        " script: SCRIPT=replica. [default: the test's]",
        metavar="WHERE", applies="scripts",
    )] = READ_PRIMARY  # fmt: skip
    """One of `READS`, or ``SCRIPT=WORD,SCRIPT=WORD`` (`read_of`); the clients of a server that
    stands alone all use it."""
    reconnect_timeout_s: Annotated[float | None, Setting(
        Flag(), Heading.SESSIONS,
        "Try for a minute to reconnect clients that lose their connection.",
        name="reconnect", read=lambda _: RECONNECT_TIMEOUT_S, applies="scripts",
        key_after="keying_time",
    )] = None  # fmt: skip
    """How long a client that lost its connection tries to reconnect; None: it ends."""
    per_statement: Annotated[bool, Setting(
        Flag(), Heading.SESSIONS,
        "Time each statement as well.",
        applies="scripts", after="retries",
    )] = False  # fmt: skip
    """Whether each statement is timed as well."""
    allow_shell: Annotated[bool, Setting(
        Flag(), Heading.SESSIONS,
        r"Let scripts run programs on this machine (\shell, \setshell).",
        applies="scripts", workloads_say=False,
    )] = False  # fmt: skip
    """Whether scripts may run programs on this machine."""
    log_sample: Annotated[float | None, Setting(
        NumberOf(quantities.LOG_SAMPLE), Heading.OUTPUT,
        "Share of the transactions that --log writes, chosen by the seed. [default: 1]",
        metavar="SHARE", key=IN_NO_FILE, workloads_say=False, after="log",
    )] = None  # fmt: skip
    """The share of the transactions that are written to a file one by one, which takes CPU time of
    the client; None: none are."""
    on_lost: Annotated[OnLost, Setting(
        Choice(ON_LOST), Heading.CLIENTS,
        "What the others do where a load generator is lost: end (the run is invalid), or "
        "continue (unreliable). [default: end]",
        applies="generators", workloads_say=False, after="fleet",
    )] = END  # fmt: skip
    """What the other load generators do where one is lost."""
    fleet: Annotated[str, Setting(
        Text(), Heading.CLIENTS,
        "Start each load generator on another machine of this Ray cluster, of which this "
        "machine is one. [default: on this machine]",
        metavar="ray://HOST:PORT", key=IN_NO_FILE, applies="generators", workloads_say=False,
        after="generators",
    )] = ""  # fmt: skip
    """Where the load generators are (``ray://HOST:PORT``); empty: on this machine."""

    @property
    def is_open(self) -> bool:
        return self.arrival != "closed"

    @property
    def has_count_of_each_client(self) -> bool:
        """Whether each client ends after a count of its own."""
        return not (self.passes is None and self.transactions is None)

    @property
    def stop(self) -> dict[str, int | float]:
        """The limits that are set, as numbers for the engine."""
        limits = {name: getattr(self, name) for name in STOPS}
        return {name: limit for name, limit in limits.items() if isinstance(limit, int | float)}

    @property
    def planned_s(self) -> float | None:
        """Seconds from the first client's beginning to the end; None where counts end it."""
        if not isinstance(self.duration_s, int | float):
            return None
        return float(self.ramp_up_s) + float(self.warm_up_s) + self.duration_s

    def changed(self, changes: DrivingChanges) -> "Driving":
        """A copy with ``changes``. A limit in them replaces all limits here; an offered rate alone
        turns a closed loop into constant arrival."""
        given = without_other_limits(changes)
        if given.get("offered_rate_per_s") and not self.is_open:
            given.setdefault("arrival", "constant")
        if given.get("arrival") == "closed":
            given.setdefault("offered_rate_per_s", None)
        return structs.replace(self, **given)

    def of_system(self, name: str) -> "Driving":
        """As the clients of that system are driven."""
        if isinstance(self.isolation, str):
            return self
        return structs.replace(self, isolation=self.isolation.get(name, ""))

    @property
    def isolation_level(self) -> str:
        """Of one system (`of_system`); empty: its own default."""
        assert isinstance(self.isolation, str), "a plan has one level for each system"
        return self.isolation

    def described(self) -> dict[str, str]:
        """`not_default` in words, as in a workload file."""
        return {name: _level(level) for name, level in self.not_default.items()}

    @property
    def not_default(self) -> dict[str, str | int | float | bool | Sequence[str]]:
        """The settings that are not at their defaults: name → level. Of a step whose systems have
        isolation levels of their own, that is a mapping (see `of_system`)."""
        plain = Driving()
        return {
            name: level
            for name in self.__struct_fields__
            for level in [getattr(self, name)]
            if level != getattr(plain, name) and level is not None
        }


def _settings() -> Mapping[str, Setting]:
    found: dict[str, Setting] = {}
    before = ""
    for field, hint in Driving.__annotations__.items():
        declared: Setting = get_args(hint)[1]
        setting = structs.replace(
            declared,
            name=declared.name or field,
            driving_field=field,
            key=DRIVE if declared.key == "" else declared.key,
            after=declared.after or before,
        )
        found[field] = setting
        before = setting.name if setting.heading else before
    return found


def _in_files() -> Mapping[str, Setting]:
    names = [*SETTINGS]
    places = {name: (one.quantity is None, names.index(name)) for name, one in SETTINGS.items()}

    def place(name: str) -> tuple[int, ...]:
        after = SETTINGS[name].key_after
        return (*places[after], 1) if after else places[name]

    return {
        name: SETTINGS[name] for name in sorted(names, key=place) if SETTINGS[name].path is not None
    }


SETTINGS: Final = _settings()
"""By the fields of `Driving`."""
NUMBERS: Final[Mapping[str, quantities.Quantity]] = {
    field: quantity
    for field, setting in SETTINGS.items()
    if setting.workloads_say and (quantity := setting.quantity) is not None
}
"""What each number can be, of those that workloads say."""
OF_ENGINE: Final = {name: one for name, one in SETTINGS.items() if one.is_of_engine}
PAUSES: Final = tuple(name for name, one in SETTINGS.items() if isinstance(one.kind, Pause))
OF_FILES: Final = _in_files()
"""Those that have a key, in the order in which files are read and described."""
OF_GROUPS: Final = tuple(name for name, one in SETTINGS.items() if one.in_groups)
"""Those that each group of clients sets; the others apply to the whole step."""


def reads_of_scripts(read: str) -> dict[str, str]:
    """Of `Driving.read`: script → its word of `READS`; empty: there is one for all."""
    return dict(part.split("=", 1) for part in read.split(",")) if "=" in read else {}


def read_of(read: str, script: str) -> str:
    """Of `Driving.read`: where clients send this script, one of `READS`."""
    by_script = reads_of_scripts(read)
    return by_script.get(script, READ_PRIMARY) if by_script else read


def without_other_limits(changes: DrivingChanges, names: Iterable[str] = STOPS) -> DrivingChanges:
    """With None for those of the limits that are not in them, where one is."""
    limits = {name: changes.get(name) for name in names}
    if all(limit is None for limit in limits.values()):
        return DrivingChanges(changes)
    return DrivingChanges({**limits, **changes})


def without(changes: DrivingChanges, names: Collection[str]) -> DrivingChanges:
    """Those with other names."""
    left = {name: level for name, level in changes.items() if name not in names}
    return DrivingChanges(left)


def _level(level: object) -> str:
    if isinstance(level, tuple):
        return ", ".join(map(str, level))
    if isinstance(level, Mapping):
        return ", ".join(f"{name} {one}" for name, one in level.items())
    if isinstance(level, bool):
        return "yes" if level else "no"
    return f"{level:.12g}" if isinstance(level, float) else str(level)
