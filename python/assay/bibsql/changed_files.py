"""Takes a loaded deployment and the files its rows came from; brings the rows of changed files up
to date.

Section 4 of Beebe (2011): a job that runs several times a day finds the files that were written
after a timestamp file, deletes all rows of those files and inserts them anew. Deleting first avoids
duplicates where nothing in the schema forbids them. Here it is one transaction.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.bibsql.declared import FileRows
from assay.dialects.protocol import Dialect, LocksTables, Table
from assay.load.fill import OnProgress, fill
from assay.load.tables import count
from assay.provision.deployment import Deployment


@dataclass(frozen=True)
class UpdateReport:
    deleted_rows: int
    inserted_rows: int
    elapsed_ns: int


def lock(dialect: Dialect, rule: FileRows) -> list[str]:
    """Statements that come before the deletes: another update waits until this one has ended."""
    return dialect.lock_table(rule.table) if isinstance(dialect, LocksTables) else []


def unlock(dialect: Dialect, rule: FileRows) -> list[str]:
    """Statements that come after the end of the transaction."""
    return dialect.unlock_table(rule.table) if isinstance(dialect, LocksTables) else []


def deletes(dialect: Dialect, rule: FileRows, names: Sequence[str]) -> list[str]:
    """Statements that delete the rows of the files of these names, file by file, and all rows of
    the tables that are made anew."""
    statements = []
    for name in names:
        statements += dialect.delete_where(rule.table, rule.key, [name])
    for table in rule.rebuilt:
        statements += dialect.delete_all(table)
    return statements


def update(
    deployment: Deployment,
    dialect: Dialect,
    tables: Sequence[Table],
    rule: FileRows,
    source: Mapping[str, Any],
    changed: Sequence[str],
    vanished: Sequence[str] = (),
    progress: OnProgress | None = None,
) -> UpdateReport:
    """Deletes the rows of the files named in ``changed`` and ``vanished`` and inserts those of
    ``changed`` anew, in one transaction; ``source`` is the engine's document that names all files
    as they are now."""
    before_rows = _rows_of(deployment, dialect, tables, rule)
    began_ns = time.monotonic_ns()
    report = fill(
        deployment,
        dialect,
        tables,
        {**source, "only": list(changed)},
        before=[*lock(dialect, rule), *deletes(dialect, rule, [*changed, *vanished])],
        progress=progress,
    )
    elapsed_ns = time.monotonic_ns() - began_ns
    inserted = _rows_sent(report, rule.table)
    return UpdateReport(
        deleted_rows=before_rows + inserted - _rows_of(deployment, dialect, tables, rule),
        inserted_rows=inserted,
        elapsed_ns=elapsed_ns,
    )


def _rows_sent(report: dict[str, Any], table: str) -> int:
    return next((int(sent["rows"]) for sent in report["tables"] if sent["name"] == table), 0)


def _rows_of(
    deployment: Deployment, dialect: Dialect, tables: Sequence[Table], rule: FileRows
) -> int:
    return count(deployment, dialect, [table for table in tables if table.name == rule.table])[
        rule.table
    ]
