"""Returns the processor states, the load and the page cache of the whole machine at this instant,
as ``top`` and ``free`` show them.

In a container these are the numbers of the machine around it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_STAT, _LOAD, _MEMORY = Path("/proc/stat"), Path("/proc/loadavg"), Path("/proc/meminfo")
_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_USER, _NICE, _SYSTEM, _IDLE, _IOWAIT, _INTERRUPT, _SOFT_INTERRUPT, _STEAL = range(8)
"""Columns of the first line of ``/proc/stat`` behind its name (proc(5))."""


@dataclass(frozen=True)
class MachineSample:
    """Times are sums over all processors since the machine was started."""

    user_ns: int
    """Programs, those of low priority (nice) included."""
    system_ns: int
    """The kernel, interrupts included."""
    idle_ns: int
    iowait_ns: int
    """Idle while a thread of this processor waited for a device."""
    steal_ns: int
    """Taken by other virtual machines."""
    load_1min: float
    """Threads that run, are ready to run or wait for a device: mean of about the last minute."""
    cached_bytes: int
    """Files in the page cache (``Cached``)."""
    dirty_bytes: int
    """Of them, not yet written to their device (``Dirty``)."""


def available_bytes() -> int:
    """Memory that can be had without ending a program: what is free, what only caches files, and
    swap. Of a kernel that does not say: all of it."""
    try:
        kib = _memory_kib()
        return (int(kib["MemAvailable"]) + int(kib["SwapFree"])) * 1024
    except (OSError, ValueError, IndexError, KeyError):
        return memory_bytes()


def memory_bytes() -> int:
    """Of the whole machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _memory_kib() -> dict[str, str]:
    with _MEMORY.open() as memory:
        return {name: words.split()[0] for name, _, words in (x.partition(":") for x in memory)}


def sample_machine() -> MachineSample | None:
    """None where the kernel does not show them."""
    try:
        with _STAT.open() as stat:
            ticks = [int(word) for word in stat.readline().split()[1:]]
        load = _LOAD.read_text().split()
        kib = _memory_kib()
        return MachineSample(
            user_ns=(ticks[_USER] + ticks[_NICE]) * _TICK_NS,
            system_ns=(ticks[_SYSTEM] + ticks[_INTERRUPT] + ticks[_SOFT_INTERRUPT]) * _TICK_NS,
            idle_ns=ticks[_IDLE] * _TICK_NS,
            iowait_ns=ticks[_IOWAIT] * _TICK_NS,
            steal_ns=ticks[_STEAL] * _TICK_NS,
            load_1min=float(load[0]),
            cached_bytes=int(kib["Cached"]) * 1024,
            dirty_bytes=int(kib["Dirty"]) * 1024,
        )
    except (OSError, ValueError, IndexError, KeyError):
        return None
