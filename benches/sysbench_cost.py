"""The engine compared with sysbench on one MariaDB: the client's CPU time for each transaction, and
throughput.

Each side runs for some seconds as a process of its own, alternately. Cost is the CPU time of the
whole process (user and system, as the kernel counts it) for each transaction that ended `ok`; the
CPU time for starting, connecting and preparing, measured by runs of a few transactions, is
subtracted on both sides. The programs' own part of it (user) is shown beside the whole, as most of
a statement's cost is the kernel's: to send, to wake the server, to receive, which is the same for
both. Ours has scripts, histograms, intervals and accounting, and as many threads as the engine
chooses. Durability is off, so that the client is a large part of the whole.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from assay.contracts.deployment import Address
from assay.experiment import StorageChoice, SystemChoice
from assay.provision.running_system import provision
from benches import _client_peers as peers
from benches._alternation import Cost, Side, alternate, document, judged, ratios, run_ours, spread
from benches._client_peers import POINT_SELECT, READ_WRITE, Work
from benches._process import Run, run

MOST_COST = 0.7
"""Of sysbench's."""
LEAST_THROUGHPUT = 1.0
"""Of sysbench's."""

ROUNDS = 7
SECONDS = 5
SYSTEM = SystemChoice(
    "mariadb", settings={"innodb_flush_log_at_trx_commit": "0", "innodb_buffer_pool_size": "512M"}
)


@dataclass(frozen=True)
class Case:
    """A row of the table: the work and the number of clients."""

    work: Work
    clients: int

    @property
    def name(self) -> str:
        """By which ``--only`` asks for it."""
        return f"{self.work.name}, {self.clients}"


CASES = (Case(POINT_SELECT, 8), Case(POINT_SELECT, 32), Case(READ_WRITE, 8), Case(READ_WRITE, 32))


def main(rounds: int = ROUNDS, seconds: int = SECONDS, only: Sequence[str] = ()) -> None:
    """Prints one row for each case (``only`` these, if it names any: the work and its clients)."""
    known = [case.name for case in CASES]
    for name in only:
        if name not in known:
            raise SystemExit(f"error: no case is {name!r}\n\nhint: there are {'; '.join(known)}")
    if peers.SYSBENCH.find_anywhere() is None:
        print("sysbench is not on this machine")
        return
    cases = [case for case in CASES if not only or case.name in only]
    print(
        f"medians of {rounds} alternating rounds of {seconds} s; cost is CPU time for each "
        "transaction, start-up taken off; ratios are ours ÷ sysbench's (least – most)\n"
    )
    print(
        "| work | clients | peer | ours, µs | peer, µs | cost ÷ peer | at most | "
        "| user: ours, µs | peer, µs | user ÷ peer | throughput ÷ peer | at least | |"
    )
    print("|---|---:|---|" + "---:|" * 4 + "---|" + "---:|" * 5 + "---|")
    most = max(case.clients for case in cases)
    with provision(SYSTEM, StorageChoice(), connections=most) as deployment:
        peers.fill_mariadb(deployment.address)
        for case in cases:
            sides = sides_of(deployment.address, case)
            print(row(case, *alternate(sides, rounds, seconds)), flush=True)


def sides_of(address: Address, case: Case) -> list[Side]:
    """Ours, and sysbench."""

    def ours(stop: dict[str, int]) -> Run:
        return run_ours(document(address, case.work, case.clients, stop))

    def theirs(*stop: str) -> Run:
        return run(*peers.sysbench_run(address, case.work, case.clients, stop))

    return [
        Side(lambda: ours({"transactions": 1}), lambda seconds: ours({"duration_s": seconds})),
        Side(
            lambda: theirs(f"--events={case.clients}", "--time=0"),
            lambda seconds: theirs(f"--time={seconds}"),
        ),
    ]


def row(case: Case, ours: Sequence[Cost], theirs: Sequence[Cost]) -> str:
    """The costs and the ratios, those of the whole cost and of throughput with their targets."""
    cells = [case.work.name, case.clients, case.work.peer]
    cells += [f"{statistics.median(cost.cost_us for cost in side):.2f}" for side in (ours, theirs)]
    cells += judged(ratios(ours, theirs, "cost_us"), at_most=MOST_COST)
    cells += [f"{statistics.median(cost.user_us for cost in side):.2f}" for side in (ours, theirs)]
    cells.append(spread(ratios(ours, theirs, "user_us")))
    cells += judged(ratios(ours, theirs, "rate_per_s"), at_least=LEAST_THROUGHPUT)
    return f"| {' | '.join(map(str, cells))} |"
