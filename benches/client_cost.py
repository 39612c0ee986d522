"""What a transaction costs our client, against pgbench and sysbench on the same server and tables.

Each side runs for some seconds as a process of its own, in turn. Cost is the processor time of the
whole process (user and system, as the kernel tells of an ended child) for each transaction that
ended well; what a process takes for starting, connecting and preparing, measured by runs of a few
transactions, is taken off on both sides. Ours is what a user gets: scripts, histograms, intervals
and accounts, through `_engine.drive`. Durability is off, so that the client is a large part of all.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from assay.experiment import StorageChoice, SystemChoice
from assay.provision.deployment import Address
from assay.provision.stage import provision
from benches import _client_peers as peers
from benches._client_peers import SCALE, THREADS, Work

ROUNDS = 5
NULL = SystemChoice("null", options={"protocol": "postgresql"})
MANY = 10_000
OFFERED = 20_000.0
SECONDS = 5
START_RUNS = 3

_DRIVE = "import sys; from assay import _engine; print(_engine.drive(sys.stdin.read()))"
OURS = [sys.executable, "-c", _DRIVE]

_TPCB = files("assay") / "workloads" / "tpcb"
SELECT = (_TPCB / "select-only.sql").read_text()

POINT_SELECT = """
\\set id random(1, :rows)
select c from sbtest1 where id = :id;
"""

_DIGITS = ", '-', ".join
READ_WRITE = f"""
begin;
\\for point in 1..10
\\set id random(1, :rows)
select c from sbtest1 where id = :id;
\\endfor
\\set id random(1, :rows)
\\set last :id + 99
select c from sbtest1 where id between :id and :last;
\\set id random(1, :rows)
\\set last :id + 99
select sum(k) from sbtest1 where id between :id and :last;
\\set id random(1, :rows)
\\set last :id + 99
select c from sbtest1 where id between :id and :last order by c;
\\set id random(1, :rows)
\\set last :id + 99
select distinct c from sbtest1 where id between :id and :last order by c;
\\set id random(1, :rows)
update sbtest1 set k = k + 1 where id = :id;
\\set id random(1, :rows)
\\set c concat({_DIGITS(["digits(11)"] * 10)})
update sbtest1 set c = :c where id = :id;
\\set id random(1, :rows)
\\set k random(1, :rows)
\\set c concat({_DIGITS(["digits(11)"] * 10)})
\\set pad concat({_DIGITS(["digits(11)"] * 5)})
delete from sbtest1 where id = :id;
insert into sbtest1 (id, k, c, pad) values (:id, :k, :c, :pad);
commit;
"""
"""The statements of sysbench's oltp_read_write, in its order, with its numbers of each."""

SCALED = {"scale": SCALE}
ROWED = {"rows": peers.ROWS}


@dataclass(frozen=True)
class Case:
    """A line of the table: the work, how many clients do it, and what is aimed at."""

    work: Work
    clients: int
    most_cost: float
    """Ours ÷ the peer's."""
    least_throughput: float


@dataclass(frozen=True)
class System:
    """A server, and what is asked of it."""

    choice: SystemChoice
    program: str
    fill: Callable[[Address], None]
    command: Callable[[Address, Work, int, Sequence[str]], tuple[list[str], re.Pattern[str]]]
    few: Callable[[int], list[str]]
    """The peer's words for as few transactions as so many clients can do."""
    during: Callable[[int], list[str]]
    cases: tuple[Case, ...]


_SELECT_ONLY = Work("select only", "pgbench -S -M prepared", ("-S", "-Mprepared"), SELECT, SCALED)
_TPCB_LIKE = Work(
    "TPC-B-like",
    "pgbench -M prepared",
    ("-Mprepared",),
    (_TPCB / "tpcb-like.sql").read_text(),
    SCALED,
)
_POINT = Work(
    "point select",
    "sysbench oltp_point_select",
    ("oltp_point_select",),
    POINT_SELECT,
    ROWED,
)
_READ_WRITE = Work(
    "read/write",
    "sysbench oltp_read_write",
    ("oltp_read_write",),
    READ_WRITE,
    ROWED,
)

