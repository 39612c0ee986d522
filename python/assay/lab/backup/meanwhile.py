"""Two clients that work while a backup is made: one reads, one writes. Each sends a small
transaction every few milliseconds, and sends it again until it is answered: the longest time that
takes is reported.
"""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from assay import _engine
from assay.contracts.deployment import Address, Deployment
from assay.contracts.dialects.protocol import Column, Dialect, SingleRows, Table
from assay.contracts.observation import Answered
from assay.errors import AssayError, SystemDied
from assay.provision.engine.engine_calls import Session
from assay.provision.engine.session import session

TABLE = Table(
    name="assay_backup",
    columns=(Column("id", "int", not_null=True), Column("n", "int")),
    primary_key=("id",),
)
_PAUSE_S = 0.005
_TIMEOUT_S = 120.0


def create(deployment: Deployment, dialect: Dialect, rows: SingleRows) -> None:
    """The table of the clients, with its one row."""
    with session(deployment.address) as opened:
        statements = [*dialect.create_table(TABLE, deployment.options)]
        statements += [*dialect.create_indexes(TABLE), rows.insert_row(TABLE, ["1", "0"])]
        for statement in statements:
            opened.execute(statement)


def last_written(deployment: Deployment, dialect: Dialect) -> int:
    """The number of the last write that the table has."""
    with session(deployment.address) as opened:
        found = opened.execute(dialect.read_by_key(TABLE.name, ["n"], "id", "1")).rows
    return int(found[0][-1] or 0) if found else 0


class Client:
    """One client, in a thread of its own."""

    def __init__(self, name: str, statement: Callable[[int], str], where: Callable[[], Address]):
        self._statement = statement
        self._where = where
        self._ending = threading.Event()
        self._pausing = threading.Event()
        self._is_closed = threading.Event()
        self._session: contextlib.ExitStack = contextlib.ExitStack()
        self._opened: Session | None = None
        self._took_ns: list[int] = []
        self._counted_since_ns = 0
        self._last_error = ""
        self._failure: Exception | None = None
        """What ended the thread."""
        self.number = 0
        """Of the last transaction that was acknowledged."""
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def forget(self) -> None:
        """What was answered up to now does not count, nor does the time before of what is under
        way."""
        self._counted_since_ns = time.monotonic_ns()
        self._took_ns = []

    def wait_for_answer(self) -> None:
        """Until a transaction has been answered that was sent after this call. Raises `SystemDied`
        where none is, and what ended the thread."""
        before = self.number
        self._wait_until(lambda: self.number >= before + 2)  # the first may have been sent before

    def pause(self) -> None:
        """Closes its session; a transaction that is due waits until `go_on`. Raises `SystemDied`
        where the one before is not answered, and what ended the thread."""
        self._is_closed.clear()
        self._pausing.set()
        self._wait_until(self._is_closed.is_set)

    def go_on(self) -> None:
        self._pausing.clear()

    def end(self) -> None:
        self._ending.set()
        self._pausing.clear()
        self._thread.join(_TIMEOUT_S)

    def answered(self) -> Answered:
        took_ns = self._took_ns or [0]
        return Answered(len(self._took_ns), int(statistics.median(took_ns)), max(took_ns))

    def _wait_until(self, is_so: Callable[[], bool]) -> None:
        deadline_s = time.monotonic() + _TIMEOUT_S
        while not is_so():
            if self._failure is not None:
                raise self._failure
            if time.monotonic() > deadline_s:
                raise SystemDied(f"no transaction is answered any more: {self._last_error}")
            time.sleep(_PAUSE_S)

    def _work(self) -> None:
        try:
            while not self._ending.is_set():
                self._send()
                time.sleep(_PAUSE_S)
        except Exception as error:
            self._failure = error
        finally:
            self._close()

    def _send(self) -> None:
        """One transaction, again and again until it is answered; what the end of the thread leaves
        without an answer does not count."""
        began_ns = time.monotonic_ns()
        while not self._is_answered():
            if self._ending.is_set():
                return
            time.sleep(_PAUSE_S)
        began_ns = max(began_ns, self._counted_since_ns)
        self._took_ns.append(time.monotonic_ns() - began_ns)

    def _is_answered(self) -> bool:
        if self._pausing.is_set():
            self._close()
            self._is_closed.set()
            return False
        try:
            if self._opened is None:
                self._opened = self._session.enter_context(session(self._where()))
            self._opened.execute(self._statement(self.number + 1))
        except (AssayError, _engine.EngineError) as error:
            self._last_error = str(error)
            self._close()
            return False
        self.number += 1
        return True

    def _close(self) -> None:
        self._opened = None
        with contextlib.suppress(AssayError, _engine.EngineError):
            self._session.close()


class Meanwhile:
    """The clients, while the block runs."""

    def __init__(self, where: Callable[[], Address], dialect: Dialect, rows: SingleRows) -> None:
        def write(number: int) -> str:
            return rows.update_row(TABLE, "n", str(number), "id", "1")

        read = dialect.read_by_key(TABLE.name, ["n"], "id", "1")
        self.writer = Client("backup writer", write, where)
        self.reader = Client("backup reader", lambda _: read, where)
        self._both = (self.writer, self.reader)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for client in self._both:
            client.end()

    def forget(self) -> None:
        """From here on it counts."""
        self.wait_for_answers()
        for client in self._both:
            client.forget()

    def wait_for_answers(self) -> None:
        for client in self._both:
            client.wait_for_answer()

    @contextlib.contextmanager
    def without_sessions(self) -> Iterator[None]:
        """While the block runs, no session is open; the clients' time goes on."""
        for client in self._both:
            client.pause()
        try:
            yield
        finally:
            for client in self._both:
                client.go_on()
