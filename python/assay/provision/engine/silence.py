"""Takes what is waited for from a system; ends the wait when the system shows no sign of life.

A statement may take hours, so time alone ends no wait. Each time a third of the limit has passed
without progress, a sign of life is looked for: the system opens another session, or it has used CPU
time since the last look. A wait ends after three looks in a row without such a sign.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from assay.contracts.stop import look
from assay.errors import SystemDied
from assay.provision.machine.family import (
    STATE,
    SYSTEM_TICKS,
    USER_TICKS,
    Fields,
    family_of,
    ticks_of,
)
from assay.provision.machine.identity import process_file

LIMIT_S = 180.0
"""How long a system may show no sign of life while it is waited for."""
_LOOKS = 3
_LEAST_TICKS = 5
"""CPU time between two looks, in ticks of the kernel, of a system that works: threads that wait for
something wake up now and then."""


class Silence:
    """``name``: of the system; ``opens``: whether it opens a session, None: it is a library, which
    always does; ``ticks``: its CPU time so far, None where that is not seen; ``no_progress``: what
    is missing, in words; ``warn`` gets a sentence at each look."""

    def __init__(
        self,
        name: str,
        opens: Callable[[], bool] | None,
        ticks: Callable[[], int | None],
        no_progress: str = "no answer",
        warn: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._name, self._opens, self._ticks = name, opens, ticks
        self._no_progress, self._warn = no_progress, warn
        self._count: object = None
        self._since_s = self._looked_s = time.monotonic()
        self._ticks_seen: int | None = None
        self._looks_in_vain = 0
        self._looking: threading.Thread | None = None

    def progressed(self, count: object = None) -> None:
        """``count`` changes with each progress. Raises `SystemDied` at the limit."""
        now_s = time.monotonic()
        if count != self._count:
            self._count, self._looks_in_vain = count, 0
            self._since_s = self._looked_s = now_s
        if self._looking is not None and self._looking.is_alive():
            return
        quiet_s = now_s - self._since_s
        if self._looks_in_vain >= _LOOKS:
            and_no = "it opens no session" if self._opens else "it uses no CPU time"
            raise SystemDied(
                f"{self._name} does not answer: {self._no_progress} for {quiet_s:.0f} s, and "
                f"{and_no}",
                hint="is the server stopped, or the network down?"
                if self._opens
                else "is it stopped, does another program lock its files, or does a device fail?",
            )
        if now_s - self._looked_s >= LIMIT_S / _LOOKS:
            self._looked_s = now_s
            self._warn(f"{self._no_progress} for {quiet_s:.0f} s")
            # In a thread: the clients wait for this function to return.
            self._looking = threading.Thread(target=self._look, name="silent system", daemon=True)
            self._looking.start()

    def _look(self) -> None:
        is_alive = waits_for_a_device() if self._opens is None else self._opens()
        if not is_alive:
            ticks, before = self._ticks(), self._ticks_seen
            self._ticks_seen = ticks
            is_alive = None not in (ticks, before) and ticks - before >= _LEAST_TICKS  # type: ignore[operator]
        self._looks_in_vain = 0 if is_alive else self._looks_in_vain + 1


_of_wait: ContextVar[Silence | None] = ContextVar("silence", default=None)


@contextmanager
def limited(silence: Silence) -> Iterator[None]:
    """A block that waits for a system: `waiting` ends it at the limit."""
    before = _of_wait.set(silence)
    try:
        yield
    finally:
        _of_wait.reset(before)


def waiting(_progress: object = None) -> None:
    """Called while an answer is waited for. Raises `Stopped` where the work is to end, and
    `SystemDied` where the system shows no sign of life."""
    look()
    if (silence := _of_wait.get()) is not None:
        silence.progressed()


def ticks_of_processes(first: list[int | None]) -> int | None:
    """CPU time of these processes and their descendants; None where one is not seen."""
    families = [{} if pid is None else family_of(pid) for pid in first]
    if not families or not all(families):
        return None
    return sum(ticks_of(fields) for family in families for fields in family.values())


def ticks_of_libraries() -> int:
    """CPU time of the threads of this process that do not run Python: those that call the library
    of a system."""
    threads = _threads_of_libraries()
    return sum(int(one[USER_TICKS]) + int(one[SYSTEM_TICKS]) for one in threads)


def waits_for_a_device() -> bool:
    """Whether a thread of a library does: a long flush uses no CPU time, and nothing can end it."""
    return any(one[STATE] == "D" for one in _threads_of_libraries())


def _threads_of_libraries() -> Iterator[Fields]:
    python = {thread.native_id for thread in threading.enumerate()}
    pid = os.getpid()
    for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  (numbers, no paths)
        if int(name) not in python:
            with suppress(OSError):  # it has ended
                text = process_file(pid, f"task/{name}/stat")
                yield text[text.rindex(")") + 1 :].split()


def ticks_of_children() -> int:
    """CPU time of the processes that this one has started, and of their descendants."""
    own = os.getpid()
    return sum(ticks_of(fields) for pid, fields in family_of(own).items() if pid != own)
