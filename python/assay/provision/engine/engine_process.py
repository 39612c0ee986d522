"""A process that runs the engine for the one that started it: to call DB-API modules, or to drive a
part of the clients. A module may block for ever, end the program or crash: that ends only this
process.

Standard input and standard output hold a JSON document in each line
(`assay.contracts.engine`). A request has ``call`` (`Calls`) and its arguments; what
it is answered by has one key: ``value`` or ``error``, and before it any number of ``progress``,
``clock``, ``ready`` or ``more``. The last two are questions: they are answered by ``begin`` (an
instant on this machine's monotonic clock) and ``rows``.

It imports nothing of Assay but the engine and the forms of its messages, so that it is small. It
ends with the process that started it. A drive with a lease ends in order: where that process is
gone, or nothing was heard of it for so long, the clients finish what is under way, begin nothing
and close their sessions, and what they measured is written to a file. It belongs to one run and
epoch (`assay.drive.fleet`): what is said for another is not heard.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import pickle
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from assay import _engine
from assay.contracts.engine import ClockReading, EngineRequest, Examined, PlaceInFleet, TextRows

ERROR_FIELDS = (
    "kind", "message", "error_class", "certainty", "code", "file", "line", "column", "hint",
)  # fmt: skip


_PIECE_BYTES = 1 << 16
_NEXT_QUESTION_S = 0.02
"""How long the next question for the clock is waited for; clients work meanwhile."""
_END_S = 10.0
"""How long behind its lease a drive may last: the engine gives up after a second what is under way,
and a module may never return."""

Fence = tuple[int, int]
"""The run and the epoch of a drive."""


class ParentEnded(Exception):
    """The process that started this one is there no longer."""


class Requests:
    """The lines of a descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._unread = b""

    def next(self) -> EngineRequest:
        """Waits for it."""
        pieces = [self._unread]
        while b"\n" not in pieces[-1]:
            if not (piece := os.read(self._descriptor, _PIECE_BYTES)):
                raise ParentEnded
            pieces.append(piece)
        line, _, self._unread = b"".join(pieces).partition(b"\n")
        request: EngineRequest = json.loads(line)
        return request

    def waiting(self) -> Iterator[EngineRequest]:
        """Those that are there."""
        while self.is_there(0):
            yield self.next()

    def is_there(self, wait_s: float) -> bool:
        """Whether there is one, or comes within that time."""
        return b"\n" in self._unread or bool(select.select([self._descriptor], [], [], wait_s)[0])


