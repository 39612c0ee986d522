"""Takes what the engine takes; has a process that calls a DB-API module run it; returns what the
engine returns, and raises what it raises."""

from __future__ import annotations

import atexit
import base64
import json
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from assay import _engine
from assay.errors import SystemDied, SystemMissing
from assay.provision.engine.python_process import Message, PythonProcess

_START_S = 30.0
"""How long the interpreter and the import of a module may take."""
_CLOSE_S = 5.0
_BATCH_ROWS = 1000

_idle: dict[object, PythonProcess] = {}
"""A process of the last session for each module: starting one takes a tenth of a second."""


@dataclass(frozen=True)
class RemoteRows:
    """The answer to one statement, in text form."""

    is_query: bool
    columns: list[str]
    rows: list[tuple[str | None, ...]]
    affected: int

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> RemoteRows:
        return cls(
            is_query=fields["is_query"],
            columns=fields["columns"],
            rows=[tuple(row) for row in fields["rows"]],
            affected=fields["affected"],
        )


class RemoteSession:
    """A session in a process of its own."""

    session_id = 0
    """Modules give none."""

    def __init__(self, site: Mapping[str, Any]) -> None:
        module = str(site["options"]["module"])
        self._answer_s: float | None = site.get("answer_timeout_s")
        self._process: PythonProcess | None = _begun(module)
        # Before the limit of a connection, which the process itself watches, it must be there.
        limit_s = _START_S + float(site.get("connect_timeout_s") or 0.0)
        try:
            self.server_version: str = self._call("open", "in connect()", limit_s, site=site)
        except _engine.EngineError:
            # Where it lasted too long the module has not returned.
            self._kill()
            raise

    def execute(self, statement: str) -> RemoteRows:
        return RemoteRows.of(
            self._call("execute", "in execute()", self._answer_s, statement=statement)
        )

    def digest(self, statement: str, types: list[str] | None = None) -> tuple[int, str]:
        rows, digest = self._call(
            "digest", "in execute()", self._answer_s, statement=statement, types=types
        )
        return rows, digest

    def close(self) -> None:
        """A module that does not return from its ``close()`` is not waited for."""
        if self._process is None:
            return
        try:
            with suppress(SystemDied, _engine.EngineError):
                self._call("close", "in close()", _CLOSE_S)
            if self._process is not None:
                _keep(self._process)
        except BaseException:
            self._kill()
            raise
        self._process = None

    def _call(self, call: str, during: str, limit_s: float | None, **arguments: Any) -> Any:
        if self._process is None:
            raise error_of({"kind": "document", "message": "the session is closed"})
        try:
            return _answered(self._process, {"call": call, **arguments}, during, limit_s)
        except _engine.EngineError:
            raise
        except BaseException:
            self._kill()
            raise

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None


def examine(module: str) -> Mapping[str, Any]:
    """What the module is, or why it cannot be imported; raises `SystemMissing` where it never
    is."""
    during = "while it was imported"
    with _process(module) as process:
        try:
            found = _answered(process, {"call": "examine", "module": module}, during, _START_S)
        except SystemDied as error:
            raise SystemMissing(error.message, hint=error.hint) from error
    return dict(found)


def query(document: Mapping[str, Any]) -> list[tuple[str, RemoteRows]]:
    with _process(_module_of(document["site"])) as process:
        found = _answered(process, {"call": "query", "document": document}, "in a query")
    return [(name, RemoteRows.of(rows)) for name, rows in found]


def probe(site: Mapping[str, Any], upto: int) -> str:
    with _process(_module_of(site)) as process:
        return str(
            _answered(process, {"call": "probe", "site": site, "upto": upto}, "in connect()")
        )


def load(
    document: Mapping[str, Any],
    source: str | Mapping[str, Any],
    progress: Callable[[str], None],
) -> str:
    """Rows that Python makes are made here, and sent in batches."""
    rows = {} if isinstance(source, str) else {name: _iter(name, of) for name, of in source.items()}

    def on_message(message: Message, process: PythonProcess) -> None:
        if "progress" in message:
            progress(json.dumps(message["progress"]))
        elif "more" in message:
            process.send({"rows": _batch(message["more"], rows[message["more"]])})

    request = {
        "call": "load",
        "document": document,
        "source": source if isinstance(source, str) else "",
        "tables": list(rows),
    }
    with _process(_module_of(document["site"])) as process:
        return str(_answered(process, request, "during the load", None, on_message))


def error_of(fields: Mapping[str, Any]) -> _engine.EngineError:
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
    process: PythonProcess,
    request: Mapping[str, Any],
    during: str,
    limit_s: float | None = None,
    on_message: Callable[[Message, PythonProcess], None] | None = None,
) -> Any:
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


@contextmanager
def _process(module: str) -> Iterator[PythonProcess]:
    """For one call. It is kept where the call has ended as it should."""
    process = _begun(module)
    try:
        yield process
    except BaseException:
        process.kill()
        raise
    _keep(process)


def _begun(module: str) -> PythonProcess:
    idle = _idle.pop(_key(module), None)
    if idle is not None and idle.is_alive():
        return idle
    if idle is not None:
        idle.kill()
    return PythonProcess(module)


def _keep(process: PythonProcess) -> None:
    if _idle.setdefault(_key(process.module), process) is not process:
        process.kill()


def _key(module: str) -> object:
    """What decides what the module finds."""
    return module, tuple(sys.path), Path.cwd(), os.getpid(), tuple(os.environ.items())


def _module_of(site: Mapping[str, Any]) -> str:
    return str(site["options"]["module"])


def _iter(table: str, rows: object) -> Iterator[Sequence[object]]:
    if not isinstance(rows, Iterable):
        found = f"expected something to iterate over, found {type(rows).__name__}"
        raise error_of({"kind": "source", "message": f"rows of the table {table}: {found}"})
    return iter(rows)


def _batch(table: str, rows: Iterator[Sequence[object]]) -> str:
    batch = list(islice(rows, _BATCH_ROWS))
    try:
        return base64.b64encode(pickle.dumps(batch)).decode("ascii")
    except Exception as error:
        message = f"rows of the table {table}: a cell cannot be sent to a client process: {error}"
        raise error_of({"kind": "source", "message": message}) from error
