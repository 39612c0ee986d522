"""Takes what a storage's own account says of a step; keeps it, and returns what is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from msgspec import structs

from assay.contracts.storages.abilities import AccountedSecond
from assay.record.file import rows_of_runs
from assay.record.file.record_file import insert
from assay.record.file.rows_of_runs import RUNS

_COLUMNS = ", ".join(AccountedSecond.__struct_fields__)


def keep(
    connection: sqlite3.Connection, run_id: int, position: int, seconds: Iterable[AccountedSecond]
) -> None:
    for one in seconds:
        insert(connection, "storage_requests", run_id=run_id, step=position, **structs.asdict(one))


def of_runs(
    connection: sqlite3.Connection, runs: Sequence[int]
) -> dict[tuple[int, int], tuple[AccountedSecond, ...]]:
    """By run and step, in the order of seconds and operations."""
    found = rows_of_runs.by_step(
        connection,
        runs,
        f"SELECT run_id, step, {_COLUMNS} FROM storage_requests WHERE run_id IN {RUNS} "
        "ORDER BY second, operation",
    )
    return {place: tuple(AccountedSecond(*one) for one in rows) for place, rows in found.items()}
