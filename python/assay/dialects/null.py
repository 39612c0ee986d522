"""Plain standard SQL, for a system that reads only the first words of it."""

from __future__ import annotations

from assay.contracts.dialects.protocol import NamedTables, Table
from assay.dialects.standard import StandardSql


class NullDialect(StandardSql):
    name = "null"
    keeps_statistics = False

    def tables_named(self, statement: str) -> NamedTables:
        """None: it keeps no rows."""
        del statement
        return NamedTables()

    def session_read_only(self) -> list[str]:
        """Nothing: there is nothing that it would refuse."""
        return []

    def bulk_statement(self, table: Table) -> str:
        """What every null system understands, whatever protocol it speaks."""
        columns = ", ".join(self.identifier(column.name) for column in table.columns)
        return f"COPY {self.identifier(table.name)} ({columns}) FROM STDIN"

    def multi_row_statement(self, table: Table) -> str | None:
        return self.insert(table)


NULL = NullDialect()
