"""Plain standard SQL for a system that reads only the first words of it, and documents for the
null systems whose statements are documents of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assay.contracts.dialects import NamedTables, Table
from assay.dialects.minimal import MinimalDialect
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


class NullDocumentsDialect(MinimalDialect):
    name = "null_documents"
    language = "json"

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        del options
        return [_document(create=table.name)]

    def drop_table(self, table: Table) -> list[str]:
        return [_document(drop=table.name)]

    def bulk_statement(self, table: Table) -> str:
        return _document(insert=table.name, fields=[column.name for column in table.columns])

    def exists(self, table: str) -> str:
        return _document(find=table, limit=1)

    def count(self, table: str) -> str:
        return _document(count=table)

    def read_all(self, table: str, columns: Sequence[str]) -> str:
        return _document(find=table, projection=_projection(columns))

    def read_by_key(self, table: str, columns: Sequence[str], key: str, value: str) -> str:
        filtered = f'{{"find": {json.dumps(table)}, "filter": {{{json.dumps(key)}: {value}}}'
        return f'{filtered}, "projection": {json.dumps(_projection(columns))}}}'


def _projection(columns: Sequence[str]) -> dict[str, int]:
    return dict.fromkeys(columns, 1)


def _document(**names: Any) -> str:
    return json.dumps(names)


NULL_DOCUMENTS = NullDocumentsDialect()
