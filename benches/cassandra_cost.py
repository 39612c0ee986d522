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
import statistics
from typing import Any

from assay import _engine
from benches._alternation import Side, spread, verdict
from benches._comparison import Drive, compare, costs_on_null, drive, sides
from benches._datastax import KEYSPACE, ROWS, TEXT, USER

ROUNDS = 5
SECONDS = 4
CLIENTS = (8, 32)
MOST_OF_PEER = 0.5
MOST_ON_NULL_US = 10.0

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
    deployment = {
        "driver": "cassandra",
        "host": host,
        "port": int(port),
        "user": USER,
        "password": USER,
    }
    fill(deployment)
    print()
    cases = (
        ([name, clients], sides_of(deployment, statement, clients))
        for name, statement in STATEMENTS.items()
        for clients in CLIENTS
    )
    compare(["work", "clients"], cases, rounds, seconds, at_most=MOST_OF_PEER)


def sides_of(deployment: dict[str, Any], statement: str, clients: int) -> list[Side]:
    """Ours and the peer."""
    place = [
        deployment["host"],
        str(deployment["port"]),
        str(clients),
        statement.format(id="?", c="?"),
    ]
    ours = document({**deployment, "database": KEYSPACE}, statement, clients)
    return sides(ours, "_datastax.py", *place)


def document(deployment: dict[str, Any], statement: str, clients: int) -> Drive:
    """With the statement as its script."""
    text = f"\\set id random(1, {ROWS})\n\\set c '{TEXT}'\n{statement.format(id=':id', c=':c')};\n"
    return drive(deployment, "bench.cql", text, clients, threads=2)


def fill(deployment: dict[str, Any]) -> None:
    """A table in which every key has a row."""
    session = _engine.Session(json.dumps(deployment))
    for statement in SCHEMA:
        session.execute(statement)
    session.close()
    table = {"name": "point", "bulk": STATEMENTS["insert"].format(id="?", c="?"), "form": "native"}
    load = {"deployment": {**deployment, "database": KEYSPACE}, "tables": [table]}
    _engine.load(json.dumps(load), {"point": ((number, TEXT) for number in range(1, ROWS + 1))})


def on_the_null_server(rounds: int, seconds: int) -> None:
    """The client's cost alone."""
    print("the select on a null server of the protocol (a process of its own)\n")
    print("| clients | cost, µs (least – most) | at most | |")
    print("|---:|---:|---:|---|")

    def select(deployment: dict[str, Any], clients: int) -> Drive:
        return document(deployment, STATEMENTS["point select"], clients)

    for clients, costs in costs_on_null("cassandra", select, CLIENTS, rounds, seconds):
        is_met = statistics.median(costs) <= MOST_ON_NULL_US
        print(f"| {clients} | {spread(costs)} | {MOST_ON_NULL_US} | {verdict(is_met)} |")
