"""How the clients of a test are driven, as a frozen value, and the words that its fields take."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypedDict, cast

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


class DrivingChanges(TypedDict, total=False):
    """Fields of `Driving` that are set somewhere, in place of what was set before."""

    passes: int | str | None
    transactions: int | str | None
    queue: int | str | None
    duration_s: float | str | None
    ramp_up_s: float | str
    warm_up_s: float | str
    drain_s: float | str
    statement_limit_s: float | str | None
    arrival: str
    offered_rate_per_s: Rate | None
    think_time: str | None
    keying_time: str | None
    latency_limit_s: float | str | None
    retries: int | str
    retry_classes: tuple[str, ...]
    isolation: str | Mapping[str, str]
    connection: str
    read: str
    reconnect_timeout_s: float | None
    per_statement: bool
    allow_shell: bool
    log_sample: float | None
    on_lost: OnLost
    fleet: str


@dataclass(frozen=True)
class Driving:
    """How the clients of a test are driven: when they begin and end, what they wait for, and how
    they handle errors.

    A workload may name a parameter in place of a number or a pause; `assay.plan` inserts its value.
    """

    passes: int | str | None = None
    """With the next three: the limit that is reached first ends a client's work. Passes and
    transactions are counted per client."""
    transactions: int | str | None = None
    queue: int | str | None = None
    """The number of transactions in a list that all clients share; random values depend on a
    transaction's number."""
    duration_s: float | str | None = None
    """Of the measurement, after ramp-up and warm-up."""
    ramp_up_s: float | str = 0.0
    """Clients start evenly spread over it."""
    warm_up_s: float | str = 0.0
    """All clients work, and nothing is measured."""
    drain_s: float | str = 10.0
    """How long to wait for transactions in flight at the end of the measurement; then they are
    cancelled, and their outcome is ``unknown``."""
    statement_limit_s: float | str | None = None
    """A statement that takes longer is cancelled, and its transaction fails; the client goes on."""
    arrival: str = "closed"
    offered_rate_per_s: Rate | None = None
    """Of all clients together, in an open loop."""
    think_time: str | None = None
    """A pause after each transaction, outside its latency: ``exponential:1s``."""
    keying_time: str | None = None
    """A pause before each transaction, in the same form."""
    latency_limit_s: float | str | None = None
    """Transactions that take longer are late; in an open loop, those that cannot begin within it
    are skipped."""
    retries: int | str = 0
    """How often a transaction that failed with one of the ``retry_classes`` is retried."""
    retry_classes: tuple[str, ...] = ("deadlock", "serialization")
    isolation: str | Mapping[str, str] = ""
    """Of each session; empty: the system's own default. System → its level, where each has its own:
    `of_system` leaves that of one."""
    connection: str = "kept"
    """``per transaction``: a new session for each; opening it counts in the latency."""
    read: str = READ_PRIMARY
    """One of `READS`, or ``SCRIPT=WORD,SCRIPT=WORD`` (`read_of`); the clients of a server that
    stands alone all use it."""
    reconnect_timeout_s: float | None = None
    """How long a client that lost its connection tries to reconnect; None: it ends."""
    per_statement: bool = False
    """Whether each statement is timed as well."""
    allow_shell: bool = False
    """Whether scripts may run programs on this machine; a workload cannot set it."""
    log_sample: float | None = None
    """The share of the transactions that are written to a file one by one, which takes CPU time of
    the client; None: none are. A workload cannot set it."""
    on_lost: OnLost = END
    """What the other load generators do where one is lost. A workload cannot set it."""
    fleet: str = ""
    """Where the load generators are (``ray://HOST:PORT``); empty: on this machine. A workload
    cannot set it."""

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

    def changed(self, changes: DrivingChanges) -> Driving:
        """A copy with ``changes``. A limit in them replaces all limits here; an offered rate alone
        turns a closed loop into constant arrival."""
        given = without_other_limits(changes)
        if given.get("offered_rate_per_s") and not self.is_open:
            given.setdefault("arrival", "constant")
        if given.get("arrival") == "closed":
            given.setdefault("offered_rate_per_s", None)
        return replace(self, **given)

    def of_system(self, name: str) -> Driving:
        """As the clients of that system are driven."""
        if isinstance(self.isolation, str):
            return self
        return replace(self, isolation=self.isolation.get(name, ""))

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
            for name, level in vars(self).items()
            if level != getattr(plain, name) and level is not None
        }


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
        return changes.copy()
    return cast(DrivingChanges, {**limits, **changes})


def without(changes: DrivingChanges, names: Collection[str]) -> DrivingChanges:
    """Those with other names."""
    left = {name: level for name, level in changes.items() if name not in names}
    return cast(DrivingChanges, left)


def _level(level: object) -> str:
    if isinstance(level, tuple):
        return ", ".join(map(str, level))
    if isinstance(level, Mapping):
        return ", ".join(f"{name} {one}" for name, one in level.items())
    if isinstance(level, bool):
        return "yes" if level else "no"
    return f"{level:.12g}" if isinstance(level, float) else str(level)