SYSTEMS = (
    System(
        SystemChoice(
            "postgresql",
            settings={"fsync": "off", "synchronous_commit": "off", "shared_buffers": "512MB"},
        ),
        "pgbench",
        peers.fill_postgresql,
        peers.pgbench_run,
        lambda _: ["-t1"],
        lambda seconds: [f"-T{seconds}"],
        (
            Case(_SELECT_ONLY, 8, 0.70, 1.05),
            Case(_SELECT_ONLY, 32, 0.70, 1.05),
            Case(_TPCB_LIKE, 8, 0.65, 1.05),
            Case(_TPCB_LIKE, 32, 0.65, 1.05),
        ),
    ),
    System(
        SystemChoice(
            "mariadb",
            settings={
                "innodb_flush_log_at_trx_commit": "0",
                "innodb_buffer_pool_size": "512M",
            },
        ),
        "sysbench",
        peers.fill_mariadb,
        peers.sysbench_run,
        lambda clients: [f"--events={clients}", "--time=0"],
        lambda seconds: [f"--time={seconds}"],
        (
            Case(_POINT, 8, 0.60, 1.05),
            Case(_POINT, 32, 0.60, 1.05),
            Case(_READ_WRITE, 8, 0.65, 1.0),
        ),
    ),
)


@dataclass(frozen=True)
class Run:
    """One process from its start to its end."""

    cpu_s: float
    elapsed_s: float
    transactions: int
    resident_peak_bytes: int
    told: dict[str, Any]
    """Our observation; empty for a peer."""


@dataclass(frozen=True)
class Cost:
    """One side in one round."""

    cost_us: float
    rate_per_s: float


def main(rounds: int = ROUNDS, seconds: int = SECONDS) -> None:
    """Prints one row for each case."""
    print(
        f"medians of {rounds} alternating rounds of {seconds} s; cost is processor time for each "
        "transaction; ratios are ours ÷ the peer's (least – most)\n"
    )
    print(
        "| work | clients | peer | ours, µs | peer, µs | cost | at most | "
        "| throughput | at least | |"
    )
    print("|---|---:|---|---:|---:|---:|---:|---|---:|---:|---|")
    for system in SYSTEMS:
        if peers.needed(system.program) is None:
            print(f"| {system.choice.name} | | {system.program} is not on this machine |")
            continue
        most = max(case.clients for case in system.cases)
        with provision(system.choice, StorageChoice(), connections=most) as deployment:
            system.fill(deployment.address)
            for case in system.cases:
                print(
                    row(case, *alternate(system, deployment.address, case, rounds, seconds)),
                    flush=True,
                )
    on_the_null_server(rounds, seconds)


def on_the_null_server(rounds: int, seconds: int) -> None:
    """Many clients, on a server that costs next to nothing: the second table."""
    print("\nthe select alone, on a null server of the same protocol (a process of its own)\n")
    print("| clients | loop | what | found (least – most) | at most | |")
    print("|---:|---|---|---:|---:|---|")
    with provision(NULL, StorageChoice(), connections=MANY) as deployment:
        closed = [on_null(deployment.address, 1000, {}, seconds) for _ in range(rounds)]
        told(1000, "closed", "cost, µs", [own_cost_us(run) for run in closed], 3)
        told(1000, "closed", "memory, MB", [run.resident_peak_bytes / 1e6 for run in closed], 50)
        arrival = {"kind": "poisson", "offered_rate_per_s": OFFERED}
        opened = [
            on_null(deployment.address, MANY, {"arrival": arrival}, seconds) for _ in range(rounds)
        ]
        loop = f"open, {OFFERED:.0f}/s"
        lags = [run.told["all_ok"]["schedule_lag"]["p99_ns"] / 1e6 for run in opened]
        lost = [run.told["outcomes"]["scheduled"] - run.transactions for run in opened]
        told(MANY, loop, "schedule lag p99, ms", lags, 1)
        told(MANY, loop, "transactions not ok", lost, 0)


def on_null(address: Address, clients: int, more: dict[str, Any], seconds: int) -> Run:
    """Ours on the null server."""
    drive = document(address, _SELECT_ONLY, clients, {"duration_s": seconds})
    return run_ours({**drive, "warm_up_s": 0.5, **more})


def own_cost_us(run: Run) -> float:
    """As our observation tells it: of the measurement alone, without the many connections."""
    cost = run.told["client_cost"]
    return float(cost["user_ns"] + cost["system_ns"]) / 1e3 / run.transactions


