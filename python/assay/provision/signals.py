"""Turns the polite signals to end into an exception, so that every teardown runs.

Ctrl-C is one already. A terminal that closes sends SIGHUP, a service manager or a batch system
SIGTERM; by default both end Python on the spot, and the servers with nobody to stop them.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Terminated(KeyboardInterrupt):
    """Somebody sent SIGTERM or SIGHUP. Whatever an interrupted run keeps, this keeps too."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number.name)
        self.number = number

    @property
    def exit_code(self) -> int:
        """What a shell reports for a program that this signal ended."""
        return 128 + self.number


@contextlib.contextmanager
def raise_on_termination() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP raise `Terminated` in the main thread, the first one only: the
    teardown that it begins has its own limits of time and must not be cut short by the SIGHUP that
    often follows. Ctrl-C still cuts it short. A SIGHUP that is ignored (``nohup``) stays ignored.
    Does nothing outside the main thread, where Python allows no handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_ending = False

    def end(number: int, _frame: FrameType | None) -> None:
        nonlocal is_ending
        if not is_ending:
            is_ending = True
            raise Terminated(signal.Signals(number))

    before = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
