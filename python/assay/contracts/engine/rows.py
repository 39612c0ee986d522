"""Tables whose rows the engine makes, as it takes them (`GeneratedDocument`), and how many they
are, as it says it (`Measure`)."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from assay.contracts.engine.document import EngineDocument

Scalar = str | int | float | bool


class GeneratedColumn(EngineDocument, frozen=True, kw_only=True):
    name: str
    type: str
    value: str
    """An expression."""
    line: int
    """With the next: where it stands in the file."""
    column: int


class GeneratedTable(EngineDocument, frozen=True, kw_only=True):
    name: str
    instance: int | None
    rows: str
    """The expression of their number."""
    line: int
    per: str | None
    """The table for each of whose rows it has that many."""
    is_loaded: bool | UnsetType = UNSET
    """False: other tables are made from it."""
    columns: tuple[GeneratedColumn, ...]


class GeneratedDocument(EngineDocument, frozen=True, kw_only=True):
    kind: str = "generated"
    seed: int
    file: str
    """In messages: where the expressions stand."""
    variables: dict[str, Scalar]
    tables: tuple[GeneratedTable, ...]
    part: tuple[int, int] | UnsetType = UNSET
    """Its number, from 1, of so many; left out: all rows."""


class ExportDocument(EngineDocument, frozen=True, kw_only=True):
    """How the rows of a table are written."""

    table: str
    form: str
    """``csv`` or ``sql``; of the latter all but the next."""
    header: bool | UnsetType = UNSET
    insert: str | UnsetType = UNSET
    """The beginning of the statement."""
    literal_style: str | UnsetType = UNSET
    has_braced_arrays: bool | UnsetType = UNSET
    rows_per_statement: int | UnsetType = UNSET


class TableMeasure(msgspec.Struct, frozen=True):
    name: str
    rows: int
    bytes: int
    """About so many."""
    checksum: str | None
    """None: not asked for."""


class Measure(msgspec.Struct, frozen=True):
    tables: tuple[TableMeasure, ...]
