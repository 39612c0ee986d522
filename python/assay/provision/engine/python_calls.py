"""Takes what the engine takes; has a process that calls a DB-API module run it; returns what the
engine returns, and raises what it raises."""

from __future__ import annotations

import atexit
import base64
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from assay import _engine
from assay.contracts.documents import convert
from assay.contracts.engine import (
    DeploymentDocument,
    DriveDocument,
    EngineRequest,
    ErrorFields,
    Examined,
    Message,
)
from assay.errors import SystemDied, SystemMissing

if TYPE_CHECKING:
    from assay.contracts.engine import LoadDocument
    from assay.provision.engine.engine_programs import ChildProcess

Value = TypeVar("Value")

_START_S = 30.0
"""How long the interpreter and the import of a module may take."""
_CLOSE_S = 5.0
_BATCH_ROWS = 1000

_idle: dict[object, ChildProcess] = {}
"""A process of the last session for each module: starting one takes a tenth of a second."""


class RemoteRows(msgspec.Struct, frozen=True):
    """The answer to one statement, in text form (`TextRows`)."""

    is_query: bool
    columns: list[str]
    rows: list[tuple[str | None, ...]]
    affected: int


class RemoteSession:
    """A session in a process of its own."""

    session_id = 0
    """Modules give none."""

    def __init__(self, deployment: DeploymentDocument) -> None:
        module = _module_of(deployment)
        self._answer_s = deployment.answer_timeout_s
        self._process: ChildProcess | None = _begun(module)
        # Before the limit of a connection, which the process itself watches, it must be there.
        limit_s = _START_S + deployment.connect_timeout_s
        try:
            opening = EngineRequest(call="open", deployment=deployment.json)
            self.server_version = _value(self._call(opening, "in connect()", limit_s), str)
        except _engine.EngineError:
            # Where it lasted too long the module has not returned.
            self._kill()
            raise

    def execute(self, statement: str) -> RemoteRows:
        request = EngineRequest(call="execute", statement=statement)
        return _value(self._call(request, "in execute()", self._answer_s), RemoteRows)

    def digest(self, statement: str, types: list[str] | None = None) -> tuple[int, str]:
        request = EngineRequest(call="digest", statement=statement, types=types)
        return _value(self._call(request, "in execute()", self._answer_s), tuple[int, str])

    def close(self) -> None:
        """A module that does not return from its ``close()`` is not waited for."""
        if self._process is None:
            return
        try:
            with suppress(SystemDied, _engine.EngineError):
                self._call(EngineRequest(call="close"), "in close()", _CLOSE_S)
            if self._process is not None:
                _keep(self._process)
        except BaseException:
            self._kill()
            raise
        self._process = None

    def _call(self, request: EngineRequest, during: str, limit_s: float | None) -> object:
        if self._process is None:
            raise error_of({"kind": "document", "message": "the session is closed"})
        try:
            return _answered(self._process, request, during, limit_s)
        except _engine.EngineError:
            raise
        except BaseException:
            self._kill()
            raise

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None


def examine(module: str) -> Examined:
    """What the module is, or why it cannot be imported; raises `SystemMissing` where it never
    is."""
    during = "while it was imported"
    with _process(module) as process:
        try:
            request = EngineRequest(call="examine", module=module)
            examined = _answered(process, request, during, _START_S)
        except SystemDied as error:
            raise SystemMissing(error.message, hint=error.hint) from error
    return _value(examined, Examined)


def query(document: DriveDocument) -> list[tuple[str, RemoteRows]]:
    assert document.deployment is not None
    with _process(_module_of(document.deployment)) as process:
        answers = _answered(
            process, EngineRequest(call="query", document=document.json), "in a query"
        )
    return _value(answers, list[tuple[str, RemoteRows]])


