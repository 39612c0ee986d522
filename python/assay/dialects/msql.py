"""How mSQL, whose language is a small part of SQL, makes tables and adds rows.

It has whole numbers of 32 bits, real numbers and texts of bounded length; no aggregates, joins of a
table with itself, subqueries or transactions, and an index for nothing but a primary key of one
column (version 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.contracts.dialects import Column, Table
from assay.contracts.documents import TextStyle
from assay.dialects.minimal import MinimalDialect
from assay.dialects.standard import script_words
from assay.errors import ArgumentError

MAX_FIELDS = 40
MAX_NAME_LENGTH = 20

_TYPES = {
    "smallint": "int",
    "int": "int",
    "bool": "int",
    "float": "real",
    "double": "real",
    "date": "char(10)",
    "timestamp": "char(26)",
}


class MsqlDialect(MinimalDialect):
    name = "msql"
    text_style = TextStyle(backslash_escapes=True, nests_comments=False)
    bulk_form = "multi-row"
    script_words = script_words({"expect_changed": ""})  # it does not say how many

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        """A primary key of several columns is left out, as are UNIQUE and foreign keys.

        Raises `ArgumentError` for a table that mSQL cannot hold.
        """
        del options
        if len(table.columns) > MAX_FIELDS:
            raise ArgumentError(
                f"the table {table.name} has {len(table.columns)} columns, mSQL has at most "
                f"{MAX_FIELDS}"
            )
        for name in (table.name, *(column.name for column in table.columns)):
            if len(name) > MAX_NAME_LENGTH:
                raise ArgumentError(
                    f"the table {table.name}: the name {name} is longer than {MAX_NAME_LENGTH} "
                    "characters, the most that mSQL has"
                )
        key = table.primary_key[0] if len(table.primary_key) == 1 else None
        lines = ",\n  ".join(
            f"{column.name} {self._type(table, column)}"
            + (" primary key" if column.name == key else " not null" if column.not_null else "")
            for column in table.columns
        )
        return [f"CREATE TABLE {table.name} (\n  {lines}\n)"]

    def create_indexes(self, table: Table) -> list[str]:
        """Raises `ArgumentError` where there are any."""
        if table.indexes:
            raise self._lacks(f"index {table.indexes[0].name}: it has none beside a primary key")
        return []

    def drop_table(self, table: Table) -> list[str]:
        """There is no IF EXISTS: without the table it is refused as unknown."""
        return [f"DROP TABLE {table.name}"]

    def bulk_statement(self, table: Table) -> str:
        columns = ", ".join(column.name for column in table.columns)
        return f"INSERT INTO {table.name} ({columns}) VALUES"

    def multi_row_statement(self, table: Table) -> str | None:
        """The driver sends a statement for each row: mSQL takes one."""
        return self.bulk_statement(table)

    def exists(self, table: str) -> str:
        """It reads the whole table: no condition can be asked without the name of a column."""
        return f"SELECT * FROM {table}"

    def count(self, table: str) -> str | None:
        """None: there are no aggregates."""
        del table
        return None

    def read_all(self, table: str, columns: Sequence[str]) -> str:
        return f"SELECT {', '.join(columns)} FROM {table}"

    def read_by_key(self, table: str, columns: Sequence[str], key: str, value: str) -> str:
        return f"{self.read_all(table, columns)} WHERE {key} = {value}"

    def delete_all(self, table: str) -> list[str]:
        return [f"DELETE FROM {table}"]

    def delete_where(self, table: str, column: str, texts: Sequence[str]) -> list[str]:
        """A statement for each text: there is no IN."""
        return [f"DELETE FROM {table} WHERE {column} = {_literal(text)}" for text in texts]

    def _type(self, table: Table, column: Column) -> str:
        if column.family in ("char", "varchar"):
            return f"char{column.type.removeprefix(column.family)}"
        if column.family not in _TYPES:
            raise ArgumentError(
                f"the table {table.name}: mSQL has no type for the column {column.name}, which is "
                f"{column.type}",
                hint="it has int (32 bits), float, double, char(n) and varchar(n)",
            )
        return _TYPES[column.family]


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


MSQL = MsqlDialect()
