"""Takes a server's first process, or nothing for the whole machine; returns what is used at this
instant, as ``top`` and ``free`` show it."""

from __future__ import annotations

import os
from collections import ChainMap, Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from assay.contracts.deployment import Deployment
from assay.contracts.systems.protocol import ProcessSample
from assay.provision.machine.process_table import (
    Fields,
    family_of,
    members_of_session,
    process_file,
    stat_fields,
    ticks_of,
)

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_THREADS, _VIRTUAL_BYTES, _RESIDENT_PAGES = 17, 20, 21
_LARGEST_ASKED, _OTHERS_ASKED = 4, 8
"""Processes that are asked for their share of memory: all the largest, about so many others."""
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def _context_switches(pid: int, _fields: Fields) -> int | None:
    """Of all its threads: those that waited, and those that were made to."""
    try:
        threads = [entry.name for entry in os.scandir(f"/proc/{pid}/task")]
        texts = [process_file(pid, f"task/{thread}/status") for thread in threads]
    except OSError:  # gone, or a thread of it is
        return None
    lines = (line for text in texts for line in text.splitlines() if "_ctxt_switches:" in line)
    return sum(int(line.split()[1]) for line in lines)


_MINOR_FAULTS, _MAJOR_FAULTS = 7, 9
COUNTED: Mapping[str, Callable[[int, Fields], int | None]] = {
    "context_switches": _context_switches,
    "page_faults": lambda _pid, fields: int(fields[_MINOR_FAULTS]) + int(fields[_MAJOR_FAULTS]),
    "major_page_faults": lambda _pid, fields: int(fields[_MAJOR_FAULTS]),
}
"""What the kernel counts of a process since it began: name → how it is read, from its number and
its `stat` fields; None where it may not be seen, or the process is gone."""


def sample(
    pid: int, data_directory: Path | None = None, *, with_descendants: bool = True
) -> ProcessSample | None:
    """Sums over the process and all that descend from it; None if it is gone.

    Times include those of children that have ended, so they never go down while the first process
    lives.
    """
    if with_descendants:
        family = family_of(pid)
    else:
        fields = stat_fields(pid)
        family = {} if fields is None else {pid: fields}
    return _sample_of(family, data_directory)


def sample_session(session: int, data_directory: Path | None = None) -> ProcessSample | None:
    """Sums over the processes of a session of the operating system; None if there are none."""
    return _sample_of(members_of_session(session), data_directory)


def _sample_of(family: Mapping[int, Fields], data_directory: Path | None) -> ProcessSample | None:
    if not family:
        return None
    inside = None if data_directory is None else f"{data_directory.resolve()}/"
    read = [_read_bytes(member) for member in family]
    of_members = [_open_files(member, inside) for member in family]
    handles = Counter(file for files in of_members for file in files or ())
    is_counted = any(files is not None for files in of_members)
    return ProcessSample(
        processes=len(family),
        threads=sum(int(fields[_THREADS]) for fields in family.values()),
        resident_bytes=_resident_of(family),
        virtual_bytes=sum(int(fields[_VIRTUAL_BYTES]) for fields in family.values()),
        open_files=handles.total() if is_counted else None,
        cpu_ns=sum(map(ticks_of, family.values())) * TICK_NS,
        read_bytes=None if None in read else sum(filter(None, read)),
        files=len(handles) if is_counted else None,
        handles=handles,
        pids=tuple(family),
        counts=_counts(family),
    )


def _counts(family: Mapping[int, Fields]) -> dict[str, dict[int, int]]:
    found = {}
    for name, count in COUNTED.items():
        read = {pid: count(pid, fields) for pid, fields in family.items()}
        known = {pid: value for pid, value in read.items() if value is not None}
        if known:
            found[name] = known
    return found


def sample_nodes(deployment: Deployment) -> ProcessSample | None:
    """Sums over the processes of all nodes; None where any of them is not seen, or gone."""
    seen = []
    for node in deployment.nodes:
        pid = node.seen_pid if node.pid is None else node.pid
        seen.append(None if pid is None else sample(pid, node.directory))
    return total(seen)


