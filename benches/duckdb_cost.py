"""The CPU time of our DuckDB driver per operation, compared with DuckDB's Python package on one
file.

Both call the same library in their own process, so most of the cost is the library's. Each side
runs for some seconds as a process of its own, alternately; the CPU time of starting, opening the
file and preparing is subtracted on both sides.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from assay import _engine
from assay.errors import SystemMissing
from assay.systems.duckdb import system
from benches._alternation import Side
from benches._comparison import compare, drive, sides
from benches._duckdb_python import ROWS

ROUNDS = 5
SECONDS = 4
MOST_OF_PEER = 1.0

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
        library = str(system.find_library())
    except SystemMissing as missing:
        print(f"{missing.message}: nothing is compared")
        return
    with tempfile.TemporaryDirectory() as folder:
        deployment = {
            "driver": "duckdb",
            "file": str(Path(folder) / "bench.duckdb"),
            "options": {"library": library},
        }
        session = _engine.Session(json.dumps(deployment))
        for statement in SCHEMA:
            session.execute(statement)
        session.close()
        cases = (
            ([name], sides_of(deployment, statement)) for name, statement in STATEMENTS.items()
        )
        compare(["work"], cases, rounds, seconds, at_most=MOST_OF_PEER)


def sides_of(deployment: dict[str, Any], statement: str) -> list[Side]:
    """Ours and the peer."""
    text = f"\\set id random(1, {ROWS})\n{statement.format(id=':id')};\n"
    place = [deployment["options"]["library"], deployment["file"], statement.format(id="$1")]
    return sides(drive(deployment, "bench.sql", text, 1, threads=1), "_duckdb_python.py", *place)
