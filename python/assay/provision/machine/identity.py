"""Takes a process number; returns an identity that stays unique when the number is reused.

A process number alone is not unique: numbers are reused. A number and the kernel's start time
(field 22 of ``/proc/PID/stat``, in clock ticks since boot) are one, as long as the machine is up.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

_WHOLE_BYTES = 1 << 16


def stat_fields(pid: int) -> list[str] | None:
    """The fields of ``/proc/PID/stat`` from the third (state) on; None if there is no such process.

    The second field, the program's name, may itself hold blanks and parentheses: it ends at the
    last parenthesis of the line.
    """
    try:
        text = process_file(pid, "stat")
    except OSError:
        return None
    return text[text.rindex(")") + 1 :].split()


def process_file(pid: int, name: str) -> str:
    """The text of ``/proc/PID/NAME``, a file that the kernel makes as one piece (``stat``, ``io``,
    ``smaps_rollup``). Raises `OSError`.

    Some hundreds are read for one sample of a server: a file object with its path costs twice what
    the kernel needs.
    """
    descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _WHOLE_BYTES).decode(errors="replace")
    finally:
        os.close(descriptor)


def boot_id() -> str:
    """Names this boot of this machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@dataclass(frozen=True)
class ProcessIdentity:
    pid: int
    start_ticks: int
    boot: str
    """The kernel's random id of this boot; it does not identify the machine."""

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity | None:
        """The process that has this number now; None where there is none."""
        fields = stat_fields(pid)
        return None if fields is None else cls(pid, int(fields[19]), boot_id())

    @classmethod
    def own(cls) -> ProcessIdentity:
        """Of the process that calls it."""
        return cls.of(os.getpid()) or cls(os.getpid(), 0, boot_id())

    def is_alive(self) -> bool:
        """Whether this very process still runs; a zombie does not."""
        fields = stat_fields(self.pid)
        return (
            fields is not None
            and fields[0] not in "ZX"
            and int(fields[19]) == self.start_ticks
            and self.boot == boot_id()
        )

    def resume(self) -> None:
        """Continues the process if it was stopped (SIGSTOP); one that runs does not notice.

        Its state is not asked first: a stop that was sent and not yet obeyed does not show in it.
        """
        self.send(signal.SIGCONT)

    def send(self, number: int) -> None:
        """Sends a signal to this process, and to no other that has its number.

        The handle is taken first and the start time compared after: between the two the number
        cannot come to mean another process, as the handle stays with the first.
        """
        try:
            handle = os.pidfd_open(self.pid)
        except OSError:
            return
        try:
            if self.is_alive():
                signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            pass
        finally:
            os.close(handle)
