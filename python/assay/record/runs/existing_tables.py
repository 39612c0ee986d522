"""Takes what the tables of a run held; keeps it, and returns it again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from assay.load.existing_data import ExistingData, ExistingTable
from assay.record.file import rows_of_runs
from assay.record.file.json_text import storable
from assay.record.file.record_file import insert
from assay.record.file.rows_of_runs import RUNS


def keep(
    connection: sqlite3.Connection, run_id: int, tables: Iterable[ExistingTable], *, is_after: bool
) -> None:
    for position, table in enumerate(tables):
        values = {
            name: storable(value) if isinstance(value, str) else value
            for name, value in table._asdict().items()
        }
        insert(
            connection,
            "existing_tables",
            run_id=run_id,
            is_after=int(is_after),
            position=position,
            **{**values, "is_only_added_to": int(table.is_only_added_to)},
        )


def of_runs(connection: sqlite3.Connection, runs: Sequence[int]) -> dict[int, ExistingData]:
    """By run; those that were looked at."""
    question = (
        "SELECT run_id, is_after, name, rows, digest, is_only_added_to, unknown, indexes "
        f"FROM existing_tables WHERE run_id IN {RUNS} ORDER BY run_id, is_after, position"
    )
    found: dict[int, ExistingData] = {}
    for run_id, rows in rows_of_runs.by_run(connection, runs, question).items():
        tables: dict[int, list[ExistingTable]] = {0: [], 1: []}
        for is_after, name, count, digest, is_only_added_to, unknown, indexes in rows:
            table = ExistingTable(name, count, digest, bool(is_only_added_to), unknown, indexes)
            tables[is_after].append(table)
        found[run_id] = ExistingData(tuple(tables[0]), tuple(tables[1]))
    return found
