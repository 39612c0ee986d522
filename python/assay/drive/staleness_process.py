"""A process that writes numbers to a primary, and reads them at its replicas, for the one that
started it. Standard input has an `Order` in one line, and standard output its answers, a JSON
document in each line: who is `late` after two seconds, if any is; who is `late` once numbers could
be read; and the `Findings`.

It works until its standard input is closed; then it drops its table. So it does where the process
that started it was killed. Its CPU time is not that of the clients. It imports nothing of Assay but
the engine.

A number is read as soon as it was written and then, as long as it was not found, in pauses that
grow from 1 ms to 10 ms.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypedDict

from assay import _engine

WRITE_EVERY_S = 0.1
PLACE = ":number"
"""Stands for the number in the statement that writes it."""
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.01
_SAID_AFTER_S = 2.0
"""How long it may take until it is said for what the clients wait."""
CATCH_UP_S = 30.0
"""How long the first number may take until it is read at every replica."""


class Order(TypedDict):
    primary: Any
    """A deployment document, as all of them."""
    replicas: list[Any]
    prepare: list[str]
    write: str
    read: str
    clean_up: list[str]


class Late(TypedDict):
    late: list[int]
    """Places of the replicas at which the first number was not found in time."""
    is_waiting: bool
    """Whether that may still change."""


class NumberAge(TypedDict):
    """A number at one replica."""

    written_unix_ns: int
    """When the primary had answered that it was written."""
    age_ns: int
    """From then until the answer in which it was found, or not found for the last time."""
    uncertainty_ns: int
    """How much less it may be: since the last question was sent that did not find it."""
    is_found: bool


class Replica(TypedDict):
    numbers: list[NumberAge]
    lost_unix_ns: int | None
    """Since when it does not answer; None: it does."""


class Findings(TypedDict):
    replicas: list[Replica]


class Meter:
    """What the threads share: which numbers were written, and when."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.written_ns: list[int] = []
        """By number, on this machine's monotonic clock."""
        self.changed = threading.Condition()
        self.is_over = False
        self._wall_ahead_ns = time.time_ns() - time.monotonic_ns()

    def unix_ns(self, monotonic_ns: int) -> int:
        return monotonic_ns + self._wall_ahead_ns

    def write(self, session: _engine.Session) -> None:
        """One number."""
        number = len(self.written_ns)
        session.execute(self.order["write"].replace(PLACE, str(number)))
        with self.changed:
            self.written_ns.append(time.monotonic_ns())
            self.changed.notify_all()

    def end(self) -> None:
        with self.changed:
            self.is_over = True
            self.changed.notify_all()

    def is_unseen(self, newest: int) -> bool:
        return len(self.written_ns) > newest + 1

    def wait_for_more_than(self, newest: int) -> None:
        """Until a number above ``newest`` is written, or all is over."""
        with self.changed:
            self.changed.wait_for(lambda: self.is_over or self.is_unseen(newest))


