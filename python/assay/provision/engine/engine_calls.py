"""Takes documents with a site; has the engine run them in this process, or in another where the
driver calls Python modules, which this process never does itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from assay import _engine
from assay.provision.engine import python_calls


class Rows(Protocol):
    """The answer to one statement, in text form (`_engine.Rows`)."""

    @property
    def is_query(self) -> bool: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def rows(self) -> list[tuple[str | None, ...]]: ...
    @property
    def affected(self) -> int: ...


class Session(Protocol):
    """A session for schema, settings and questions (`_engine.Session`)."""

    @property
    def server_version(self) -> str: ...
    @property
    def session_id(self) -> int: ...
    def execute(self, statement: str) -> Rows: ...
    def digest(self, statement: str, types: list[str] | None = None) -> tuple[int, str]: ...
    def close(self) -> None: ...


def calls_python(driver: str) -> bool:
    return driver in _engine.python_drivers()


def open_session(site: Mapping[str, Any]) -> Session:
    if calls_python(site["driver"]):
        return python_calls.RemoteSession(site)
    return _engine.Session(json.dumps(site))


def query(document: Mapping[str, Any]) -> Sequence[tuple[str, Rows]]:
    """As `_engine.query`."""
    if calls_python(document["site"]["driver"]):
        return python_calls.query(document)
    return _engine.query(json.dumps(document))


def probe(site: Mapping[str, Any], upto: int) -> str:
    """As `_engine.probe`."""
    if calls_python(site["driver"]):
        return python_calls.probe(site, upto)
    return _engine.probe(json.dumps(site), upto)


def load(
    document: Mapping[str, Any],
    source: str | Mapping[str, Iterable[Sequence[object]]],
    progress: Callable[[str], None],
) -> str:
    """As `_engine.load`."""
    if calls_python(document["site"]["driver"]):
        return python_calls.load(document, source, progress)
    return _engine.load(json.dumps(document), source, progress)