class Watch:
    """Ends this process with the one that started it: at once or, during a lease, in order. It
    needs no interpreter, which a module may hold for ever: it is a thread of the engine that looks
    at a descriptor, and during a lease the kernel's alarm."""

    def __init__(self, requests: int, lines: int) -> None:
        self._requests = requests
        self._watched = os.dup(requests)
        self._quiet, self._kept_open = os.pipe()
        _engine.end_with_parent(self._watched, lines)

    def lease(self, lease_s: float) -> None:
        """From now on the lease decides; again with each word that is heard."""
        os.dup2(self._quiet, self._watched, inheritable=False)
        signal.setitimer(signal.ITIMER_REAL, lease_s + _END_S)

    def end_alarm(self) -> None:
        """Its clients have ended. What they did is not heard yet: this process ends in order."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def end_lease(self) -> None:
        self.end_alarm()
        os.dup2(self._requests, self._watched, inheritable=False)


class Calls:
    """Its methods without an underscore are the calls."""

    def __init__(self, requests: Requests, lines: TextIO, watch: Watch) -> None:
        self._requests = requests
        self._lines = lines
        self._watch = watch
        self._session: _engine.Session | None = None
        self._saying = threading.Lock()
        self._fence: Fence | None = None
        self._lease_s: float | None = None
        self._heard_s = 0.0
        self._is_over = False
        self._is_to_stop = False
        self._has_begun = False
        self._unheard: tuple[str, str] | None = None
        """The file and the text of a part, until the one that asked for it says something."""

    def _serve(self) -> None:
        while True:
            request = self._requests.next()
            if "call" not in request:
                continue  # said to clients that had ended
            if (fence := _fence_of(request)) is not None:
                if self._fence is not None and fence[1] < self._fence[1]:
                    continue  # of a drive that has ended
                self._fence = fence
                del request["run"], request["epoch"]
            if self._unheard is not None:
                self._unheard = None
                self._watch.end_lease()
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

    def clock(self) -> ClockReading:
        return {"monotonic_ns": time.monotonic_ns(), "unix_ns": time.time_ns()}

    def load_average(self) -> float:
        """The mean number of processes that ran or waited to, in the last minute."""
        return os.getloadavg()[0]

    def drive(
        self,
        document: str,
        lease_s: float | None = None,
        part_file: str = "",
        part: PlaceInFleet | None = None,
    ) -> str:
        """``lease_s``: how long clients work on where nothing is heard; None: until they are done,
        or the process that started this one has ended. ``part_file``: see `EngineRequest`."""
        self._lease_s, self._is_over, self._is_to_stop = lease_s, False, False
        self._has_begun = False
        self._heard()
        observation = _engine.drive(document, self._driven, self._ready)
        if part_file and part is not None and self._fence is not None and self._has_begun:
            run, epoch = self._fence
            head = {"run": run, "epoch": epoch, **part, "machine": os.uname().nodename}
            # Its last key is the observation, as it is.
            text = f'{json.dumps(head)[:-1]}, "observation": {observation}}}'
            self._unheard = part_file, text
        if self._is_left_alone():
            raise ParentEnded
        if self._unheard is not None:
            self._watch.end_alarm()
        elif lease_s is not None:
            self._watch.end_lease()
        return observation

    def _keep_unheard(self) -> None:
        """Also where all clients had ended, as others were at work still."""
        if self._unheard is not None:
            _keep(*self._unheard)

    def _progress(self, text: str) -> None:
        self._say("progress", text)

    def _driven(self, text: str) -> bool:
        """Whether clients go on."""
        try:
            self._progress(text)
        except ParentEnded:
            if self._lease_s is None:
                raise
            self._is_over = True
        return not (self._is_left_alone() or self._is_to_stop)

    def _heard(self) -> None:
        self._heard_s = time.monotonic()
        if self._lease_s is not None:
            self._watch.lease(self._lease_s)

    def _is_left_alone(self) -> bool:
        """Whether the lease has run out, or no one is left who could renew it. Once it has, it
        stays so: what is heard later is of one that has given this process up."""
        if self._lease_s is None or self._is_over:
            return self._is_over
        self._is_over = time.monotonic() - self._heard_s > self._lease_s
        try:
            for said in self._requests.waiting():
                if _fence_of(said) != self._fence:
                    continue
                self._is_to_stop = self._is_to_stop or "stop" in said
                if not self._is_over:
                    self._heard()
                if "clock" in said:
                    self._say("clock", self.clock())
                    if said["clock"] > 1:
                        self._requests.is_there(_NEXT_QUESTION_S)
        except ParentEnded:
            self._is_over = True
        return self._is_over

    def _ready(self) -> int:
        self._say("ready", True)
        while "begin" not in (said := self._requests.next()) or _fence_of(said) != self._fence:
            self._heard()
        _engine.connects_are_measured()
        self._has_begun = True
        self._heard()
        return time.time_ns() + int(said["begin"]) - time.monotonic_ns()

    def _rows(self, table: str) -> Iterator[Sequence[object]]:
        while True:
            self._say("more", table)
            batch = pickle.loads(base64.b64decode(self._requests.next()["rows"]))
            if not batch:
                return
            yield from batch

    def _say(self, key: str, value: object) -> None:
        message: dict[str, object] = {key: value}
        if self._fence is not None:
            message["run"], message["epoch"] = self._fence
        line = json.dumps(message)
        try:
            with self._saying:
                self._lines.write(f"{line}\n")
                self._lines.flush()
        except BrokenPipeError as error:
            raise ParentEnded from error


def _fence_of(request: EngineRequest) -> Fence | None:
    return (request["run"], request["epoch"]) if "run" in request else None


def _keep(file: str, text: str) -> None:
    """What cannot be kept is lost with the process that asked for it."""
    path, new = Path(file), Path(f"{file}.new")
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with new.open("w", encoding="utf-8") as written:
            written.write(text)
            written.flush()
            os.fsync(written.fileno())
        new.rename(path)


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
    watch = Watch(requests, lines)
    calls = Calls(Requests(requests), os.fdopen(lines, "w", encoding="utf-8"), watch)
    try:
        calls._serve()
    except ParentEnded:
        calls._keep_unheard()
        sys.exit(1)


if __name__ == "__main__":
    main()
