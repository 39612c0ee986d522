"""What a process that calls DB-API modules and the one that started it say to each other, as JSON.

Documents of the engine, and what it says of its progress, are passed on as text.
"""

from __future__ import annotations

from typing import Any, TypedDict


class Request(TypedDict, total=False):
    """``call`` names a method of `assay.provision.engine.dbapi.process.Calls`; the other keys are
    its arguments. The last two answer a question of the process."""

    call: str
    module: str
    deployment: str
    document: str
    statement: str
    types: list[str] | None
    upto: int
    source: str
    tables: list[str]
    begin: int
    rows: str


class ErrorFields(TypedDict, total=False):
    """Of `assay._engine.EngineError`."""

    kind: str
    message: str
    error_class: str
    certainty: str
    code: str
    file: str
    line: int
    column: int
    hint: str | None


class Message(TypedDict, total=False):
    """It has one key. ``value`` or ``error`` ends a call; ``ready`` and ``more`` are questions."""

    value: Any
    """What the call returned."""
    error: ErrorFields
    progress: str
    ready: bool
    more: str
    """The table whose next rows are asked for."""


class Examined(TypedDict, total=False):
    """What a module is, where it can be imported: the first four."""

    version: str
    place: str
    connects: bool
    paramstyle: str | None
    exception: str
    words: str
    missing: str | None
    """The module that is not there."""
    is_import: bool
    """Whether the exception is an `ImportError`."""
    ended: int | str
    """The exit status with which the module ended the program."""


class TextRows(TypedDict):
    """The answer to one statement, in text form."""

    is_query: bool
    columns: list[str]
    rows: list[tuple[str | None, ...]]
    affected: int