class ReplicaReader:
    """One replica."""

    def __init__(self, meter: Meter, document: Any) -> None:
        self._meter = meter
        self._document = document
        self.newest = -1
        """The highest number that was found."""
        self._numbers: list[NumberAge] = []
        self._lost_ns: int | None = None
        self._last_answer_ns = 0
        self.thread = threading.Thread(target=self._work, daemon=True)

    def report(self) -> Replica:
        """With the numbers that were not found: they are at least so old."""
        end_ns = self._last_answer_ns
        unseen = [
            NumberAge(
                written_unix_ns=self._meter.unix_ns(written_ns),
                age_ns=end_ns - written_ns,
                uncertainty_ns=0,
                is_found=False,
            )
            for written_ns in self._meter.written_ns[self.newest + 1 :]
            if written_ns < end_ns
        ]
        lost_ns = self._lost_ns
        return Replica(
            numbers=[*self._numbers, *unseen],
            lost_unix_ns=None if lost_ns is None else self._meter.unix_ns(lost_ns),
        )

    def _work(self) -> None:
        try:
            session = _engine.Session(json.dumps(self._document))
            self._read(session)
        except _engine.EngineError:
            self._lost_ns = time.monotonic_ns()

    def _read(self, session: _engine.Session) -> None:
        missed_ns, pause_s = 0, _SHORTEST_PAUSE_S
        while True:
            self._meter.wait_for_more_than(self.newest)
            is_last = self._meter.is_over
            asked_ns = time.monotonic_ns()
            found = _newest(session, self._meter.order["read"])
            self._last_answer_ns = time.monotonic_ns()
            if found > self.newest:
                self._found(found, missed_ns)
                pause_s = _SHORTEST_PAUSE_S
            if is_last:
                return
            if self._meter.is_unseen(self.newest):
                missed_ns = asked_ns
                time.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    def _found(self, number: int, missed_ns: int) -> None:
        """All up to this number, which a question sent at ``missed_ns`` did not find."""
        at_ns = self._last_answer_ns
        # An answer may have it before the primary has answered that it is written.
        written = self._meter.written_ns[self.newest + 1 : number + 1]
        for written_ns in written:
            self._numbers.append(
                NumberAge(
                    written_unix_ns=self._meter.unix_ns(written_ns),
                    age_ns=max(0, at_ns - written_ns),
                    uncertainty_ns=max(0, at_ns - max(missed_ns, written_ns)),
                    is_found=True,
                )
            )
        self.newest += len(written)


def _newest(session: _engine.Session, question: str) -> int:
    """-1: no number, or not even the table."""
    try:
        rows = session.execute(question).rows
    except _engine.EngineError as error:
        if error.kind != "system" or error.error_class in ("lost connection", "timeout"):
            raise
        return -1
    return -1 if rows[0][0] is None else int(rows[0][0])


def measure(order: Order, say: Callable[[object], None], wait_for_end: threading.Event) -> None:
    """Until the end is there."""
    meter = Meter(order)
    session = _engine.Session(json.dumps(order["primary"]))
    try:
        for statement in order["prepare"]:
            session.execute(statement)
        readers = [ReplicaReader(meter, document) for document in order["replicas"]]
        for reader in readers:
            reader.thread.start()
        meter.write(session)
        began_s = time.monotonic()
        if late := _late(readers, began_s + _SAID_AFTER_S, wait_for_end):
            say(Late(late=late, is_waiting=True))
            late = _late(readers, began_s + CATCH_UP_S, wait_for_end)
        say(Late(late=late, is_waiting=False))
        with suppress(_engine.EngineError):  # that it was lost is in the observation of the clients
            _write_on(meter, session, wait_for_end)
        wait_for_end.wait()
        meter.end()
        for reader in readers:
            reader.thread.join()
        say(Findings(replicas=[reader.report() for reader in readers]))
    finally:
        _clean_up(order, session)


def _late(
    readers: Sequence[ReplicaReader], until_s: float, wait_for_end: threading.Event
) -> list[int]:
    """The places of the readers that have not found the first number by then."""
    while late := [place for place, one in enumerate(readers) if one.newest < 0]:
        if time.monotonic() >= until_s or wait_for_end.wait(_LONGEST_PAUSE_S):
            break
    return late


def _write_on(meter: Meter, session: _engine.Session, wait_for_end: threading.Event) -> None:
    due_s = time.monotonic()
    while True:
        due_s = max(due_s + WRITE_EVERY_S, time.monotonic())
        if wait_for_end.wait(due_s - time.monotonic()):
            return
        meter.write(session)


def _clean_up(order: Order, session: _engine.Session) -> None:
    try:
        for statement in order["clean_up"]:
            session.execute(statement)
    except _engine.EngineError:
        again = _engine.Session(json.dumps(order["primary"]))
        for statement in order["clean_up"]:
            again.execute(statement)


def main() -> None:
    order: Order = json.loads(sys.stdin.readline())
    is_over = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        is_over.set()

    threading.Thread(target=wait, daemon=True).start()

    def say(answer: object) -> None:
        with suppress(BrokenPipeError):  # the process that reads it has ended
            print(json.dumps(answer), flush=True)

    measure(order, say, is_over)


if __name__ == "__main__":
    main()
