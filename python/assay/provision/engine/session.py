"""Takes an `Address`; returns a session for schema, counts and queries, outside any measurement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import NoReturn

from assay import _engine
from assay.contracts.deployment import Address
from assay.errors import (
    RESOURCES,
    AssayError,
    Bug,
    InputError,
    MachineLimit,
    RunFailed,
    ScriptError,
    SystemDied,
    SystemRefused,
    SystemUnderTestError,
    resources_hint,
)
from assay.provision.engine.engine_calls import Session, open_session
from assay.text.mentions import phrase

LOST = "lost connection"
"""The engine's error class for a lost session."""

CREATED_BY_SCRIPT = phrase(
    "statements are prepared before the run; if the script itself creates the "
    "object, add {--protocol extended}"
)
BRIEF_ANSWER_S = 15.0
"""The timeout of each query of a `brief_session`."""
_RESPONSE_S = 3.0


@contextmanager
def session(address: Address) -> Iterator[Session]:
    """An open session, closed at the end; the engine's errors come out as Assay's."""
    try:
        opened = open_session(address.for_engine())
        try:
            yield opened
        finally:
            opened.close()
    except _engine.EngineError as error:
        raise_as_ours(error)


def brief_session(address: Address) -> AbstractContextManager[Session]:
    """A session for queries that a server answers at once. Raises `SystemDied` where it does not:
    one that is stopped keeps its sessions open and never answers."""
    return session(replace(address, answer_timeout_s=BRIEF_ANSWER_S))


def responds(address: Address) -> bool:
    """Whether the system opens a session within a few seconds."""
    try:
        with session(replace(address, connect_timeout_s=_RESPONSE_S)):
            return True
    except SystemUnderTestError:
        return False


def raise_as_ours(error: _engine.EngineError) -> NoReturn:
    """Raises the engine's error as the matching exception of `assay.errors`."""
    raise as_ours(error) from error


def as_ours(error: _engine.EngineError) -> AssayError:
    """The matching exception of `assay.errors` for the engine's error."""
    if error.kind == "script":
        return ScriptError(
            error.message, file=error.file, line=error.line, column=error.column, hint=error.hint
        )
    if error.kind == "source":
        return InputError(
            error.message, file=error.file, line=error.line, column=error.column, hint=error.hint
        )
    if error.kind == "statement" and error.error_class not in (LOST, RESOURCES):
        # As where it is refused during the measurement: with another protocol it would be.
        hint = CREATED_BY_SCRIPT if error.error_class == "unknown object" else None
        return RunFailed(error.message, code=error.code, hint=error.hint or hint)
    if error.kind == "machine":
        return MachineLimit(error.message, hint=error.hint)
    if error.kind in ("system", "statement"):
        if error.error_class == LOST:
            return SystemDied(error.message, hint=error.hint)
        is_out = error.error_class == RESOURCES
        return SystemRefused(
            f"{error.message} ({RESOURCES})" if is_out else error.message,
            error_class=error.error_class,
            code=error.code,
            hint=error.hint or (resources_hint(error.message) if is_out else None),
        )
    return Bug(error.message, hint=error.hint)
