"""What a process that runs the engine for another one and that one say to each other, as JSON.

Documents of the engine, and what it says of its progress, are passed on as text.
"""

from __future__ import annotations

from typing import Any, TypedDict


class PlaceInFleet(TypedDict):
    """Which of how many generators a process is."""

    generator: int
    of: int


class EngineRequest(TypedDict, total=False):
    """``call`` names a method of `assay.provision.engine.engine_process.Calls`; the other keys are
    its arguments. ``begin`` and ``rows`` answer a question of the process; the last three are said
    while clients work."""

    call: str
    module: str
    deployment: str
    document: str
    statement: str
    types: list[str] | None
    upto: int
    source: str
    tables: list[str]
    lease_s: float | None
    part_file: str
    """Where the process keeps its observation if the one that asked is lost."""
    part: PlaceInFleet
    run: int
    epoch: int
    """The drive that this belongs to. A process that knows one hears no other, and says which it is
    in each message."""
    begin: int
    """The instant at which clients begin, on the monotonic clock of the process, in nanoseconds."""
    rows: str
    alive: bool
    """The one that says it is there, and the lease begins anew."""
    clock: int
    """The clock is asked for: so often, with this time, one question behind the other."""
    stop: bool
    """Clients are to end."""


class FileMistake(TypedDict, total=False):
    """What is wrong with a file, and where."""

    message: str
    file: str
    line: int
    """From 1; 0: of the whole file."""
    column: int
    """From 1; 0: of the whole line."""
    hint: str | None


class ErrorFields(FileMistake, total=False):
    """Of `assay._engine.EngineError`."""

    kind: str
    error_class: str
    certainty: str
    code: str


class Message(TypedDict, total=False):
    """It has one key beside ``run`` and ``epoch``. ``value`` or ``error`` ends a call;
    ``ready`` and ``more`` are questions."""

    value: Any
    """What the call returned."""
    error: ErrorFields
    progress: str
    clock: ClockReading
    """What was asked for while clients work."""
    ready: bool
    more: str
    """The table whose next rows are asked for."""
    run: int
    epoch: int
    """Those that it was given, where it was given any."""


class ClockReading(TypedDict):
    """The answer to ``clock``."""

    monotonic_ns: int
    unix_ns: int


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
