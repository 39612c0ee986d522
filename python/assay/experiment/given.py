"""The arguments of a command line that describe an experiment, as they were given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """The arguments of the command line; None or empty: not given."""

    target: str
    """``WORKLOAD``, ``WORKLOAD.TEST``, a workload folder, a script (``*.sql``,
    ``*.cql``, ``*.json``), an experiment file
    ``*.toml``; or nothing, for ``script`` alone."""
    on: tuple[str, ...] = ()
    storage: tuple[str, ...] = ()
    erase: bool = False
    """Whether what is on the devices of the storages may be destroyed."""
    price: tuple[str, ...] = ()
    required_rate_per_s: float | None = None
    set: tuple[str, ...] = ()
    scale: int | None = None
    """``--set scale=N``."""
    clients: str | None = None
    repetitions: int | None = None
    precision: float | None = None
    """A share."""
    budget_s: float | None = None
    order: str | None = None
    seed: int | None = None
    threads: int | None = None
    memory: str | None = None
    cpus: str | None = None
    rtt: str | None = None
    protocol: str | None = None
    input: tuple[str, ...] = ()
    encoding: str | None = None
    keep_going: bool = False
    feed: str | None = None
    script: tuple[str, ...] = ()
    duration_s: float | None = None
    transactions: int | None = None
    warm_up_s: float | None = None
    ramp_up_s: float | None = None
    drain_s: float | None = None
    arrival: str | None = None
    offered_rate_per_s: str | None = None
    think_time: str | None = None
    keying_time: str | None = None
    latency_limit_s: float | None = None
    retries: int | None = None
    reconnect: bool = False
    isolation: str | None = None
    connection: str | None = None
    per_statement: bool = False
    allow_shell: bool = False
    log: str | None = None
    log_sample: float | None = None
    cache: str | None = None
    client_program: str | None = None
    quick: bool = False
    only: tuple[str, ...] = ()
