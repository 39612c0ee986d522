"""A process that calls DB-API modules for the one that started it. A module may block for ever, end
the program or crash: that ends only this process.

Standard input and standard output hold a JSON document in each line
(`assay.provision.engine.dbapi.messages`). A request has ``call`` (`Calls`) and its arguments; what
it is answered by has one key: ``value`` or ``error``, and before it any number of ``progress``,
``ready`` or ``more``. The last two are questions: they are answered by ``begin`` (an instant in
nanoseconds since 1970) and ``rows``.

It imports nothing of Assay but the engine and this package, so that it is small. It ends with the
process that started it.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import BinaryIO, TextIO

from assay import _engine
from assay.provision.engine.dbapi.messages import Examined, Request, TextRows

ERROR_FIELDS = (
    "kind", "message", "error_class", "certainty", "code", "file", "line", "column", "hint",
)  # fmt: skip


class Ended(Exception):
    """The process that started this one is there no longer."""


class Calls:
    """Its methods without an underscore are the calls."""

    def __init__(self, requests: BinaryIO, lines: TextIO) -> None:
        self._requests = requests
        self._lines = lines
        self._session: _engine.Session | None = None
        self._saying = threading.Lock()

    def _serve(self) -> None:
        while True:
            request = self._next()
            call = getattr(self, request.pop("call"))
            try:
                value = call(**request)
            except _engine.EngineError as error:
                self._say("error", {name: getattr(error, name) for name in ERROR_FIELDS})
            else:
                self._say("value", value)

    def examine(self, module: str) -> Examined:
        """What the module is; where it cannot be imported, the exception and its words."""
        try:
            found = importlib.import_module(module)
        except SystemExit as error:
            return {"ended": error.code or 0}
        except BaseException as error:
            return {
                "exception": type(error).__name__,
                "words": str(error),
                "missing": error.name if isinstance(error, ModuleNotFoundError) else None,
                "is_import": isinstance(error, ImportError),
            }
        own = getattr(found, "__version__", None) or getattr(found, "version", "")
        style = getattr(found, "paramstyle", None)
        return {
            "version": own if isinstance(own, str) else "",
            "place": str(getattr(found, "__file__", None) or "built into Python"),
            "connects": callable(getattr(found, "connect", None)),
            "paramstyle": style if style is None or isinstance(style, str) else repr(style),
        }

    def open(self, deployment: str) -> str:
        self._session = _engine.Session(deployment)
        return self._session.server_version

    def execute(self, statement: str) -> TextRows:
        assert self._session is not None
        return _plain(self._session.execute(statement))

    def digest(self, statement: str, types: list[str] | None) -> tuple[int, str]:
        assert self._session is not None
        return self._session.digest(statement, types)

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
        self._session = None

    def query(self, document: str) -> list[tuple[str, TextRows]]:
        return [(name, _plain(rows)) for name, rows in _engine.query(document)]

    def probe(self, deployment: str, upto: int) -> str:
        return _engine.probe(deployment, upto)

    def load(self, document: str, source: str, tables: Sequence[str]) -> str:
        """``tables``: those whose rows are asked for with ``more``; none: ``source`` makes them."""
        rows = {table: self._rows(table) for table in tables} if tables else source
        return _engine.load(document, rows, self._progress)

    def drive(self, document: str) -> str:
        return _engine.drive(document, self._progress, self._ready)

    def _progress(self, text: str) -> None:
        self._say("progress", text)

    def _ready(self) -> int:
        self._say("ready", True)
        begin = int(self._next()["begin"])
        _engine.connects_are_measured()
        return begin

    def _rows(self, table: str) -> Iterator[Sequence[object]]:
        while True:
            self._say("more", table)
            batch = pickle.loads(base64.b64decode(self._next()["rows"]))
            if not batch:
                return
            yield from batch

    def _next(self) -> Request:
        if not (line := self._requests.readline()):
            raise Ended
        request: Request = json.loads(line)
        return request

    def _say(self, key: str, value: object) -> None:
        line = json.dumps({key: value})
        try:
            with self._saying:
                self._lines.write(f"{line}\n")
                self._lines.flush()
        except BrokenPipeError as error:
            raise Ended from error


def _plain(rows: _engine.Rows) -> TextRows:
    return {
        "is_query": rows.is_query,
        "columns": rows.columns,
        "rows": rows.rows,
        "affected": rows.affected,
    }


def main() -> None:
    # The process that started this one gets the terminal's Ctrl-C too, and decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Modules get neither our requests nor our answers: what they print goes to standard error.
    requests, lines = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)

    def leave_ours_to_the_parent() -> None:
        """In a child that a module forks."""
        os.dup2(nothing, requests)
        os.dup2(nothing, lines)

    os.register_at_fork(after_in_child=leave_ours_to_the_parent)
    _engine.end_with_parent(requests, lines)
    calls = Calls(os.fdopen(requests, "rb"), os.fdopen(lines, "w", encoding="utf-8"))
    try:
        calls._serve()
    except Ended:
        sys.exit(1)


if __name__ == "__main__":
    main()
