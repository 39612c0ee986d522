"""Takes a loaded deployment and the files its rows came from; brings the rows of changed files up
to date.

Section 4 of Beebe (2011): a job that runs several times a day finds the files that were written
after a timestamp file, deletes all rows of those files and inserts them anew. Deleting first avoids
duplicates where nothing in the schema forbids them. Here it is one transaction.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.bibsql.declared import FileRows
from assay.dialects.protocol import Dialect, Table
from assay.load.fill import fill
from assay.load.tables import count
from assay.provision.deployment import Deployment
from assay.row_sources.request import DataRequest


@dataclass(frozen=True)
class UpdateReport:
    deleted_rows: int
    inserted_rows: int
    elapsed_ns: int


def mark(timestamp_file: Path) -> None:
    """Writes the timestamp file. Call it *before* looking at the files, so that what is written
    while the update runs is found by the next one."""
    timestamp_file.write_text(f"{time.time_ns()}\n")


def changed_files(files: Iterable[Path], timestamp_file: Path) -> list[Path]:
    """Files written since the timestamp file was; all of them where there is none.

    The two times come from the same file system clock. Equal counts as changed: doing a file twice
    is harmless, missing one is not.
    """
    if not timestamp_file.exists():
        return list(files)
    since_ns = timestamp_file.stat().st_mtime_ns
    return [file for file in files if file.stat().st_mtime_ns >= since_ns]


def update(
    deployment: Deployment,
    dialect: Dialect,
    tables: Sequence[Table],
    rule: FileRows,
    request: DataRequest,
    changed: Sequence[str],
    vanished: Sequence[str] = (),
) -> UpdateReport:
    """Deletes the rows of the files named in ``changed`` and ``vanished`` and inserts those of
    ``changed`` anew, in one transaction; ``request`` names all files as they are now."""
    document = request.source
    assert not callable(document), "a bibliography is read by the engine"
    before_rows = _rows_of(deployment, dialect, tables, rule)
    began_ns = time.monotonic_ns()
    report = fill(
        deployment,
        dialect,
        tables,
        {**document, "only": list(changed)},
        before=[
            *dialect.delete_where(rule.table, rule.key, [*changed, *vanished]),
            *(statement for name in rule.rebuilt for statement in dialect.delete_all(name)),
        ],
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
