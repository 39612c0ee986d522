"""What is loaded, as the engine takes it (`LoadDocument`); what it says while it works
(`LoadProgress`) and of the work that is done (`LoadReport`)."""

from __future__ import annotations

import msgspec

from assay.contracts.engine.deployment import DeploymentDocument
from assay.contracts.engine.document import EngineDocument


class TableDocument(EngineDocument, frozen=True, kw_only=True):
    name: str
    bulk: str
    """The statement that takes its rows."""
    form: str
    """``native`` or ``multi-row``."""
    types: tuple[str, ...] = ()
    """The neutral types of its columns."""


class LoadDocument(EngineDocument, frozen=True, kw_only=True):
    deployment: DeploymentDocument
    before: tuple[str, ...] = ()
    """Statements that each session runs first."""
    tables: tuple[TableDocument, ...]
    after: tuple[str, ...] = ()
    on_error: tuple[str, ...] = ()
    sessions: int = 1
    checksums: bool = False


class LoadProgress(msgspec.Struct, frozen=True):
    """How far a load is, at most ten times a second."""

    table: str
    """The current one; with several sessions, that of the slowest."""
    rows: int
    """Of all tables."""
    bytes_read: int
    """Of the source's input."""
    bytes_sent: int
    elapsed_s: float


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
