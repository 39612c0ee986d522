"""Standard SQL and nothing besides, for a system of which only its DB-API module is known."""

from __future__ import annotations

from collections.abc import Sequence

from assay.dialects.protocol import Table
from assay.dialects.standard import StandardSql


class OnlyStandardSql(StandardSql):
    """No statement is standard that brings statistics up to date."""

    name = "standard"
    begins_implicitly = True

    def bulk_statement(self, table: Table) -> str:
        return self.insert(table)

    def multi_row_statement(self, table: Table) -> str | None:
        return self.insert(table)

    def after_load(self, tables: Sequence[Table]) -> list[str]:
        del tables
        return []


ONLY_STANDARD = OnlyStandardSql()
