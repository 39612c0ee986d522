"""A request to stop, as a token: work checks it between two steps and while waiting, and ends in
order.

It is set by a signal handler or by another thread: Ctrl-C, SIGTERM, a deadline, a gate.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

INTERRUPTED = 130
_LOOK_EVERY_S = 0.05


@dataclass(frozen=True)
class StopReason:
    """Why work is to end."""

    name: str = ""
    """``SIGTERM``, ``the deadline``; empty: Ctrl-C."""
    exit_code: int = INTERRUPTED
    """That of the program."""


class Stopped(KeyboardInterrupt):
    """The token was looked at, and work is to end. For all that Python does with an interrupt it is
    one: no ``except Exception`` holds it up, and every teardown runs."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(*([reason.name] if reason.name else []))
        self.reason = reason


class Stop:
    """Not requested at first. Without locks, since a signal handler may run during any method."""

    def __init__(self) -> None:
        self.reason: StopReason | None = None
        """That of the first request; None: there was none."""
        self._lookers = 0

    def ask(self, reason: StopReason) -> None:
        """From here on work is to end."""
        if self.reason is None:
            self.reason = reason

    @property
    def is_asked(self) -> bool:
        return self.reason is not None

    def check(self) -> None:
        """Raises `Stopped` where work is to end."""
        if self.reason is not None:
            raise Stopped(self.reason)

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


NEVER = Stop()
"""For work that is never stopped."""
