"""Gives each new record the tables of one that was made before: thousands of tests begin one, and
to make the tables takes three times as long as to copy them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache, wraps
from pathlib import Path

from assay.record.file import schema


def copy_once() -> None:
    """From now on; `inspect.unwrap` of `schema.prepare` makes them anew."""
    prepare = schema.prepare

    @cache
    def prepared() -> sqlite3.Connection:
        made = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        prepare(made, Path(":memory:"), schema.migrations())
        return made

    @wraps(prepare)
    def prepare_copy(
        connection: sqlite3.Connection, path: Path, known: Sequence[schema.Migration]
    ) -> None:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        if not pages and known == schema.migrations():
            prepared().backup(connection)
        prepare(connection, path, known)

    schema.prepare = prepare_copy
