"""The CPU time of our CQL driver per operation, compared with the DataStax Python driver on one
server, and on a null server.

``ASSAY_TEST_CASSANDRA=HOST:PORT`` names the server, with user and password ``cassandra``. Each side
runs for some seconds as a process of its own, alternately; the CPU time of starting, connecting and
preparing is subtracted on both sides.
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
from benches._datastax import KEYSPACE, ROWS, TEXT, USER
from benches._process import Run, run
from benches.client_cost import (
    Side,
    alternate,
    judged,
    own_cost_us,
    ratios,
    run_ours,
    spread,
    verdict,
)

ROUNDS = 5
SECONDS = 4
CLIENTS = (8, 32)
MOST_OF_PEER = 0.5
MOST_ON_NULL_US = 10.0

COUNT = re.compile(r"operations: (\d+)")
STATEMENTS = {
    "point select": "SELECT c FROM point WHERE id = {id}",
    "insert": "INSERT INTO point (id, c) VALUES ({id}, {c})",
}
SCHEMA = (
    f"CREATE KEYSPACE IF NOT EXISTS {KEYSPACE} "
    "WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    f"CREATE TABLE IF NOT EXISTS {KEYSPACE}.point (id int PRIMARY KEY, c text)",
)


def main(rounds: int = ROUNDS, seconds: int = SECONDS) -> None:
    """Prints one row for each case."""
    on_the_null_server(rounds, seconds)
    address = os.environ.get("ASSAY_TEST_CASSANDRA")
    if address is None:
        print("\nASSAY_TEST_CASSANDRA=HOST:PORT names no server: nothing is compared")
        return
    if importlib.util.find_spec("cassandra") is None:
        print("\nthe DataStax driver is not installed (`pip install cassandra-driver`)")
        return
    host, _, port = address.rpartition(":")
    site = {"driver": "cassandra", "host": host, "port": int(port), "user": USER, "password": USER}
    fill(site)
    print(
        f"\nmedians of {rounds} alternating rounds of {seconds} s; ratios are ours ÷ the peer's\n"
    )
    print("| work | clients | ours, µs | peer, µs | cost ÷ peer | at most | | ours/s | peer/s |")
    print("|---|---:|---:|---:|---:|---:|---|---:|---:|")
    for name, statement in STATEMENTS.items():
        for clients in CLIENTS:
            ours, theirs = alternate(sides(site, statement, clients), rounds, seconds)
            costs = [statistics.median(one.cost_us for one in side) for side in (ours, theirs)]
            rates = [statistics.median(one.rate_per_s for one in side) for side in (ours, theirs)]
            found = judged(ratios(ours, theirs, "cost_us"), at_most=MOST_OF_PEER)
            cells = [name, clients, *(f"{cost:.2f}" for cost in costs), *found]
            cells += [f"{rate:.0f}" for rate in rates]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


def sides(site: dict[str, Any], statement: str, clients: int) -> list[Side]:
    """Ours and the peer."""
    peer = str(Path(__file__).with_name("_datastax.py"))
    marked = statement.format(id="?", c="?")
    place = [site["host"], str(site["port"]), str(clients), marked]

    def ours(stop: dict[str, int]) -> Run:
        return run_ours(document({**site, "database": KEYSPACE}, statement, clients, stop))

    def theirs(unit: str, amount: int) -> Run:
        return run([sys.executable, peer, *place, unit, str(amount)], COUNT)

    return [
        Side(lambda: ours({"transactions": 1}), lambda seconds: ours({"duration_s": seconds})),
        Side(lambda: theirs("transactions", 1), lambda seconds: theirs("seconds", seconds)),
    ]


def document(
    site: dict[str, Any], statement: str, clients: int, stop: dict[str, int]
) -> dict[str, Any]:
    """A drive document with the statement as its script."""
    text = f"\\set id random(1, {ROWS})\n\\set c '{TEXT}'\n{statement.format(id=':id', c=':c')};\n"
    return {
        "site": site,
        "scripts": [{"name": "bench", "path": "bench.cql", "text": text}],
        "order": "mix",
        "clients": clients,
        "threads": 2,
        "protocol": "prepared",
        "stop": stop,
        "seed": 1,
    }


def fill(site: dict[str, Any]) -> None:
    """A table in which every key has a row."""
    session = _engine.Session(json.dumps(site))
    for statement in SCHEMA:
        session.execute(statement)
    session.close()
    table = {
        "name": "point",
        "bulk": STATEMENTS["insert"].format(id="?", c="?"),
        "form": "native",
    }
    load = {"site": {**site, "database": KEYSPACE}, "tables": [table]}
    _engine.load(json.dumps(load), {"point": ((number, TEXT) for number in range(1, ROWS + 1))})


def on_the_null_server(rounds: int, seconds: int) -> None:
    """The client's cost alone."""
    print("the select on a null server of the protocol (a process of its own)\n")
    print("| clients | cost, µs (least – most) | at most | |")
    print("|---:|---:|---:|---|")
    system = SystemChoice("null", options={"protocol": "cassandra"})
    with provision(system, StorageChoice(), connections=max(CLIENTS)) as deployment:
        for clients in CLIENTS:
            site = deployment.address.for_engine()
            drive = document(site, STATEMENTS["point select"], clients, {"duration_s": seconds})
            costs = [own_cost_us(run_ours({**drive, "warm_up_s": 0.5})) for _ in range(rounds)]
            is_met = statistics.median(costs) <= MOST_ON_NULL_US
            print(f"| {clients} | {spread(costs)} | {MOST_ON_NULL_US} | {verdict(is_met)} |")
