"""Takes a loaded deployment and the files its rows came from; brings the rows of changed files up
to date.

Section 4 of Beebe (2011): a job that runs several times a day finds the files that were written
after a timestamp file, deletes all rows of those files and inserts them anew. Deleting first avoids
duplicates where nothing in the schema forbids them. Here it is one transaction.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec import Struct, structs

from assay.contracts.deployment import Deployment
from assay.contracts.dialects.protocol import Dialect, LocksTables, Table
from assay.load.bibsql.declared import FileRows
from assay.load.bibsql.documents import BibDocument
from assay.load.fill import OnProgress, fill
from assay.load.tables import count


class Replaced(Struct, frozen=True):
    inserted_rows: int
    elapsed_ns: int


class LoadedTables(Struct, frozen=True):
    """Tables whose rows follow files by ``rule``."""

    deployment: Deployment
    dialect: Dialect
    tables: Sequence[Table]
    rule: FileRows

    def count(self) -> int:
        """The rows of all files."""
        table = next(table for table in self.tables if table.name == self.rule.table)
        return count(self.deployment, self.dialect, [table])[table.name]

    def replace(
        self,
        source: BibDocument,
        changed: Sequence[str],
        removed: Sequence[str] = (),
        progress: OnProgress | None = None,
    ) -> Replaced:
        """Deletes the rows of the files named in ``changed`` and ``removed`` and inserts those of
        ``changed`` anew, in one transaction; ``source`` is the engine's document that names all
        files as they are now."""
        began_ns = time.monotonic_ns()
        report = fill(
            self.deployment,
            self.dialect,
            self.tables,
            structs.replace(source, only=tuple(changed)),
            before=[
                *lock(self.dialect, self.rule),
                *deletes(self.dialect, self.rule, [*changed, *removed]),
            ],
            progress=progress,
        )
        sent = {table.name: table.rows for table in report.tables}
        return Replaced(sent.get(self.rule.table, 0), time.monotonic_ns() - began_ns)


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
