"""Takes tables and what a dialect declares of its systems' limits; returns where the tables go
beyond them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct

from assay.contracts.dialects.protocol import Column, Table

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
