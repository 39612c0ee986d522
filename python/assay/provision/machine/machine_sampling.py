"""Returns the processor states, the load and the memory of the whole machine at this instant, as
``top`` and ``free`` show them.

In a container these are the numbers of the machine around it.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

_STAT, _LOAD, _MEMORY = Path("/proc/stat"), Path("/proc/loadavg"), Path("/proc/meminfo")
_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_USER, _NICE, _SYSTEM, _IDLE, _IOWAIT, _INTERRUPT, _SOFT_INTERRUPT, _STEAL = range(8)
"""Columns of the first line of ``/proc/stat`` behind its name (proc(5))."""


class MachineSample(Struct, frozen=True):
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
    # None where the kernel does not show them.
    load_5min: float | None = None
    load_15min: float | None = None
    used_bytes: int | None = None
    """Memory that programs could not have (``MemTotal`` less ``MemAvailable``), as in ``free``."""
    free_bytes: int | None = None
    """Memory that holds nothing, not even files (``MemFree``)."""
    buffers_bytes: int | None = None
    """Blocks of devices in the page cache (``Buffers``)."""
    shared_bytes: int | None = None
    """Memory that processes share, and files in memory: tmpfs (``Shmem``)."""
    swap_used_bytes: int | None = None
    context_switches: int | None = None
    """Of all processors since the machine was started, as the next."""
    interrupts: int | None = None


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
            counters = {name: words.split() for name, _, words in (x.partition(" ") for x in stat)}
        ticks = [int(word) for word in counters["cpu"]]
        load = _LOAD.read_text().split()
        memory = {name: int(kib) * 1024 for name, kib in _memory_kib().items()}
        return MachineSample(
            user_ns=(ticks[_USER] + ticks[_NICE]) * _TICK_NS,
            system_ns=(ticks[_SYSTEM] + ticks[_INTERRUPT] + ticks[_SOFT_INTERRUPT]) * _TICK_NS,
            idle_ns=ticks[_IDLE] * _TICK_NS,
            iowait_ns=ticks[_IOWAIT] * _TICK_NS,
            steal_ns=ticks[_STEAL] * _TICK_NS,
            load_1min=float(load[0]),
            cached_bytes=memory["Cached"],
            dirty_bytes=memory["Dirty"],
            load_5min=float(load[1]),
            load_15min=float(load[2]),
            used_bytes=memory["MemTotal"] - memory["MemAvailable"],
            free_bytes=memory["MemFree"],
            buffers_bytes=memory["Buffers"],
            shared_bytes=memory["Shmem"],
            swap_used_bytes=memory["SwapTotal"] - memory["SwapFree"],
            context_switches=int(counters["ctxt"][0]),
            interrupts=int(counters["intr"][0]),
        )
    except (OSError, ValueError, IndexError, KeyError):
        return None
