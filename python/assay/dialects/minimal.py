"""The base of dialects without optional abilities: no transactions, isolation levels, indexes,
foreign keys, statistics, marks on tables or read-only sessions.

A subclass must implement the abstract methods, and overrides the others for what its system
supports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.contracts.dialects import Dialect, Table
from assay.contracts.documents import TextStyle
from assay.errors import ArgumentError


class MinimalDialect(Dialect):
    text_style = TextStyle()
    bulk_form = "native"
    has_if_exists = True
    isolation_levels: tuple[str, ...] = ()
    own_isolation = ""
    language = "sql"
    unknown_statements: Mapping[str, str] = {}
    read_only_codes: tuple[str, ...] = ()
    error_fixes: Mapping[str, str] = {}

    def identifier(self, name: str) -> str:
        return name

    def create_marked_table(self, table: Table, options: Mapping[str, str], mark: str) -> list[str]:
        del mark
        return self.create_table(table, options)

    def marks_query(self, database: str) -> str | None:
        del database
        return None

    def create_indexes(self, table: Table) -> list[str]:
        del table
        return []

    def add_foreign_keys(self, table: Table, options: Mapping[str, str]) -> list[str]:
        del table, options
        return []

    def after_load(self, tables: Sequence[Table]) -> list[str]:
        del tables
        return []

    def multi_row_statement(self, table: Table) -> str | None:
        del table
        return None

    def delete_all(self, table: str) -> list[str]:
        raise self._lacks(f"deletion of all rows of {table}")

    def delete_where(self, table: str, column: str, texts: Sequence[str]) -> list[str]:
        del texts
        raise self._lacks(f"deletion of rows of {table} by {column}")

    def begin(self) -> list[str]:
        return []

    def begin_at(self, level: str) -> list[str]:
        if level:
            self.insist_on_level(level)
        return self.begin()

    def commit(self) -> list[str]:
        return []

    def rollback(self) -> list[str]:
        return []

    def session_isolation(self, level: str) -> list[str]:
        self.insist_on_level(level)
        return []

    def session_read_only(self) -> list[str]:
        return []

    def insist_on_level(self, level: str) -> None:
        """Raises `ArgumentError` for an isolation level that cannot be asked for here."""
        if level not in self.isolation_levels:
            known = ", ".join(self.isolation_levels)
            raise ArgumentError(
                f"the dialect {self.name} has no isolation level {level!r}",
                hint=f"it has: {known}" if known else "leave the isolation level out",
            )

    def _lacks(self, what: str) -> ArgumentError:
        return ArgumentError(f"the dialect {self.name} has no {what}")
