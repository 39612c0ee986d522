"""A request to stop, as a token: work checks it between two steps and while waiting, and ends in
order.

It is set by a signal handler or by another thread: Ctrl-C, SIGTERM, a deadline, a gate. A wait that
is deep below what knows the token (of a session, a child process, a copy) calls `look`, which finds
that of the work that is under way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct

INTERRUPTED = 130
_LOOK_EVERY_S = 0.05


class StopReason(Struct, frozen=True):
    """Why work is to end."""

    name: str = ""
    """``SIGTERM``, ``the deadline``; empty: Ctrl-C."""
    exit_code: int = INTERRUPTED
    """That of the program."""
    run: int = 0
    """The number of the run that alone is to end; 0: all work."""
    exceeded: str = ""
    """Which limit this run is far beyond, so that its number is of no interest; empty: none."""


class Stopped(KeyboardInterrupt):
    """The token was looked at, and work is to end. For all that Python does with an interrupt it is
    one: no ``except Exception`` holds it up, and every teardown runs."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(*([reason.name] if reason.name else []))
        self.reason = reason


class Stop:
    """Not requested at first. Without locks, since a signal handler may run during any method."""

    def __init__(self) -> None:
        self._of_all: StopReason | None = None
        self._of_run: StopReason | None = None
        self.run = 0
        """The number of the run that may be stopped alone; 0: there is none."""
        self.has_ended_work = False
        """Whether `Stopped` was raised: what still works is a teardown."""
        self._lookers = 0
        self._guided = 0
        self.shows_wait: Callable[[str], object] = lambda _: None
        """Gets the name of a long wait."""

    def ask(self, reason: StopReason) -> None:
        """From here on work is to end: that of a run only where it is the one under way."""
        if not reason.run:
            self._of_all = self._of_all or reason
        elif reason.run == self.run:
            self._of_run = self._of_run or reason

    @property
    def reason(self) -> StopReason | None:
        """That of the first request; None: there was none. All work comes before a run."""
        return self._of_all or self._of_run

    @property
    def is_asked(self) -> bool:
        return self.reason is not None

    def check(self) -> None:
        """Raises `Stopped` where work is to end."""
        if (reason := self.reason) is not None:
            raise self.stopped(reason)

    def stopped(self, reason: StopReason) -> Stopped:
        """To be raised."""
        self.has_ended_work = True
        return Stopped(reason)

    def forget(self) -> None:
        """There was no request."""
        self._of_all, self._of_run, self.has_ended_work = None, None, False

    @contextmanager
    def of_run(self, number: int) -> Iterator[None]:
        """A block for the work of that run, with its teardown. A request to end this run alone is
        dropped at the end of the block, even if nothing has seen it."""
        self.run = number
        try:
            yield
        finally:
            self.run = 0
            if self._of_run is not None:
                self._of_run, self.has_ended_work = None, False

    def wait(self, seconds: float) -> None:
        """Raises `Stopped` as soon as work is to end, also before that."""
        until_s = time.monotonic() + seconds
        with self.looked_at():
            while (left_s := until_s - time.monotonic()) > 0 and not self.is_asked:
                time.sleep(min(left_s, _LOOK_EVERY_S))
        self.check()

    @contextmanager
    def looked_at(self) -> Iterator[None]:
        """A block whose work looks at the token every moment, and ends in order: nothing else needs
        to interrupt it. Behind it the token is to be looked at again, by `check`."""
        self._lookers += 1
        try:
            yield
        finally:
            self._lookers -= 1

    @property
    def is_looked_at(self) -> bool:
        """Whether the work that is under way ends by itself."""
        return self._lookers > 0

    @contextmanager
    def guides(self) -> Iterator[None]:
        """A block of work in which waits look at this token. Raises `Stopped` at its end where it
        was set and nothing has looked since."""
        before = _of_work.set(self)
        self._guided += 1
        try:
            yield
            self.check()
        finally:
            self._guided -= 1
            _of_work.reset(before)

    @property
    def is_guiding(self) -> bool:
        """Whether the work that is under way looks at it in its waits."""
        return self._guided > 0


NEVER = Stop()
"""For work that is never stopped."""
_of_work: ContextVar[Stop] = ContextVar("stop", default=NEVER)
teardowns: list[None] = []
"""One for each block that nothing may end."""


def tell(wait: str) -> None:
    _of_work.get().shows_wait(wait)


def look(_progress: object = None) -> None:
    """Raises `Stopped` where the work that waits is to end. Only once: a teardown waits as well,
    and is not to end. A library can call it while it waits."""
    stop = _of_work.get()
    if stop.is_asked and not stop.has_ended_work and not teardowns:
        stop.check()
