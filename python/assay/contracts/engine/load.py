"""What is loaded, as the engine takes it (`LoadDocument`); what it says while it works
(`LoadProgress`) and of the work that is done (`LoadReport`)."""

from __future__ import annotations

from typing import NotRequired, TypedDict, final

import msgspec

from assay.contracts.engine.document import EngineDocument
from assay.contracts.engine.site import SiteDocument


class TableDocument(EngineDocument, frozen=True, kw_only=True):
    name: str
    bulk: str
    """The statement that takes its rows."""
    form: str
    """``native`` or ``multi-row``."""
    types: tuple[str, ...] = ()
    """The neutral types of its columns."""


class LoadDocument(EngineDocument, frozen=True, kw_only=True):
    site: SiteDocument
    before: tuple[str, ...] = ()
    """Statements that each session runs first."""
    tables: tuple[TableDocument, ...]
    after: tuple[str, ...] = ()
    on_error: tuple[str, ...] = ()
    sessions: int = 1
    checksums: bool = False


@final
class LoadProgress(TypedDict):
    """How far a load is; the totals are the laboratory's."""

    table: str
    rows: int
    bytes_read: int
    bytes_sent: int
    elapsed_s: float
    bytes_total: NotRequired[int | None]
    """None: not known."""
    rows_total: NotRequired[int | None]


@final
class CopyProgress(TypedDict):
    """How far a copy of files is, which is made in place of a load."""

    bytes_copied: int
    bytes_total: int


class TableReport(msgspec.Struct, frozen=True):
    name: str
    rows: int
    affected: int
    bytes: int
    checksum: str | None
    """None: not asked for."""


class LoadReport(msgspec.Struct, frozen=True):
    tables: tuple[TableReport, ...]
    elapsed_ns: int
    bytes_sent: int
    sessions: int
