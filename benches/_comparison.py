"""Takes what our driver and another client do; prints what an operation costs each of them."""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.experiment import StorageChoice, SystemChoice
from assay.provision.running_system import provision
from benches._alternation import Side, alternate, judged, own_cost_us, ratios, run_ours
from benches._process import Run, run

COUNT = re.compile(r"operations: (\d+)")

Drive = dict[str, Any]
Stop = dict[str, int]


def drive(deployment: dict[str, Any], path: str, text: str, clients: int, threads: int) -> Drive:
    """A drive document with one script; it lacks when to stop."""
    return {
        "deployment": deployment,
        "scripts": [{"name": "bench", "path": path, "text": text}],
        "order": "mix",
        "clients": clients,
        "threads": threads,
        "protocol": "prepared",
        "seed": 1,
    }


def sides(ours: Drive, peer: str, *words: str) -> list[Side]:
    """Ours, and a program beside this file that takes these words, a unit and an amount."""
    program = str(Path(__file__).with_name(peer))

    def drive_ours(stop: Stop) -> Run:
        return run_ours({**ours, "stop": stop})

    def run_peer(unit: str, amount: int) -> Run:
        return run([sys.executable, program, *words, unit, str(amount)], COUNT)

    return [
        Side(
            lambda: drive_ours({"transactions": 1}),
            lambda seconds: drive_ours({"duration_s": seconds}),
        ),
        Side(lambda: run_peer("transactions", 1), lambda seconds: run_peer("seconds", seconds)),
    ]


def compare(
    columns: Sequence[str],
    cases: Iterable[tuple[Sequence[object], Sequence[Side]]],
    rounds: int,
    seconds: int,
    *,
    at_most: float,
) -> None:
    """Prints a row for each case: its own cells, then costs, their ratio, and operations/s."""
    print(f"medians of {rounds} alternating rounds of {seconds} s; ratios are ours ÷ the peer's\n")
    measured = "ours, µs | peer, µs | cost ÷ peer | at most | | ours/s | peer/s"
    print(f"| {' | '.join(columns)} | {measured} |")
    print(f"|---|{'---:|' * (len(columns) - 1)}---:|---:|---:|---:|---|---:|---:|")
    for cells, both in cases:
        ours, theirs = alternate(both, rounds, seconds)
        costs = [statistics.median(one.cost_us for one in side) for side in (ours, theirs)]
        rates = [statistics.median(one.rate_per_s for one in side) for side in (ours, theirs)]
        found = judged(ratios(ours, theirs, "cost_us"), at_most=at_most)
        shown = [*cells, *(f"{cost:.2f}" for cost in costs), *found]
        shown += [f"{rate:.0f}" for rate in rates]
        print(f"| {' | '.join(map(str, shown))} |", flush=True)


def costs_on_null(
    protocol: str,
    ours: Callable[[dict[str, Any], int], Drive],
    clients: Sequence[int],
    rounds: int,
    seconds: int,
) -> Iterator[tuple[int, list[float]]]:
    """For each number of clients the client's own cost, in µs, on a null server of a protocol."""
    system = SystemChoice("null", options={"protocol": protocol})
    with provision(system, StorageChoice(), connections=max(clients)) as deployment:
        for count in clients:
            document = ours(deployment.address.for_engine().plain, count)
            during = {**document, "stop": {"duration_s": seconds}, "warm_up_s": 0.5}
            yield count, [own_cost_us(run_ours(during)) for _ in range(rounds)]
