"""The CPU time of our client per transaction, compared with pgbench, sysbench and the floor on one
server.

The floor (`benches/floor`) is a client with the same system calls and nothing else: no script, no
checks, no histograms, and one thread, its cheapest number. It shows which part of the cost is the
kernel's and the server's.

Each side runs for some seconds as a process of its own, alternately. Cost is the CPU time of the
whole process (user and system, as the kernel counts it) for each transaction that ended `ok`; the
CPU time for starting, connecting and preparing, measured by runs of a few transactions, is
subtracted on both sides. Ours is what users run: scripts, histograms, intervals and accounting,
through `_engine.drive`, with as many threads as it chooses. Durability is off, so that the client
is a large part of the whole.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any

from assay.experiment import StorageChoice, SystemChoice
from assay.provision.deployment import Address
from assay.provision.stage import provision
from benches import _client_peers as peers
from benches import _floor as floor
from benches._client_peers import SCALE, Work
from benches._process import Run, run

ROUNDS = 7
NULL = SystemChoice("null", options={"protocol": "postgresql"})
NULL_SERVER = "null server"
MANY = 10_000
OFFERED = 20_000.0
SECONDS = 5
START_RUNS = 3

_DRIVE = "import sys; from assay import _engine; print(_engine.drive(sys.stdin.read()))"
OURS = [sys.executable, "-c", _DRIVE]

_TPCB = files("assay.workloads") / "tpcb"
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
    """A row of the table: the work, the number of clients, and the targets."""

    work: Work
    clients: int
    most_cost: float
    """Ours ÷ the other tool's."""
    most_of_floor: float | None = None
    """Ours ÷ the floor's; None: there is no floor for this work."""
    least_throughput: float = 1.0
    """Ours ÷ the other tool's."""

    @property
    def name(self) -> str:
        """By which ``--only`` asks for it."""
        return f"{self.work.name}, {self.clients}".lower()


@dataclass(frozen=True)
class System:
    """A server and its work."""

    choice: SystemChoice
    program: str
    fill: Callable[[Address], None]
    command: Callable[[Address, Work, int, Sequence[str]], tuple[list[str], re.Pattern[str]]]
    few: Callable[[int], list[str]]
    """The other tool's options for the fewest transactions of this many clients."""
    during: Callable[[int], list[str]]
    cases: tuple[Case, ...]


_SELECT_ONLY = Work(
    "select only", "pgbench -S -M prepared", ("-S", "-Mprepared"), SELECT, SCALED, "select"
)
_TPCB_LIKE = Work(
    "TPC-B-like",
    "pgbench -M prepared",
    ("-Mprepared",),
    (_TPCB / "tpcb-like.sql").read_text(),
    SCALED,
    "tpcb",
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
            Case(_SELECT_ONLY, 8, 0.75, 1.15),
            Case(_SELECT_ONLY, 32, 0.75, 1.15),
            Case(_TPCB_LIKE, 8, 0.70, 1.05),
            Case(_TPCB_LIKE, 32, 0.70, 1.05),
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
            Case(_POINT, 8, 0.60),
            Case(_POINT, 32, 0.60),
            Case(_READ_WRITE, 8, 0.65),
        ),
    ),
)


@dataclass(frozen=True)
class Cost:
    """One side in one round."""

    cost_us: float
    rate_per_s: float


def main(rounds: int = ROUNDS, seconds: int = SECONDS, only: Sequence[str] = ()) -> None:
    """Prints one row for each case (``only`` these, if it names any: the work and its clients, or
    ``null server``)."""
    known = [*(case.name for system in SYSTEMS for case in system.cases), NULL_SERVER]
    for name in only:
        if name not in known:
            raise SystemExit(
                f"error: client_cost has no case {name!r}\n\nhint: there are {'; '.join(known)}"
            )
    print(
        f"medians of {rounds} alternating rounds of {seconds} s; cost is CPU time for each "
        "transaction, start-up taken off; ratios are ours ÷ the other's (least – most)\n"
    )
    print(
        "| work | clients | peer | ours, µs | peer, µs | floor, µs | cost ÷ peer | at most | "
        "| cost ÷ floor | at most | | throughput ÷ peer | at least | |"
    )
    print("|---|---:|---|" + "---:|" * 5 + "---|" + "---:|---:|---|" * 2)
    for system in SYSTEMS:
        cases = [case for case in system.cases if not only or case.name in only]
        if not cases:
            continue
        if peers.needed(system.program) is None:
            print(f"| {system.choice.name} | | {system.program} is not on this machine |")
            continue
        most = max(case.clients for case in cases)
        with provision(system.choice, StorageChoice(), connections=most) as deployment:
            system.fill(deployment.address)
            for case in cases:
                sides = sides_of(system, deployment.address, case)
                print(row(case, *alternate(sides, rounds, seconds)), flush=True)
    if not only or NULL_SERVER in only:
        on_the_null_server(rounds, seconds)


