"""Takes what a storage's own account says of a step; keeps it, and returns what is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, fields

from assay.record.file import insert
from assay.storages.abilities import AccountedSecond

_COLUMNS = ", ".join(one.name for one in fields(AccountedSecond))


def keep(
    connection: sqlite3.Connection, run_id: int, position: int, seconds: Iterable[AccountedSecond]
) -> None:
    for one in seconds:
        insert(connection, "storage_requests", run_id=run_id, step=position, **asdict(one))


def of_step(connection: sqlite3.Connection, place: tuple[int, int]) -> tuple[AccountedSecond, ...]:
    """In the order of seconds and operations."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM storage_requests WHERE run_id = ? AND step = ? "
        "ORDER BY second, operation",
        place,
    )
    return tuple(AccountedSecond(*values) for values in found)
