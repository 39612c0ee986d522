"""The engine compared with sysbench on one MariaDB: the client's CPU time for each transaction, and
throughput.

Each side runs for some seconds as a process of its own, alternately. Cost is the CPU time of the
whole process (user and system, as the kernel counts it) for each transaction that ended `ok`; the
CPU time for starting, connecting and preparing, measured by runs of a few transactions, is
subtracted on both sides. Ours has scripts, histograms, intervals and accounting, and as many
threads as the engine chooses. Durability is off, so that the client is a large part of the whole.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from assay.contracts.deployment import Address
from assay.experiment import StorageChoice, SystemChoice
from assay.provision.provision import provision
from benches import _client_peers as peers
from benches._alternation import Cost, Side, alternate, document, judged, ratios, run_ours
from benches._client_peers import POINT_SELECT, READ_WRITE, Work
from benches._process import Run, run

ROUNDS = 7
SECONDS = 5
SYSTEM = SystemChoice(
    "mariadb",
    settings={"innodb_flush_log_at_trx_commit": "0", "innodb_buffer_pool_size": "512M"},
)


@dataclass(frozen=True)
class Case:
    """A row of the table: the work, the number of clients, and the targets."""

    work: Work
    clients: int
    most_cost: float
    """Ours ÷ sysbench's."""
    least_throughput: float = 1.0
    """Ours ÷ sysbench's."""

    @property
    def name(self) -> str:
        """By which ``--only`` asks for it."""
        return f"{self.work.name}, {self.clients}"


CASES = (
    Case(POINT_SELECT, 8, 0.60),
    Case(POINT_SELECT, 32, 0.60),
    Case(READ_WRITE, 8, 0.65),
    Case(READ_WRITE, 32, 0.70),
)


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
        "| throughput ÷ peer | at least | |"
    )
    print("|---|---:|---|" + "---:|" * 4 + "---|---:|---:|---|")
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
    """The ratios, each with its target."""
    cells = [case.work.name, case.clients, case.work.peer]
    cells += [f"{statistics.median(one.cost_us for one in side):.2f}" for side in (ours, theirs)]
    cells += judged(ratios(ours, theirs, "cost_us"), at_most=case.most_cost)
    cells += judged(ratios(ours, theirs, "rate_per_s"), at_least=case.least_throughput)
    return f"| {' | '.join(map(str, cells))} |"
