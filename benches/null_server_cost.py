"""The engine's own limits, on a null server of PostgreSQL's protocol in a process of its own: cost
and memory of 1,000 clients, punctuality of 10,000."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from assay.contracts.deployment import Address
from assay.experiment import StorageChoice, SystemChoice
from assay.provision.running_system import provision
from benches._alternation import document, own_cost_us, run_ours, spread, verdict
from benches._client_peers import SELECT_ONLY
from benches._process import Run

ROUNDS = 7
SECONDS = 5
MANY = 10_000
OFFERED = 20_000.0
NULL = SystemChoice("null", options={"protocol": "postgresql"})


def main(rounds: int = ROUNDS, seconds: int = SECONDS) -> None:
    """Prints a row for each quantity."""
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
    drive = document(address, SELECT_ONLY, clients, {"duration_s": seconds})
    return run_ours({**drive, "warm_up_s": 0.5, **more})


def found_row(clients: int, loop: str, what: str, found: Sequence[float], most: float) -> None:
    """One row of the second table."""
    is_met = statistics.median(found) <= most
    print(
        f"| {clients} | {loop} | {what} | {spread(found)} | {most} | {verdict(is_met)} |",
        flush=True,
    )
