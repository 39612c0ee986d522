"""What is asked, as frozen values: systems, storages, how clients are driven, and the question that
varies them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay import server_url

Scalar = str | int | float | bool


@dataclass(frozen=True)
class SystemChoice:
    """A system under test as asked for: a name of the registry, or a URL of a server that runs.

    ``settings`` are the server's own settings (``shared_buffers``); ``options`` are ours and
    declared by the system (``engine`` where tables can live in several storage engines).
    """

    name: str
    url: str | None = field(default=None, repr=False)
    """May hold a password; see `url_without_password`."""
    options: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    url_origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Where each value of the server's address comes from (``URL``, a variable of the environment,
    a file), by its name; no part of what is compared."""

    @property
    def label(self) -> str:
        """Distinguishes choices of the same system in a report: ``name option=level``."""
        words = [
            f"{key}={value}" for key, value in sorted({**self.options, **self.settings}.items())
        ]
        place = [f"at {server_url.place(self.url)}"] if self.url else []
        return " ".join([self.name, *place, *words])

    @property
    def url_without_password(self) -> str | None:
        """The URL as it may be printed, recorded and fingerprinted."""
        return None if self.url is None else server_url.without_password(self.url)


@dataclass(frozen=True)
class StorageChoice:
    """Where data directories are made: ``kind`` is a name of the registry."""

    name: str = "here"
    kind: str = "here"
    directory: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


PROTOCOLS = ("simple", "extended", "prepared")
"""How statements travel, by pgbench's names: as text with its values pasted in; compiled, bound and
executed each time; prepared once for each client."""

ARRIVALS = ("closed", "constant", "poisson")
"""Closed: a client's next transaction waits for its last. The others are open loops: transactions
come by a schedule at an offered rate, regardless of those before."""
ISOLATION_LEVELS = ("read uncommitted", "read committed", "repeatable read", "serializable")
CONNECTIONS = ("kept", "per transaction")
RECONNECT_PATIENCE_S = 60.0
STOPS = ("passes", "transactions", "queue", "duration_s")


@dataclass(frozen=True)
class Driving:
    """How the clients of a test are driven: when they begin and end, what they wait for, and what
    they do when something goes wrong.

    A workload may write the name of a parameter for a number or a pause; `assay.plan` puts its
    value there.
    """

    passes: int | str | None = None
    """With the next three: whichever comes first ends a client's work. Passes and transactions are
    each client's own."""
    transactions: int | str | None = None
    queue: int | str | None = None
    """So many numbered transactions from one list that all clients share; random values follow a
    transaction's number."""
    duration_s: float | str | None = None
    """Of the measurement, behind ramp-up and warm-up."""
    ramp_up_s: float | str = 0.0
    """Clients begin evenly spread over it."""
    warm_up_s: float | str = 0.0
    """All clients work, and nothing is measured."""
    drain_s: float | str = 10.0
    """How long transactions that are under way at the end of the measurement are waited for; then
    they are cancelled, and their outcome is ``unknown``."""
    arrival: str = "closed"
    offered_rate_per_s: float | str | None = None
    """Of all clients together, in an open loop."""
    think_time: str | None = None
    """A pause after each transaction, outside its latency: ``exponential:1s``."""
    keying_time: str | None = None
    """The same before each."""
    latency_limit_s: float | str | None = None
    """What takes longer is late; in an open loop, what could not begin within it is skipped."""
    retries: int | str = 0
    """How often a transaction is tried again that failed with one of the ``retry_classes``."""
    retry_classes: tuple[str, ...] = ("deadlock", "serialization")
    isolation: str = ""
    """Of each session; empty: the system's own default."""
    connection: str = "kept"
    """``per transaction``: a new session for each, opened within its latency."""
    reconnect_patience_s: float | None = None
    """How long a client that lost its connection tries to come back; None: it has ended."""
    per_statement: bool = False
    """Whether each statement is timed too."""
    allow_shell: bool = False
    """Whether scripts may run programs of this machine; a workload cannot say so."""

    @property
    def is_open(self) -> bool:
        return self.arrival != "closed"

    @property
    def stop(self) -> dict[str, int | float]:
        """The limits that are set, in numbers, as the engine takes them."""
        limits = {name: getattr(self, name) for name in STOPS}
        return {name: one for name, one in limits.items() if isinstance(one, int | float)}

    @property
    def planned_s(self) -> float | None:
        """Seconds from the first client's beginning to the end; None where counts end it."""
        if not isinstance(self.duration_s, int | float):
            return None
        return float(self.ramp_up_s) + float(self.warm_up_s) + self.duration_s

    def changed(self, said: Mapping[str, Any]) -> Driving:
        """With what was said elsewhere in its place. A limit said there takes the place of all
        limits here; an offered rate alone makes a constant arrival of a closed loop."""
        given = dict(said)
        if any(given.get(name) is not None for name in STOPS):
            given = {**dict.fromkeys(STOPS), **given}
        if given.get("offered_rate_per_s") and not self.is_open:
            given.setdefault("arrival", "constant")
        if given.get("arrival") == "closed":
            given.setdefault("offered_rate_per_s", None)
        return replace(self, **given)

    def described(self) -> dict[str, str]:
        """What differs from clients that begin at once, wait for nothing and keep their session:
        name → level, in the words of a workload file."""
        plain, found = Driving(), {}
        for name, level in vars(self).items():
            if level != getattr(plain, name) and level is not None:
                found[name] = level if isinstance(level, str) else _level(level)
        return found


def _level(level: object) -> str:
    if isinstance(level, tuple):
        return ", ".join(map(str, level))
    if isinstance(level, bool):
        return "yes" if level else "no"
    return f"{level:g}" if isinstance(level, float) else str(level)


@dataclass(frozen=True)
class ScriptFile:
    """A script named by its file, and its share of a mix."""

    path: str
    weight: int = 1


@dataclass(frozen=True)
class Experiment:
    """A question: what is varied, what is measured, and how often."""

    workload: str
    tests: tuple[str, ...]
    systems: tuple[SystemChoice, ...]
    storages: tuple[StorageChoice, ...] = (StorageChoice(),)
    clients: tuple[int, ...] = ()
    """Levels of the client count; empty: each test's own default."""
    group_clients: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Levels of the client count of each group of clients that is named."""
    parameters: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Levels of each workload parameter that was given (``copies``, ``replicas``)."""
    repetitions: int = 1
    order: str = "interleaved"
    seed: int = 1
    threads: int = 0
    """Client threads, at most one per client; 0: one, more while they are busy, up to one per
    processor (open loop: one per processor)."""
    protocol: str | None = None
    """One of `PROTOCOLS`; None: the test's own default."""
    input_paths: tuple[str, ...] = ()
    """Files or folders that rows are read from (``--input``); empty: the workload's default."""
    encoding: str = "utf-8"
    keep_going: bool = False
    feed: str | None = None
    """A plain file whose statements clients send in place of the test's scripts."""
    scripts: tuple[ScriptFile, ...] = ()
    """Script files that clients run in place of the test's own. An ad hoc script has no other test
    and no tables; then ``workload`` is only what it is called."""
    is_ad_hoc: bool = False
    driving: Mapping[str, Any] = field(default_factory=dict)
    """What is said of `Driving` here, and wins over the test: field → level."""
    offered_rates_per_s: tuple[float, ...] = ()
    """Levels of the offered rate; empty: the test's own."""
    title: str = ""
    reproduces: str = ""
