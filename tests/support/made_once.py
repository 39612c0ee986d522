"""Makes once in a process what thousands of tests ask for, and none changes: the built-in workloads
and the tables of a new record."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache, wraps
from pathlib import Path

from assay import registry
from assay.record.file import schema
from assay.workload import reader
from assay.workload.values import Workload


def read_workloads() -> None:
    """From now on each is read once; `inspect.unwrap` of `reader._read` reads anew."""
    read = reader._read
    read_first = cache(read)

    @wraps(read)
    def read_built_in_once(folder: Path, extending: tuple[Path, ...] = ()) -> Workload:
        is_built_in = folder.is_relative_to(registry.WORKLOADS_FOLDER)
        return read_first(folder) if is_built_in else read(folder, extending)

    reader._read = read_built_in_once


def copy_records() -> None:
    """From now on a new record is a copy, which takes a third of the time that its tables take;
    `inspect.unwrap` of `schema.prepare` makes them anew."""
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