def total(seen: Sequence[ProcessSample | None]) -> ProcessSample | None:
    """Their sums; None where one of them is."""
    found = [one for one in seen if one is not None]
    if len(found) < len(seen):
        return None
    read, opened = [one.read_bytes for one in found], [one.open_files for one in found]
    handles: Counter[str] = Counter()
    for one in found:
        handles.update(one.handles)
    return ProcessSample(
        processes=sum(one.processes for one in found),
        threads=sum(one.threads for one in found),
        resident_bytes=sum(one.resident_bytes for one in found),
        virtual_bytes=sum(one.virtual_bytes for one in found),
        open_files=None if None in opened else sum(filter(None, opened)),
        cpu_ns=sum(one.cpu_ns for one in found),
        read_bytes=None if None in read else sum(filter(None, read)),
        files=None if any(one.files is None for one in found) else len(handles),
        handles=handles,
        pids=tuple(pid for one in found for pid in one.pids),
        counts={
            name: dict(ChainMap(*(dict(one.counts[name]) for one in found)))
            for name in COUNTED
            if all(name in one.counts for one in found)
        },
    )


def _resident_of(family: Mapping[int, Fields]) -> int:
    """Resident memory of all, shared pages counted once.

    The kernel walks all pages of a process for this: 1.4 ms with 160 MB of shared memory, with 128
    sessions 190 ms of the processors that client and server work with. So the largest processes are
    asked, and of many others a number, evenly over their sizes: sessions are alike.
    """
    resident = {pid: int(fields[_RESIDENT_PAGES]) * _PAGE_BYTES for pid, fields in family.items()}
    by_size = sorted(resident, key=resident.__getitem__, reverse=True)
    largest, others = by_size[:_LARGEST_ASKED], by_size[_LARGEST_ASKED:]
    step = max(1, len(others) // _OTHERS_ASKED)
    asked = others[step // 2 :: step]
    exact, share_of_asked = (
        sum(_resident_bytes(pid, resident[pid]) for pid in pids) for pids in (largest, asked)
    )
    asked_bytes, others_bytes = (sum(map(resident.__getitem__, pids)) for pids in (asked, others))
    return exact + (round(share_of_asked * others_bytes / asked_bytes) if asked_bytes else 0)


def _resident_bytes(pid: int, otherwise: int) -> int:
    """Resident memory with shared pages split among those who share them (PSS), where the kernel
    lets us see it; else all resident pages."""
    try:
        for line in process_file(pid, "smaps_rollup").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return otherwise


def _read_bytes(pid: int) -> int | None:
    """Bytes read from storage (page cache hits are not in it); None where we may not see it, 0 of a
    process that is gone.

    What is written is not taken from here: the kernel counts the whole folio (up to 2 MiB) for a
    write of any part of it.
    """
    try:
        lines = process_file(pid, "io").splitlines()
    except PermissionError:
        return None
    except OSError:
        return 0
    counts = dict(line.split(": ") for line in lines)
    return int(counts["read_bytes"])


def _open_files(pid: int, inside: str | None) -> list[str] | None:
    """Paths of the open files below ``inside``, one for each handle; None where we may not see
    them, or do not know where the data are."""
    if inside is None:
        return None
    try:
        descriptors = [entry.path for entry in os.scandir(f"/proc/{pid}/fd")]
    except OSError:
        return None
    found = []
    for descriptor in descriptors:
        try:
            # Some thousands for a server with hundreds of sessions: pathlib costs three times more.
            file = os.readlink(descriptor)  # noqa: PTH115
        except OSError:
            continue
        if file.startswith(inside):
            found.append(file[len(inside) :])
    return found


_STAT, _LOAD, _MEMORY = Path("/proc/stat"), Path("/proc/loadavg"), Path("/proc/meminfo")
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


def available_memory_bytes() -> int:
    """Memory that can be had without ending a program: what is free, what only caches files, and
    swap. Of a kernel that does not say: all of it."""
    try:
        kib = _memory_kib()
        return (int(kib["MemAvailable"]) + int(kib["SwapFree"])) * 1024
    except (OSError, ValueError, IndexError, KeyError):
        return machine_memory_bytes()


def machine_memory_bytes() -> int:
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
            user_ns=(ticks[_USER] + ticks[_NICE]) * TICK_NS,
            system_ns=(ticks[_SYSTEM] + ticks[_INTERRUPT] + ticks[_SOFT_INTERRUPT]) * TICK_NS,
            idle_ns=ticks[_IDLE] * TICK_NS,
            iowait_ns=ticks[_IOWAIT] * TICK_NS,
            steal_ns=ticks[_STEAL] * TICK_NS,
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
