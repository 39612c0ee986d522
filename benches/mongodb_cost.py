"""The CPU time of our driver of MongoDB's protocol per operation, compared with pymongo on one
server, and on a null server.

``ASSAY_TEST_MONGODB=HOST:PORT`` names a server without users. Each side runs for some seconds as a
process of its own, alternately; the CPU time of starting and connecting is subtracted.
"""

from __future__ import annotations

import importlib.util
import json
import os
from typing import Any

from assay import _engine
from benches._alternation import Side, spread
from benches._comparison import Drive, compare, costs_on_null, drive, sides
from benches._pymongo import DATABASE, ROWS, TEXT

ROUNDS = 5
SECONDS = 4
CLIENTS = (8, 32)
MOST_OF_PEER = 0.3

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
    deployment = {"driver": "mongodb", "host": host, "port": int(port), "database": DATABASE}
    fill(deployment)
    print()
    cases = (
        ([work, clients], sides_of(deployment, work, clients))
        for work in COMMANDS
        for clients in CLIENTS
    )
    compare(["work", "clients"], cases, rounds, seconds, at_most=MOST_OF_PEER)


def sides_of(deployment: dict[str, Any], work: str, clients: int) -> list[Side]:
    """Ours and the peer."""
    place = [deployment["host"], str(deployment["port"]), str(clients), work]
    return sides(document(deployment, work, clients), "_pymongo.py", *place)


def document(deployment: dict[str, Any], work: str, clients: int) -> Drive:
    """With the command as its script."""
    text = f"\\set id random(1, {ROWS})\n\\set c '{TEXT}'\n{COMMANDS[work]};\n"
    return {**drive(deployment, "bench.json", text, clients, threads=2), "lexer": "json"}


def fill(deployment: dict[str, Any]) -> None:
    """A collection in which every key has a document, and an empty one."""
    session = _engine.Session(json.dumps(deployment))
    session.execute('{"dropDatabase": 1}')
    session.close()
    table = {"name": "point", "bulk": '{"insert": "point", "fields": ["_id", "c"]}'}
    load = {"deployment": deployment, "tables": [{**table, "form": "native"}]}
    _engine.load(json.dumps(load), {"point": ((number, TEXT) for number in range(1, ROWS + 1))})


def on_the_null_server(rounds: int, seconds: int) -> None:
    """The client's cost alone."""
    print("the find on a null server of the protocol (a process of its own)\n")
    print("| clients | cost, µs (least – most) |")
    print("|---:|---:|")

    def find(deployment: dict[str, Any], clients: int) -> Drive:
        return document(deployment, "find", clients)

    for clients, costs in costs_on_null("mongodb", find, CLIENTS, rounds, seconds):
        print(f"| {clients} | {spread(costs)} |")
