"""How CQL spells tables, their load and what is read of them.

A table is kept by its primary key: the first part decides on which nodes a row is (its partition),
the rest distinguishes the rows of a partition and orders them. A row of a key that is there already
replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.contracts.dialects import Column, Table
from assay.contracts.documents import TextStyle
from assay.dialects.minimal import MinimalDialect
from assay.dialects.standard import script_words
from assay.dialects.statements import NamedInText

# reserved_keywords.txt of Cassandra 5.0, and DEFAULT, which later versions reserve.
_RESERVED_WORDS = """
    add allow alter and apply asc authorize batch begin by columnfamily create default delete desc
    describe drop entries execute from full grant if in index infinity insert into is keyspace
    limit materialized modify nan norecursive not null of on or order primary rename revoke schema
    select set table to token truncate unlogged update use using view where with
"""
RESERVED_WORDS = frozenset(_RESERVED_WORDS.split())

ROW_ID = "row_id"
"""The key of a table for which none is declared: a random UUID, which scripts write as uuid()."""

_TYPE_WORDS = {
    "smallint": "smallint",
    "int": "int",
    "bigint": "bigint",
    "decimal": "decimal",
    "float": "float",
    "double": "double",
    "char": "text",
    "varchar": "text",
    "text": "text",
    "date": "date",
    "timestamp": "timestamp",  # of whole milliseconds
    "bool": "boolean",
    "bytes": "blob",
    "json": "text",
}
"""JSON is kept as text."""

_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class CqlDialect(NamedInText, MinimalDialect):
    """Numbers have no declared precision and texts no declared length. There is no NOT NULL, no
    default, no foreign key, and nothing is unique but the primary key."""

    own_tables = ("system.", "system_")
    name = "cql"
    text_style = TextStyle(nests_comments=False)
    language = "cql"
    script_words = script_words(
        {
            "expect_changed": "",  # it does not say how many
            "from_key": "token({0}) >= token({1})",  # partitions are in the order of their tokens
            "scan": "allow filtering",
        }
    )

    def identifier(self, name: str) -> str:
        """Unquoted names are read as small letters, here and in scripts."""
        if _PLAIN_NAME.fullmatch(name) and name.lower() not in RESERVED_WORDS:
            return name
        return self._quoted(name)

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        del options
        return [self._create(table, "")]

    def create_marked_table(self, table: Table, options: Mapping[str, str], mark: str) -> list[str]:
        del options
        return [self._create(table, mark)]

    def marks_query(self, database: str) -> str | None:
        return (
            "SELECT table_name, comment FROM system_schema.tables "
            f"WHERE keyspace_name = {self.literal(database)}"
        )

    def create_indexes(self, table: Table) -> list[str]:
        """An index is of one column, and no part of the key needs one: of an index of several
        columns it is the first. Values that may be long are not indexed."""
        partition, order = key_of(table)
        has_one = {partition[0], *order[:1]} if len(partition) == 1 else set()
        statements = []
        for index in table.indexes:
            first = table.column(index.columns[0])
            if first.name in has_one or first.wide or first.has_any_length:
                continue
            has_one.add(first.name)
            statements.append(
                f"CREATE INDEX {self.identifier(index.name)} ON {self.identifier(table.name)} "
                f"({self.identifier(first.name)}) USING 'sai'"
            )
        return statements

    def drop_table(self, table: Table) -> list[str]:
        return [f"DROP TABLE IF EXISTS {self.identifier(table.name)}"]

    def bulk_statement(self, table: Table) -> str:
        """Prepared once and sent for each row, many at a time."""
        return self.insert_row(table, ["?" for _ in table.columns])

    def insert_row(self, table: Table, values: Sequence[str]) -> str:
        """Of a table without a declared key with a new row id."""
        names = [self.identifier(column.name) for column in table.columns]
        if has_row_id(table):
            names.append(ROW_ID)
            values = [*values, "uuid()"]
        into = f"INSERT INTO {self.identifier(table.name)} ({', '.join(names)})"
        return f"{into} VALUES ({', '.join(values)})"

    def update_row(self, table: Table, column: str, value: str, key: str, key_value: str) -> str:
        change = f"{self.identifier(column)} = {value}"
        where = f"{self.identifier(key)} = {key_value}"
        return f"UPDATE {self.identifier(table.name)} SET {change} WHERE {where}"

    def exists(self, table: str) -> str:
        """The least that can be read: a LIMIT of 0 is refused."""
        return f"SELECT * FROM {self.identifier(table)} LIMIT 1"

    def count(self, table: str) -> str:
        return f"SELECT count(*) FROM {self.identifier(table)}"

    def read_all(self, table: str, columns: Sequence[str]) -> str:
        names = ", ".join(map(self.identifier, columns))
        return f"SELECT {names} FROM {self.identifier(table)}"

    def read_by_key(self, table: str, columns: Sequence[str], key: str, value: str) -> str:
        """Of a column that is neither key nor indexed every row is read."""
        where = f"{self.identifier(key)} = {value} ALLOW FILTERING"
        return f"{self.read_all(table, columns)} WHERE {where}"

    def delete_all(self, table: str) -> list[str]:
        return [f"TRUNCATE {self.identifier(table)}"]

    def delete_where(self, table: str, column: str, texts: Sequence[str]) -> list[str]:
        """Of a column that is the partition key; the server refuses any other."""
        literals = ", ".join(map(self.literal, texts))
        where = f"{self.identifier(column)} IN ({literals})"
        return [f"DELETE FROM {self.identifier(table)} WHERE {where}"] if texts else []

    def literal(self, text: str) -> str:
        doubled = text.replace("'", "''")
        return f"'{doubled}'"

    def _quoted(self, name: str) -> str:
        doubled = name.replace('"', '""')
        return f'"{doubled}"'

    def _create(self, table: Table, comment: str) -> str:
        partition, order = key_of(table)
        columns = [self._column(column) for column in table.columns]
        if has_row_id(table):
            columns.append(f"{ROW_ID} uuid")
        names = ", ".join(map(self.identifier, partition))
        first = names if len(partition) == 1 else f"({names})"
        key = ", ".join([first, *map(self.identifier, order)])
        body = ",\n  ".join([*columns, f"PRIMARY KEY ({key})"])
        ending = self._ending(table, order, comment)
        return f"CREATE TABLE {self.identifier(table.name)} (\n  {body}\n){ending}"

    def only_reads(self, statement: str) -> bool:
        """SELECT has no part that writes."""
        return statement.lstrip()[:7].upper().strip() == "SELECT"

    def _ending(self, table: Table, order: Sequence[str], comment: str) -> str:
        descending = table.partitioning.descending if table.partitioning else frozenset()
        parts = []
        if descending:
            ordered = ", ".join(
                f"{self.identifier(name)} {'DESC' if name in descending else 'ASC'}"
                for name in order
            )
            parts.append(f"CLUSTERING ORDER BY ({ordered})")
        if comment:
            parts.append(f"comment = {self.literal(comment)}")
        return f" WITH {' AND '.join(parts)}" if parts else ""

    def _column(self, column: Column) -> str:
        return f"{self.identifier(column.name)} {_type(column)}"


def _type(column: Column) -> str:
    """A list that is not frozen would be NULL where it is empty."""
    if column.element is not None:
        return f"frozen<list<{_TYPE_WORDS[column.element]}>>"
    return _TYPE_WORDS[column.family]


def has_row_id(table: Table) -> bool:
    """Whether no key is declared, so that Assay adds one."""
    return not table.primary_key and table.partitioning is None


def key_of(table: Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of the partition key, and those that order the rows of a partition: as declared,
    else the first column of the primary key and the others."""
    if table.partitioning is not None:
        return table.partitioning.by, table.partitioning.order
    if table.primary_key:
        return table.primary_key[:1], table.primary_key[1:]
    return (ROW_ID,), ()


CQL = CqlDialect()
