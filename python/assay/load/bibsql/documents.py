"""Bibliographies, as the engine takes them (`BibDocument`, `SqlDocument`), and what it says of them
(`Scan`)."""

from __future__ import annotations

from typing import TypedDict

from msgspec import UNSET, UnsetType

from assay.contracts.engine.document import EngineDocument
from assay.load.row_sources.request import Problem


class Replicas(EngineDocument, frozen=True, kw_only=True):
    """How a bibliography is enlarged."""

    count: int
    variant: str | UnsetType = UNSET
    seed: int
    reported: tuple[tuple[str | None, str | None], ...] | UnsetType = UNSET
    """(file, label) of entries without replicas."""


class BibDocument(EngineDocument, frozen=True, kw_only=True):
    """Where the rows come from."""

    kind: str | UnsetType = UNSET
    """``bib``, where there are sources of other kinds."""
    files: tuple[str, ...]
    encoding: str
    keep_going: bool
    strict: bool | UnsetType = UNSET
    replicas: Replicas | UnsetType | None = UNSET
    only: tuple[str, ...] | UnsetType | None = UNSET
    """Names of the files whose rows are made; None: all."""


class ScanDocument(EngineDocument, frozen=True, kw_only=True):
    """Files that are read, and nothing is made of them."""

    files: tuple[str, ...]
    encoding: str
    keep_going: bool
    strict: bool | UnsetType = UNSET


class TableName(EngineDocument, frozen=True, kw_only=True):
    """As the dialect writes it."""

    table: str
    columns: tuple[str, ...]


class SqlDocument(EngineDocument, frozen=True, kw_only=True):
    """All that an SQL script says, and where its rows come from."""

    source: BibDocument
    literal_style: str
    carriage_return: str | None
    header: tuple[str, ...]
    create: tuple[str, ...]
    begin: str
    commit: str
    rollback: str
    tables: tuple[TableName, ...]


class Problems(TypedDict):
    """The first hundred, and how many there are."""

    kept: list[Problem]
    errors: int
    warnings: int
    skipped_entries: int
    skipped_bytes: int
    """Up to the places where reading continued."""


class Scan(TypedDict):
    """Of all files together, as far as it is read here."""

    bytes: int
    entries: int
    """Without those left out."""
    problems: Problems
    fingerprint: str
