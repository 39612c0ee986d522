"""Neutral tables, and what a dialect must be able to spell. Pure text; nothing is sent from
here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Column:
    """A column in neutral terms. ``type``: int, bigint, decimal(p,s), float, double, char(n),
    varchar(n), text, date, timestamp, bool, bytes."""

    name: str
    type: str
    not_null: bool = False
    wide: bool = False
    """Values may be longer than an index entry can be: a dialect indexes a prefix."""


@dataclass(frozen=True)
class Index:
    name: str
    columns: tuple[str, ...]
    unique: bool = False


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    """Column lists that a dialect declares UNIQUE where it can hold such values whole."""
    indexes: tuple[Index, ...] = ()

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)


class Dialect(Protocol):
    name: str
    server_names: tuple[str, ...]
    """Names `bibtosql --server` knows it by, the proper one first."""
    literal_style: str
    """How a text literal is quoted: ``doubled`` (quotes doubled) or ``backslash`` (quotes and
    backslashes escaped by a backslash)."""
    bulk_form: str
    """``native`` or ``multi-row``: the engine's `BulkForm`."""

    def identifier(self, name: str) -> str:
        """The name, quoted only where the dialect reserves it."""
        ...

    def create_table(self, table: Table, options: Mapping[str, str]) -> list[str]:
        """Statements that make the table without its indexes (``options``: the system's own)."""
        ...

    def create_indexes(self, table: Table) -> list[str]: ...

    def drop_table(self, table: Table) -> list[str]:
        """Statements that leave no such table, also where there is none."""
        ...

    def bulk_statement(self, table: Table) -> str:
        """What `Request::Bulk` sends for ``bulk_form``: columns in the table's order."""
        ...

    def multi_row_statement(self, table: Table) -> str | None:
        """``INSERT INTO t (…) VALUES`` for the fallback, None where there is none to need."""
        ...

    def begin(self) -> str: ...

    def commit(self) -> str: ...

    def rollback(self) -> str: ...

    def script_prologue(self, database: str, create: bool) -> list[str]:
        """What a script of SQL text for this dialect's own client says before anything else
        (drop and create the database, choose it, set the literal style)."""
        ...

    def after_load(self, tables: Sequence[Table]) -> list[str]:
        """Statements that bring statistics up to date after a load (ANALYZE)."""
        ...

    def literal(self, text: str | None) -> str:
        """The value as a literal."""
        ...
