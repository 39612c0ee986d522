"""Whether the process that began an experiment is alive, also if its number was reused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_START_FIELD = 22 - 4
"""The start time is field 22 of ``/proc/<pid>/stat``, counted here from field 4 (see proc(5))."""


class RecordedProcess(NamedTuple):
    """Identifies a process: pids alone are reused, and start again at every boot."""

    pid: int
    started_ticks: int
    """Start time in clock ticks since boot."""
    boot_id: str
    """The kernel's random id of this boot; it does not identify the machine."""


def this_process() -> RecordedProcess:
    pid = os.getpid()
    return RecordedProcess(pid, _started_ticks(pid) or 0, _boot_id())


def is_alive(process: RecordedProcess) -> bool:
    """Also False if the record was written before a reboot, or on another machine."""
    return process.boot_id == _boot_id() and process.started_ticks == _started_ticks(process.pid)


def _boot_id() -> str:
    return _BOOT_ID.read_text(encoding="ascii").strip()


def _started_ticks(pid: int) -> int | None:
    """None where there is no such process, or it is a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name before the last ")" may hold blanks and parentheses of its own.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else int(fields[_START_FIELD])
