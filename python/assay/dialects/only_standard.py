"""Standard SQL and nothing besides, for a system of which only its DB-API module is known."""

from __future__ import annotations

from assay.dialects.protocol import Table
from assay.dialects.standard import StandardSql


class OnlyStandardSql(StandardSql):
    """No statement is standard that brings statistics up to date."""

    name = "standard"
    begins_implicitly = True
    keeps_statistics = False

    def bulk_statement(self, table: Table) -> str:
        return self.insert(table)

    def multi_row_statement(self, table: Table) -> str | None:
        return self.insert(table)


ONLY_STANDARD = OnlyStandardSql()
