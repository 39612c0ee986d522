"""Takes documents with a deployment; has the engine run them in this process, or in another where
the driver calls Python modules, which this process never does itself. While it waits, the token of
the work is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from assay import _engine
from assay.contracts.engine.deployment import DeploymentDocument
from assay.contracts.engine.document import read_answer
from assay.contracts.engine.drive import DriveDocument
from assay.contracts.engine.load import LoadDocument, LoadReport
from assay.contracts.stop import look
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


def open_session(deployment: DeploymentDocument) -> Session:
    if calls_python(deployment.driver):
        return python_calls.RemoteSession(deployment)
    return _engine.Session(deployment.json, look)


def query(document: DriveDocument) -> Sequence[tuple[str, Rows]]:
    """As `_engine.query`."""
    if document.deployment is not None and calls_python(document.deployment.driver):
        return python_calls.query(document)
    return _engine.query(document.json, look)


def probe(deployment: DeploymentDocument, upto: int) -> str:
    """As `_engine.probe`."""
    if calls_python(deployment.driver):
        return python_calls.probe(deployment, upto)
    return _engine.probe(deployment.json, upto, look)


def load(
    document: LoadDocument,
    source: str | Mapping[str, Iterable[Sequence[object]]],
    progress: Callable[[str], None],
) -> LoadReport:
    """As `_engine.load`."""

    def progressed(text: str) -> None:
        look()
        progress(text)

    if calls_python(document.deployment.driver):
        text = python_calls.load(document, source, progressed)
    else:
        text = _engine.load(document.json, source, progressed)
    return read_answer(text, LoadReport)
