"""The CPU time of our driver of MongoDB's protocol per operation, compared with pymongo on one
server, and on a null server.

``ASSAY_TEST_MONGODB=HOST:PORT`` names a server without users. Each side runs for some seconds as a
process of its own, alternately; the CPU time of starting and connecting is subtracted.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import statistics
import sys
from pathlib import Path
from typing import Any

from assay import _engine
from assay.experiment import StorageChoice, SystemChoice
from assay.provision.stage import provision
from benches._process import Run, run
from benches._pymongo import DATABASE, ROWS, TEXT
from benches.client_cost import (
    Side,
    alternate,
    judged,
    own_cost_us,
    ratios,
    run_ours,
    spread,
)

ROUNDS = 5
SECONDS = 4
CLIENTS = (8, 32)
MOST_OF_PEER = 0.3

COUNT = re.compile(r"operations: (\d+)")
COMMANDS = {
    "find": '{"find": "point", "filter": {"_id": :id}, "projection": {"_id": 0, "c": 1}, '
    '"limit": 1}',
    "insert": '{"insert": "log", "documents": [{"id": :id, "c": :c}]}',
}


def main(rounds: int = ROUNDS, seconds: int = SECONDS) -> None:
    """Prints one row for each case."""
    on_the_null_server(rounds, seconds)
    address = os.environ.get("ASSAY_TEST_MONGODB")
    if address is None:
        print("\nASSAY_TEST_MONGODB=HOST:PORT names no server: nothing is compared")
        return
    if importlib.util.find_spec("pymongo") is None:
        print("\npymongo is not installed (`pip install pymongo`)")
        return
    host, _, port = address.rpartition(":")
    site = {"driver": "mongodb", "host": host, "port": int(port), "database": DATABASE}
    fill(site)
    print(
        f"\nmedians of {rounds} alternating rounds of {seconds} s; ratios are ours ÷ the peer's\n"
    )
    print("| work | clients | ours, µs | peer, µs | cost ÷ peer | at most | | ours/s | peer/s |")
    print("|---|---:|---:|---:|---:|---:|---|---:|---:|")
    for work in COMMANDS:
        for clients in CLIENTS:
            ours, theirs = alternate(sides(site, work, clients), rounds, seconds)
            costs = [statistics.median(one.cost_us for one in side) for side in (ours, theirs)]
            rates = [statistics.median(one.rate_per_s for one in side) for side in (ours, theirs)]
            found = judged(ratios(ours, theirs, "cost_us"), at_most=MOST_OF_PEER)
            cells = [work, clients, *(f"{cost:.2f}" for cost in costs), *found]
            cells += [f"{rate:.0f}" for rate in rates]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


def sides(site: dict[str, Any], work: str, clients: int) -> list[Side]:
    """Ours and the peer."""
    peer = str(Path(__file__).with_name("_pymongo.py"))
    place = [site["host"], str(site["port"]), str(clients), work]

    def ours(stop: dict[str, int]) -> Run:
        return run_ours(document(site, work, clients, stop))

    def theirs(unit: str, amount: int) -> Run:
        return run([sys.executable, peer, *place, unit, str(amount)], COUNT)

    return [
        Side(lambda: ours({"transactions": 1}), lambda seconds: ours({"duration_s": seconds})),
        Side(lambda: theirs("transactions", 1), lambda seconds: theirs("seconds", seconds)),
    ]


def document(site: dict[str, Any], work: str, clients: int, stop: dict[str, int]) -> dict[str, Any]:
    """A drive document with the command as its script."""
    text = f"\\set id random(1, {ROWS})\n\\set c '{TEXT}'\n{COMMANDS[work]};\n"
    return {
        "site": site,
        "scripts": [{"name": "bench", "path": "bench.json", "text": text}],
        "lexer": "json",
        "order": "mix",
        "clients": clients,
        "threads": 2,
        "protocol": "prepared",
        "stop": stop,
        "seed": 1,
    }


def fill(site: dict[str, Any]) -> None:
    """A collection in which every key has a document, and an empty one."""
    session = _engine.Session(json.dumps(site))
    session.execute('{"dropDatabase": 1}')
    session.close()
    table = {"name": "point", "bulk": '{"insert": "point", "fields": ["_id", "c"]}'}
    load = {"site": site, "tables": [{**table, "form": "native"}]}
    _engine.load(json.dumps(load), {"point": ((number, TEXT) for number in range(1, ROWS + 1))})


def on_the_null_server(rounds: int, seconds: int) -> None:
    """The client's cost alone."""
    print("the find on a null server of the protocol (a process of its own)\n")
    print("| clients | cost, µs (least – most) |")
    print("|---:|---:|")
    system = SystemChoice("null", options={"protocol": "mongodb"})
    with provision(system, StorageChoice(), connections=max(CLIENTS)) as deployment:
        for clients in CLIENTS:
            site = deployment.address.for_engine()
            drive = document(site, "find", clients, {"duration_s": seconds})
            costs = [own_cost_us(run_ours({**drive, "warm_up_s": 0.5})) for _ in range(rounds)]
            print(f"| {clients} | {spread(costs)} |")