def probe(deployment: DeploymentDocument, upto: int) -> str:
    request = EngineRequest(call="probe", deployment=deployment.json, upto=upto)
    with _process(_module_of(deployment)) as process:
        return _value(_answered(process, request, "in connect()"), str)


def load(
    document: LoadDocument,
    source: str | Mapping[str, Iterable[Sequence[object]]],
    progress: Callable[[str], None],
) -> str:
    """Rows that Python makes are made here, and sent in batches."""
    rows = {} if isinstance(source, str) else {name: _iter(name, of) for name, of in source.items()}

    def on_message(message: Message, process: ChildProcess) -> None:
        if "progress" in message:
            progress(message["progress"])
        elif "more" in message:
            process.send({"rows": _batch(message["more"], rows[message["more"]])})

    request = EngineRequest(
        call="load",
        document=document.json,
        source=source if isinstance(source, str) else "",
        tables=list(rows),
    )
    with _process(_module_of(document.deployment)) as process:
        return _value(_answered(process, request, "during the load", None, on_message), str)


def error_of(fields: ErrorFields) -> _engine.EngineError:
    """The engine's error that a process has sent."""
    error = _engine.EngineError(fields["message"])
    empty = {"error_class": "", "certainty": "", "code": "", "file": "", "line": 0, "column": 0}
    for name, value in {**empty, "hint": None, **fields}.items():
        setattr(error, name, value)
    return error


def end_idle() -> None:
    """Ends the processes that wait for another session."""
    while _idle:
        _idle.popitem()[1].kill()


atexit.register(end_idle)


def _answered(
    process: ChildProcess,
    request: EngineRequest,
    during: str,
    limit_s: float | None = None,
    on_message: Callable[[Message, ChildProcess], None] | None = None,
) -> object:
    process.send(request)
    while True:
        try:
            message = process.answer(during, limit_s)
        except TimeoutError as error:
            raise SystemDied(
                f"no answer within {limit_s:g} s {during}: the module {process.module} does not "
                "return",
                hint=f"try it without Assay: python -c 'import {process.module}'",
            ) from error
        if "error" in message:
            raise error_of(message["error"])
        if "value" in message:
            return message["value"]
        if on_message is not None:
            on_message(message, process)


def _value(answer: object, kind: type[Value]) -> Value:
    return convert(answer, kind, "answer")


@contextmanager
def _process(module: str) -> Iterator[ChildProcess]:
    """For one call. It is kept where the call has ended as it should."""
    process = _begun(module)
    try:
        yield process
    except BaseException:
        process.kill()
        raise
    _keep(process)


def _begun(module: str) -> ChildProcess:
    idle = _idle.pop(_key(module), None)
    if idle is not None and idle.is_alive():
        return idle
    if idle is not None:
        idle.kill()
    from assay.provision.engine.engine_programs import ChildProcess

    return ChildProcess(module)


def _keep(process: ChildProcess) -> None:
    if _idle.setdefault(_key(process.module), process) is not process:
        process.kill()


def _key(module: str) -> object:
    """What decides what the module finds."""
    return module, tuple(sys.path), Path.cwd(), os.getpid(), tuple(os.environ.items())


def _module_of(deployment: DeploymentDocument) -> str:
    return deployment.options["module"]


def _iter(table: str, rows: object) -> Iterator[Sequence[object]]:
    if not isinstance(rows, Iterable):
        found = f"expected something to iterate over, found {type(rows).__name__}"
        raise error_of({"kind": "source", "message": f"rows of the table {table}: {found}"})
    return iter(rows)


def _batch(table: str, rows: Iterator[Sequence[object]]) -> str:
    batch = list(islice(rows, _BATCH_ROWS))
    try:
        import pickle  # here: most modules are given no rows

        return base64.b64encode(pickle.dumps(batch)).decode("ascii")
    except Exception as error:
        message = f"rows of the table {table}: a cell cannot be sent to a client process: {error}"
        raise error_of({"kind": "source", "message": message}) from error
