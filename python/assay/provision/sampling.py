"""Takes a server's first process; gives what all its processes use at this instant."""

from __future__ import annotations

import os
from pathlib import Path

from assay.provision.identity import stat_fields
from assay.systems.protocol import ProcessSample

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def sample(
    pid: int, data_directory: Path | None = None, *, with_descendants: bool = True
) -> ProcessSample | None:
    """Sums over the process and all that descend from it; None if it is gone.

    Time and bytes include those of children that have ended, so they never go down while the first
    process lives. Processes that end while we look are passed over.
    """
    family = _family(pid) if with_descendants else [pid]
    inside = None if data_directory is None else f"{data_directory.resolve()}/"
    processes = threads = resident = virtual = files = ticks = read = written = 0
    for member in family:
        fields = stat_fields(member)
        if fields is None:
            continue
        processes += 1
        ticks += sum(map(int, fields[11:15]))
        threads += int(fields[17])
        virtual += int(fields[20])
        resident += _resident_bytes(member, int(fields[21]) * _PAGE_BYTES)
        bytes_read, bytes_written = _io(member)
        read += bytes_read
        written += bytes_written
        if inside is not None:
            files += _open_files(member, inside)
    if processes == 0:
        return None
    return ProcessSample(
        processes=processes,
        threads=threads,
        resident_bytes=resident,
        virtual_bytes=virtual,
        open_files=files,
        cpu_ns=ticks * _TICK_NS,
        read_bytes=read,
        written_bytes=written,
    )


def _family(pid: int) -> list[int]:
    """The process and its descendants, by one pass over the process table."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and (fields := stat_fields(int(path.name))) is not None:
            children.setdefault(int(fields[1]), []).append(int(path.name))
    family = [pid]
    for member in family:  # grows while we walk it
        family.extend(children.get(member, ()))
    return family


def _resident_bytes(pid: int, otherwise: int) -> int:
    """Resident memory with shared pages split among those who share them (PSS), where the kernel
    lets us see it; else all resident pages."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return otherwise


def _io(pid: int) -> tuple[int, int]:
    """Bytes read from and written to storage (page cache hits are not in it); zero where unseen."""
    try:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    except OSError:
        return 0, 0
    counts = dict(line.split(": ") for line in lines)
    return int(counts["read_bytes"]), int(counts["write_bytes"])


def _open_files(pid: int, inside: str) -> int:
    count = 0
    try:
        descriptors = [entry.path for entry in os.scandir(f"/proc/{pid}/fd")]
    except OSError:
        return 0
    for descriptor in descriptors:
        try:
            # Some thousands for a server with hundreds of sessions: pathlib costs three times more.
            count += os.readlink(descriptor).startswith(inside)  # noqa: PTH115
        except OSError:
            continue
    return count
