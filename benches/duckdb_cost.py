"""The CPU time of our DuckDB driver per operation, compared with DuckDB's Python package on one
file.

Both call the same library in their own process, so most of the cost is the library's. Each side
runs for some seconds as a process of its own, alternately; the CPU time of starting, opening the
file and preparing is subtracted on both sides.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from assay import _engine
from assay.errors import SystemMissing
from assay.systems.duckdb import installation
from benches._duckdb_python import ROWS
from benches._process import Run, run
from benches.client_cost import Side, alternate, judged, ratios, run_ours

ROUNDS = 5
SECONDS = 4
MOST_OF_PEER = 1.0

COUNT = re.compile(r"operations: (\d+)")
STATEMENTS = {
    "point select": "SELECT c FROM point WHERE id = {id}",
    "100 rows": "SELECT id, n, c, day FROM point WHERE id BETWEEN {id} AND {id} + 99",
    "update": "UPDATE point SET n = n + 1 WHERE id = {id}",
}
SCHEMA = (
    "CREATE TABLE point (id INTEGER PRIMARY KEY, n INTEGER, c VARCHAR, day DATE)",
    "INSERT INTO point SELECT i, 0, repeat('x', 60), DATE '2011-03-04' "
    f"FROM range(1, {ROWS + 100}) r(i)",
    "CHECKPOINT",
)


def main(rounds: int = ROUNDS, seconds: int = SECONDS) -> None:
    """Prints one row for each case."""
    try:
        library = str(installation.find_library())
    except SystemMissing as missing:
        print(f"{missing.message}: nothing is compared")
        return
    print(f"medians of {rounds} alternating rounds of {seconds} s; ratios are ours ÷ the peer's\n")
    print("| work | ours, µs | peer, µs | cost ÷ peer | at most | | ours/s | peer/s |")
    print("|---|---:|---:|---:|---:|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        site = {
            "driver": "duckdb",
            "file": str(Path(folder) / "bench.duckdb"),
            "options": {"library": library},
        }
        session = _engine.Session(json.dumps(site))
        for statement in SCHEMA:
            session.execute(statement)
        session.close()
        for name, statement in STATEMENTS.items():
            ours, theirs = alternate(sides(site, statement), rounds, seconds)
            costs = [statistics.median(one.cost_us for one in side) for side in (ours, theirs)]
            rates = [statistics.median(one.rate_per_s for one in side) for side in (ours, theirs)]
            found = judged(ratios(ours, theirs, "cost_us"), at_most=MOST_OF_PEER)
            cells = [name, *(f"{cost:.2f}" for cost in costs), *found]
            cells += [f"{rate:.0f}" for rate in rates]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


def sides(site: dict[str, Any], statement: str) -> list[Side]:
    """Ours and the peer."""
    peer = str(Path(__file__).with_name("_duckdb_python.py"))
    place = [site["options"]["library"], site["file"], statement.format(id="$1")]

    def ours(stop: dict[str, int]) -> Run:
        return run_ours(document(site, statement, stop))

    def theirs(unit: str, amount: int) -> Run:
        return run([sys.executable, peer, *place, unit, str(amount)], COUNT)

    return [
        Side(lambda: ours({"transactions": 1}), lambda seconds: ours({"duration_s": seconds})),
        Side(lambda: theirs("transactions", 1), lambda seconds: theirs("seconds", seconds)),
    ]


def document(site: dict[str, Any], statement: str, stop: dict[str, int]) -> dict[str, Any]:
    """A drive document with the statement as its script."""
    text = f"\\set id random(1, {ROWS})\n{statement.format(id=':id')};\n"
    return {
        "site": site,
        "scripts": [{"name": "bench", "path": "bench.sql", "text": text}],
        "order": "mix",
        "clients": 1,
        "threads": 1,
        "protocol": "prepared",
        "stop": stop,
        "seed": 1,
    }
