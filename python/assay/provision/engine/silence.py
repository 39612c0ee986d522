"""Takes what is waited for from a system, or a client program of it that is run; ends the wait
when the system shows no sign of life."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from msgspec.structs import replace

from assay.contracts.stop import look, tell
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import RunFailed, SystemDied
from assay.provision.machine.process_table import (
    STATE,
    SYSTEM_TICKS,
    USER_TICKS,
    Fields,
    family_of,
    process_file,
    ticks_of,
)
from assay.provision.processes import (
    ending_of_output,
    last_lines,
    program_command,
    surroundings,
    with_last_words,
)

LIMIT_S = 180.0
"""How long a system may show no sign of life while it is waited for."""
_LOOKS = 3
_LOCKED_S = 3.0
"""A library that has used no CPU time for so long waits for a lock."""
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
        self._ticks_before: tuple[float, int | None] | None = None
        self._looks_in_vain = 0
        self._looking: threading.Thread | None = None
        self._is_said = opens is not None

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

    def say_if_locked(self) -> None:
        """Once, where a library has used no CPU time for seconds, which is a wait for a lock."""
        now_s, before = time.monotonic(), self._ticks_before
        if self._is_said or (before is not None and now_s - before[0] < _LOCKED_S):
            return
        self._ticks_before = now_s, self._ticks()
        if before is not None and not waits_for_a_device():
            self._is_said = (self._ticks_before[1] or 0) - (before[1] or 0) < _LEAST_TICKS
            if self._is_said:
                tell(f"wait for {self._name}: another program may hold its lock")

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
        silence.say_if_locked()


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


_LOOK_EVERY_S = 0.05


@contextlib.contextmanager
def started_client(
    words: Sequence[str],
    environment: Mapping[str, str],
    directory: ServerDirectory,
    *,
    reads: Path | None,
    writes: Path,
    errors: Path,
) -> Iterator[subprocess.Popen[bytes]]:
    """The program, with its standard input, output and error in files; at the end of the block it
    is killed if it still runs. Raises `SystemMissing` if it is not there."""
    as_ourselves = not directory.is_confined
    around = surroundings(directory, environment, as_ourselves)
    unlimited = replace(directory, control_groups=())
    with contextlib.ExitStack() as files:
        if reads is not None:
            around["stdin"] = files.enter_context(reads.open("rb"))
        child = subprocess.Popen(
            program_command(words, None, signal.SIGKILL, unlimited, as_ourselves),
            stdout=files.enter_context(writes.open("wb")),
            stderr=files.enter_context(errors.open("wb")),
            **around,
        )
    try:
        yield child
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()


def run_client_to_end(
    words: Sequence[str],
    environment: Mapping[str, str],
    directory: ServerDirectory,
    *,
    reads: Path | None,
    writes: Path,
) -> None:
    """Raises `RunFailed` with the end of what it wrote to standard error, where its status is
    not 0, and `SystemDied` where neither it nor its server works any more."""
    errors = directory.run / "client-program.log"
    with started_client(
        words, environment, directory, reads=reads, writes=writes, errors=errors
    ) as child:
        program = Path(words[0]).name
        silence = Silence(program, None, ticks_of_children, "it has written nothing")
        while (status := child.poll()) is None:
            look()
            silence.progressed(writes.stat().st_size)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_LOOK_EVERY_S)
    if status != 0:
        raise RunFailed(with_last_words(ending_of_output(program, status), last_lines(errors)))
