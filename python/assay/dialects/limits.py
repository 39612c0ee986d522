"""Takes tables and what a dialect declares of its systems' limits; returns where the tables go
beyond them; and the base of dialects whose indexes hold only values of bounded length."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.dialects import Column, Index, Table
from assay.dialects.standard import InsertingSql, may_be_long

_FIXED_BYTES = 8
"""Of a number or a time, at the most."""


class SchemaLimits(Struct, frozen=True):
    """What a table of such a system can be. None: there is no limit, or none that is known."""

    source: str
    """Where these limits are written down."""
    identifier_length: int | None = None
    """Characters of the name of a table or column."""
    columns: int | None = None
    """Of a table."""
    varchar_length: int | None = None
    """The largest n of varchar(n) and char(n)."""
    row_bytes: int | None = None
    """Of all columns of a table together, without texts that are kept elsewhere."""
    bytes_per_character: int = 4
    searches_text: bool = True
    """Whether values of the type that ``text`` becomes can be compared, sorted and searched."""
    indexes_text: bool = True
    """Whether an index can hold such values, or their beginning."""


@runtime_checkable
class Limited(Protocol):
    """A dialect that declares the limits of its systems."""

    language: str
    limits: SchemaLimits

    def kept(self, table: Table) -> Table:
        """The table with the types that its values are kept in."""
        ...


class Beyond(Struct, frozen=True):
    """One place where a table goes beyond a limit."""

    table: str
    column: str
    """Empty: the table as a whole."""
    what: str
    """``row``, ``width``, ``searched text`` …"""
    needed: str
    limit: str
    can_be_made: bool
    """Whether the table can be made, but not be searched or indexed as the workload means."""

    def sentence(self) -> str:
        place = f"{self.table}.{self.column}" if self.column else self.table
        return f"{place}: {self.what} of {self.needed}, at most {self.limit}"


def beyond(tables: Sequence[Table], dialect: Limited) -> tuple[Beyond, ...]:
    """All of them, in the order of the tables."""
    kept = map(dialect.kept, tables)
    return tuple(one for table in kept for one in _of_table(table, dialect.limits))


def _of_table(table: Table, limits: SchemaLimits) -> Iterator[Beyond]:
    longest = limits.identifier_length
    for column, name in (("", table.name), *((one.name, one.name) for one in table.columns)):
        if longest is not None and len(name) > longest:
            needed = f"{len(name)} characters"
            yield Beyond(
                table.name, column, "name", needed, f"{longest} characters", can_be_made=False
            )
    if limits.columns is not None and len(table.columns) > limits.columns:
        needed = f"{len(table.columns)} columns"
        yield Beyond(
            table.name, "", "table", needed, f"{limits.columns} columns", can_be_made=False
        )
    for one in table.columns:
        yield from _of_column(table, one, limits)
    row_bytes = sum(_bytes_of(one, limits) for one in table.columns)
    if limits.row_bytes is not None and row_bytes > limits.row_bytes:
        needed = f"{row_bytes} bytes"
        yield Beyond(table.name, "", "row", needed, f"{limits.row_bytes} bytes", can_be_made=False)


def _of_column(table: Table, column: Column, limits: SchemaLimits) -> Iterator[Beyond]:
    length = _length_of(column)
    if limits.varchar_length is not None and length > limits.varchar_length:
        needed, limit = f"{length} characters", f"{limits.varchar_length} characters"
        yield Beyond(table.name, column.name, "width", needed, limit, can_be_made=False)
    if column.family != "text":
        return
    limit = "varchar"
    if limits.varchar_length is not None:
        limit = f"{limits.varchar_length} characters (varchar)"
    if not limits.searches_text:
        yield Beyond(
            table.name, column.name, "searched text", "any length", limit, can_be_made=True
        )
    indexed = {name for index in table.indexes for name in index.columns}
    if not limits.indexes_text and column.name in indexed:
        yield Beyond(table.name, column.name, "indexed text", "any length", limit, can_be_made=True)


def _length_of(column: Column) -> int:
    """The n of char(n) and varchar(n); 0 of other types."""
    found = re.fullmatch(r"(?:var)?char\((\d+)\)", column.type)
    return int(found[1]) if found else 0


def _bytes_of(column: Column, limits: SchemaLimits) -> int:
    length = _length_of(column)
    if length:
        return length * limits.bytes_per_character + 2
    return 0 if column.has_any_length else _FIXED_BYTES


class BoundedIndexes(InsertingSql):
    """No statement of theirs begins a transaction that their drivers would know of."""

    has_if_exists = False
    adds_keys_together = False
    needs_not_null_in_keys = False
    """Whether the columns of a key must be declared NOT NULL."""

    short_text = "varchar(400)"
    """What a text is kept as that an index holds whole: at most 1600 bytes, for which an index of
    each of these systems has room."""

    def kept(self, table: Table) -> Table:
        """A text that an index holds whole is short, and could neither be indexed nor, in most of
        these systems, be compared or sorted as a large object."""
        indexed = {name for index in table.indexes for name in index.columns}
        columns = (
            replace(column, type=self.short_text)
            if column.type == "text" and column.name in indexed and not column.wide
            else column
            for column in table.columns
        )
        return replace(table, columns=tuple(columns))

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        return super().create_table(self.kept(table), options)

    def can_be_unique(self, column: Column) -> bool:
        return not may_be_long(column) and (column.not_null or not self.needs_not_null_in_keys)

    def columns(self, table: Table) -> list[str]:
        if not self.needs_not_null_in_keys:
            return super().columns(table)
        return [
            self._column(
                Column(
                    column.name,
                    column.type,
                    not_null=column.not_null or column.name in table.primary_key,
                    wide=column.wide,
                    default=column.default,
                )
            )
            for column in table.columns
        ]

    def create_indexes(self, table: Table) -> list[str]:
        """None over a column that an index cannot hold, and none that a key of the table is
        already."""
        table = self.kept(table)
        unique = [
            columns
            for columns in table.unique
            if all(self.can_be_unique(table.column(name)) for name in columns)
        ]
        keys = (table.primary_key, *unique)
        on = f" ON {self.identifier(table.name)}"
        return [
            f"CREATE {self.index(table, index, on)}"
            for index in table.indexes
            if self._fits(table, index) and index.columns not in keys
        ]

    def _fits(self, table: Table, index: Index) -> bool:
        return not any(may_be_long(table.column(name)) for name in index.columns)

    def create_marked_table(self, table: Table, options: Mapping[str, str], mark: str) -> list[str]:
        return [*self.create_table(table, options), self.comment_on(table, mark)]

    def begin_at(self, level: str) -> list[str]:
        """The level is the first statement of the transaction."""
        if not level:
            return self.begin()
        self.insist_on_level(level)
        return [*self.begin(), f"SET TRANSACTION ISOLATION LEVEL {level.upper()}"]
