"""Turns termination signals into an exception, so that every teardown runs, and notifies the user
at once, since teardown may take a moment.

Ctrl-C is an exception already. A terminal that closes sends SIGHUP, a service manager or a batch
system SIGTERM, and Ctrl-\\ is SIGQUIT; by default these end Python at once, without stopping the
servers.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

TERMINATIONS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Besides Ctrl-C, what asks a program to end."""

_asked: list[signal.Signals] = []
"""Every termination signal received inside `raise_on_termination`."""


_teardowns: list[None] = []
_late: list[KeyboardInterrupt] = []
"""What a signal would have raised inside a teardown."""


class Terminated(KeyboardInterrupt):
    """One of `TERMINATIONS` was sent. What an interrupted run keeps, this keeps too."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number.name)
        self.number = number

    @property
    def exit_code(self) -> int:
        """What a shell reports for a program that this signal ended."""
        return 128 + self.number


def is_ending() -> bool:
    """Whether a termination signal was received: teardown has little time."""
    return bool(_asked)


def is_ending_at_once() -> bool:
    """Whether Ctrl-C was pressed a second time: nothing is waited for any longer."""
    return _asked.count(signal.SIGINT) > 1


@contextlib.contextmanager
def after_teardown() -> Iterator[None]:
    """Defers signals until the end of the block, so that a teardown, or a note of what it needs, is
    never interrupted. Only for work of bounded time."""
    _teardowns.append(None)
    try:
        yield
    finally:
        _teardowns.pop()
        if not _teardowns and _late:
            first = _late[0]
            _late.clear()
            raise first


def _raise(error: KeyboardInterrupt) -> None:
    if _teardowns:
        _late.append(error)
    else:
        raise error


@contextlib.contextmanager
def raise_on_termination(notify: Callable[[str], None] | None = None) -> Iterator[None]:
    """Inside, `TERMINATIONS` raise `Terminated` in the main thread, the first one only: the
    teardown that it begins has its own limits of time and must not be cut short by the SIGHUP that
    often follows. Ctrl-C raises `KeyboardInterrupt` each time, and so cuts it short. A signal that
    is ignored (``nohup``) stays ignored. Does nothing outside the main thread, where Python allows
    no handlers.

    ``notify`` is called at the first signal, within its handler: it must not write into a buffered
    stream.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> None:
        by = signal.Signals(number)
        _asked.append(by)
        if len(_asked) == 1 and notify is not None:
            again = "; press Ctrl-C again to stop at once" if by is signal.SIGINT else ""
            notify(f"{by.name}: stopping{again}")
        if by is signal.SIGINT:
            _raise(KeyboardInterrupt())
        elif sum(received is not signal.SIGINT for received in _asked) == 1:
            _raise(Terminated(by))

    before = {}
    for number in (signal.SIGINT, *TERMINATIONS):
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        _asked.clear()