def told(clients: int, loop: str, what: str, found: Sequence[float], most: float) -> None:
    """One row of the second table."""
    is_met = statistics.median(found) <= most
    print(
        f"| {clients} | {loop} | {what} | {spread(found)} | {most} | {verdict(is_met)} |",
        flush=True,
    )


def alternate(
    system: System, address: Address, case: Case, rounds: int, seconds: int
) -> tuple[list[Cost], list[Cost]]:
    """Ours and the peer's, in turn; which goes first changes from round to round."""

    def ours(stop: dict[str, int]) -> Run:
        return run_ours(document(address, case.work, case.clients, stop))

    def theirs(stop: list[str]) -> Run:
        return run(*system.command(address, case.work, case.clients, stop))

    our_start_s = min(ours({"transactions": 1}).cpu_s for _ in range(START_RUNS))
    few = system.few(case.clients)
    their_start_s = min(theirs(few).cpu_s for _ in range(START_RUNS))
    costs: tuple[list[Cost], list[Cost]] = ([], [])
    theirs(system.during(1))  # the server's memory is warm for whoever comes first
    for number in range(rounds):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            if which == 0:
                done, start_s = ours({"duration_s": seconds}), our_start_s
            else:
                done, start_s = theirs(system.during(seconds)), their_start_s
            costs[which].append(
                Cost((done.cpu_s - start_s) * 1e6 / done.transactions, done.transactions / seconds)
            )
    return costs


def row(case: Case, ours: Sequence[Cost], theirs: Sequence[Cost]) -> str:
    """The two ratios, each against what was aimed at."""
    cost = [one.cost_us / other.cost_us for one, other in zip(ours, theirs, strict=True)]
    rate = [one.rate_per_s / other.rate_per_s for one, other in zip(ours, theirs, strict=True)]
    is_cheap = statistics.median(cost) <= case.most_cost
    is_fast = statistics.median(rate) >= case.least_throughput
    return (
        f"| {case.work.name} | {case.clients} | {case.work.peer} "
        f"| {statistics.median(one.cost_us for one in ours):.2f} "
        f"| {statistics.median(one.cost_us for one in theirs):.2f} "
        f"| {spread(cost)} | {case.most_cost:.2f} | {verdict(is_cheap)} "
        f"| {spread(rate)} | {case.least_throughput:.2f} | {verdict(is_fast)} |"
    )


def spread(values: Sequence[float]) -> str:
    """The median and its range."""
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def verdict(is_met: bool) -> str:
    """One word."""
    return "met" if is_met else "missed"


def document(address: Address, work: Work, clients: int, stop: dict[str, int]) -> dict[str, Any]:
    """A drive document with one script, as `assay run SCRIPT` makes it."""
    return {
        "site": address.for_engine(),
        "scripts": [{"name": work.name, "path": "bench.sql", "text": work.script}],
        "variables": work.variables,
        "order": "mix",
        "clients": clients,
        "threads": THREADS,
        "protocol": "prepared",
        "stop": stop,
        "seed": 1,
    }


def run_ours(drive: dict[str, Any]) -> Run:
    """One run of ours, in a process of its own."""
    done = run(OURS, None, json.dumps(drive))
    outcomes = done.told["outcomes"]
    if outcomes["ok"] == 0:
        raise SystemExit(f"error: no transaction ended well: {done.told['errors']}")
    return Run(done.cpu_s, done.elapsed_s, outcomes["ok"], done.resident_peak_bytes, done.told)


def run(command: Sequence[str], counts: re.Pattern[str] | None, given: str = "") -> Run:
    """One process; `counts` finds its transactions in what it prints, else it prints JSON."""
    with tempfile.TemporaryFile("w+") as told, tempfile.TemporaryFile("w+") as asked:
        asked.write(given)
        asked.seek(0)
        began = time.monotonic()
        process = subprocess.Popen(command, stdin=asked, stdout=told, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        elapsed_s = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        text = told.read()
    found = counts.search(text) if counts is not None else None
    if process.returncode or (counts is not None and found is None):
        raise SystemExit(f"error: {command[0]} failed\n\n{text}")
    return Run(
        used.ru_utime + used.ru_stime,
        elapsed_s,
        int(found.group(1)) if found is not None else 0,
        # Linux tells it in KiB.
        used.ru_maxrss * 1024,
        json.loads(text) if counts is None else {},
    )
