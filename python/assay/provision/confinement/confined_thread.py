"""Runs calls of the engine in a thread that is confined, with the threads that they start.

What the engine calls back runs in the thread that waits for it, which has its rights and its
context: progress is written to the record, and rows may come from files.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from assay import _engine
from assay.errors import SystemUnderTestError
from assay.provision.confinement import confinement

Value = TypeVar("Value")

_BATCH_ROWS = 1000
_Work = Callable[[], Any]


class _Ended(NamedTuple):
    """A call: with a value, or an error."""

    value: Any
    error: BaseException | None


class ConfinedThread:
    """It ends with `end`. ``inputs``: files that it reads besides, whosever they are."""

    def __init__(self, inputs: Sequence[Path] = ()) -> None:
        self._work: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._said: queue.SimpleQueue[_Work | _Ended] = queue.SimpleQueue()
        """What is to be called where `call` waits, and at last how the work ended."""
        self._replies: queue.SimpleQueue[_Ended] = queue.SimpleQueue()
        self._one = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="confined", daemon=True)
        self._thread.start()
        self.call(lambda: _confine(inputs))

    def call(self, work: Callable[[], Value]) -> Value:
        """What the work returns or raises. An interruption is raised where the work next calls
        back, which ends it."""
        with self._one:
            self._work.put(work)
            interruption: BaseException | None = None
            while True:
                try:
                    said = self._said.get()
                except BaseException as error:
                    interruption = error
                    continue
                if isinstance(said, _Ended):
                    if (failure := interruption or said.error) is not None:
                        raise failure
                    result: Value = said.value
                    return result
                self._replies.put(_Ended(None, interruption) if interruption else _ended(said))

    def relayed(self, callback: Callable[..., Value]) -> Callable[..., Value]:
        """To be called in the confined thread: runs where `call` waits."""

        def relay(*arguments: Any) -> Value:
            self._said.put(lambda: callback(*arguments))
            reply = self._replies.get()
            if reply.error is not None:
                raise reply.error
            result: Value = reply.value
            return result

        return relay

    def relayed_rows(self, rows: Iterable[Sequence[object]]) -> Iterator[Sequence[object]]:
        """Rows that are made where `call` waits, many at a time."""
        iterator: list[Iterator[Sequence[object]]] = []

        def batch() -> list[Sequence[object]]:
            if not iterator:
                iterator.append(iter(rows))
            return list(islice(iterator[0], _BATCH_ROWS))

        more = self.relayed(batch)
        while some := more():
            yield from some

    def end(self) -> None:
        self._work.put(None)
        self._thread.join()

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            self._said.put(_ended(work))
            del work


def _ended(work: _Work) -> _Ended:
    try:
        return _Ended(work(), None)
    except BaseException as error:
        return _Ended(None, error)


def _confine(inputs: Sequence[Path]) -> None:
    reads, writes = confinement.readable(*inputs), confinement.writable()
    try:
        _engine.confine_thread(reads, writes, confinement.user(), reads_others=bool(inputs))
    except OSError as error:
        raise SystemUnderTestError(f"the engine cannot be confined: {error}") from error


def once(work: Callable[[ConfinedThread], Value], inputs: Sequence[Path] = ()) -> Value:
    """The work in a confined thread that ends behind it."""
    thread = ConfinedThread(inputs)
    try:
        return thread.call(lambda: work(thread))
    finally:
        thread.end()
