"""Standard SQL and nothing besides, for a system of which only its DB-API module is known."""

from __future__ import annotations

from collections.abc import Mapping

from assay.contracts.dialects.protocol import Table
from assay.dialects import reads
from assay.dialects.standard import StandardSql


class OnlyStandardSql(StandardSql):
    """No statement is standard that brings statistics up to date."""

    name = "standard"
    begins_implicitly = True
    has_if_exists = False
    error_phrases: Mapping[str, str] = {
        "no such table": "unknown object",
        "table not found": "unknown object",
        "table unknown": "unknown object",
        "unknown table": "unknown object",
        "table or view does not exist": "unknown object",
    }
    keeps_statistics = False

    def session_read_only(self) -> list[str]:
        """None: few databases know the standard's."""
        return []

    def only_reads(self, statement: str) -> bool:
        return reads.only_reads(statement)

    def bulk_statement(self, table: Table) -> str:
        return self.insert(table)

    def multi_row_statement(self, table: Table) -> str | None:
        return self.insert(table)


ONLY_STANDARD = OnlyStandardSql()