def on_the_null_server(rounds: int, seconds: int) -> None:
    """Many clients on the null server: the second table."""
    print("\nthe select alone, on a null server of the same protocol (a process of its own)\n")
    print("| clients | loop | what | found (least – most) | at most | |")
    print("|---:|---|---|---:|---:|---|")
    with provision(NULL, StorageChoice(), connections=MANY) as deployment:
        closed = [on_null(deployment.address, 1000, {}, seconds) for _ in range(rounds)]
        found_row(1000, "closed", "cost, µs", [own_cost_us(run) for run in closed], 3)
        found_row(
            1000, "closed", "memory, MB", [run.resident_peak_bytes / 1e6 for run in closed], 50
        )
        arrival = {"kind": "poisson", "offered_rate_per_s": OFFERED}
        opened = [
            on_null(deployment.address, MANY, {"arrival": arrival}, seconds) for _ in range(rounds)
        ]
        loop = f"open, {OFFERED:.0f}/s"
        lags = [run.observation["all_ok"]["schedule_lag"]["p99_ns"] / 1e6 for run in opened]
        lost = [run.observation["outcomes"]["scheduled"] - run.transactions for run in opened]
        found_row(MANY, loop, "schedule lag p99, ms", lags, 1)
        found_row(MANY, loop, "transactions not ok", lost, 0)


def on_null(address: Address, clients: int, more: dict[str, Any], seconds: int) -> Run:
    """Ours on the null server."""
    drive = document(address, _SELECT_ONLY, clients, {"duration_s": seconds})
    return run_ours({**drive, "warm_up_s": 0.5, **more})


def own_cost_us(run: Run) -> float:
    """From our observation: the cost of the measurement alone, without opening the connections."""
    cost = run.observation["client_cost"]
    return float(cost["user_ns"] + cost["system_ns"]) / 1e3 / run.transactions


def found_row(clients: int, loop: str, what: str, found: Sequence[float], most: float) -> None:
    """One row of the second table."""
    is_met = statistics.median(found) <= most
    print(
        f"| {clients} | {loop} | {what} | {spread(found)} | {most} | {verdict(is_met)} |",
        flush=True,
    )


@dataclass(frozen=True)
class Side:
    """One of the programs that are compared."""

    few: Callable[[], Run]
    """The fewest transactions that the clients can do: the cost of starting, connecting and
    preparing."""
    during: Callable[[int], Run]
    """This many seconds of work."""


def sides_of(system: System, address: Address, case: Case) -> list[Side]:
    """Ours, the other tool, and the floor where there is one."""

    def ours(stop: dict[str, int]) -> Run:
        return run_ours(document(address, case.work, case.clients, stop))

    def theirs(stop: list[str]) -> Run:
        return run(*system.command(address, case.work, case.clients, stop))

    sides = [
        Side(lambda: ours({"transactions": 1}), lambda seconds: ours({"duration_s": seconds})),
        Side(
            lambda: theirs(system.few(case.clients)),
            lambda seconds: theirs(system.during(seconds)),
        ),
    ]
    if case.most_of_floor is not None:
        command = partial(floor.command, address, case.work, case.clients)
        sides.append(
            Side(
                lambda: run(*command("transactions", 1)),
                lambda seconds: run(*command("seconds", seconds)),
            )
        )
    return sides


def alternate(sides: Sequence[Side], rounds: int, seconds: int) -> list[list[Cost]]:
    """The costs of each side, alternately; the first one changes from round to round."""
    starts_s = [min(side.few().cpu_s for _ in range(START_RUNS)) for side in sides]
    costs: list[list[Cost]] = [[] for _ in sides]
    sides[-1].during(1)  # so that the server's memory is warm for the first side
    for number in range(rounds):
        first = number % len(sides)
        for which in [*range(first, len(sides)), *range(first)]:
            done = sides[which].during(seconds)
            cost_us = (done.cpu_s - starts_s[which]) * 1e6 / done.transactions
            costs[which].append(Cost(cost_us, done.transactions / seconds))
    return costs


def row(case: Case, ours: Sequence[Cost], theirs: Sequence[Cost], *floors: Sequence[Cost]) -> str:
    """The ratios, each with its target."""
    cells = [case.work.name, case.clients, case.work.peer]
    for side in (ours, theirs, *floors):
        cells.append(f"{statistics.median(one.cost_us for one in side):.2f}")
    cells += [""] * (1 - len(floors))
    cells += judged(ratios(ours, theirs, "cost_us"), at_most=case.most_cost)
    if floors and case.most_of_floor is not None:
        cells += judged(ratios(ours, floors[0], "cost_us"), at_most=case.most_of_floor)
    else:
        cells += ["", "", ""]
    cells += judged(ratios(ours, theirs, "rate_per_s"), at_least=case.least_throughput)
    return f"| {' | '.join(map(str, cells))} |"


def ratios(ours: Sequence[Cost], theirs: Sequence[Cost], what: str) -> list[float]:
    """Ours ÷ theirs, round by round."""
    return [
        getattr(one, what) / getattr(other, what) for one, other in zip(ours, theirs, strict=True)
    ]


def judged(
    found: Sequence[float], *, at_most: float | None = None, at_least: float | None = None
) -> list[str]:
    """The result, the target, and whether the median reaches it."""
    median = statistics.median(found)
    is_met = (at_most is None or median <= at_most) and (at_least is None or median >= at_least)
    aim = at_most if at_most is not None else at_least
    return [spread(found), f"{aim:.2f}", verdict(is_met)]


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
        "protocol": "prepared",
        "stop": stop,
        "seed": 1,
    }


def run_ours(drive: dict[str, Any]) -> Run:
    """One run of ours, in a process of its own."""
    done = run(OURS, None, json.dumps(drive))
    outcomes = done.observation["outcomes"]
    if outcomes["ok"] == 0:
        raise SystemExit(f"error: no transaction succeeded: {done.observation['errors']}")
    return Run(
        done.cpu_s, done.elapsed_s, outcomes["ok"], done.resident_peak_bytes, done.observation
    )
