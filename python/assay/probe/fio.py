"""Takes a file and a time; runs ``fio`` on it and returns what it measured.

A first run writes the file from its beginning for a share of the time, which is the sequential
write. What it wrote is real data on the storage, and only that much is read by the second run: a
file that was only allocated would be read as zeros, without the storage.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import structs

from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import SystemRefused
from assay.probe.values import (
    DEPTHS,
    FLUSH_PARTS,
    LEAST_FOR_P99,
    PAGE_BYTES,
    Flushes,
    Measured,
    Probe,
    RandomReads,
)
from assay.provision.machine.program import Program

FIO = Program("fio", "fio")
_STREAM_BYTES = 1 << 20
"""Of one sequential read or write."""
_STREAM_DEPTH = 4
_REPORT = "fio.json"
_WRITE, _READ, _FLUSH = "sequential-write", "sequential-read", "flush"
_SHARES = {_WRITE: 0.25, _READ: 0.15, _FLUSH: 0.2}
_RANDOM_SHARE = 0.1
"""Of the time, for the random reads of each depth."""
_TIMEOUT_S = 60.0
"""A storage with few operations per second is slow to end those that are under way."""


class _Times(msgspec.Struct, frozen=True):
    """Of requests, in nanoseconds."""

    mean: float = 0.0
    percentile: dict[str, float] = {}


class _Side(msgspec.Struct, frozen=True):
    """The reads or the writes of a part."""

    total_ios: int
    runtime: int
    """In milliseconds."""
    io_bytes: int
    lat_ns: _Times
    clat_ns: _Times


class _Syncs(msgspec.Struct, frozen=True):
    lat_ns: _Times = _Times()


class _Part(msgspec.Struct, frozen=True):
    jobname: str
    read: _Side
    write: _Side
    sync: _Syncs = _Syncs()


class _Report(msgspec.Struct, frozen=True):
    """What ``fio`` writes, as far as it is read here."""

    version: str = msgspec.field(name="fio version")
    jobs: tuple[_Part, ...]

    def part(self, name: str) -> _Part:
        return next(part for part in self.jobs if part.jobname == name)


def is_installed() -> bool:
    return FIO.find() is not None


def measure(
    probe: Probe,
    file: Path,
    most_bytes: int,
    seconds: float,
    directory: ServerDirectory,
    *,
    is_direct: bool,
) -> Probe:
    """Writes the file anew, at most so large, and reads it, all in about so many seconds; returns
    ``probe`` with what was measured.

    Raises `SystemRefused` with the words of ``fio`` if it fails.
    """
    common = [
        FIO.name,
        "--output-format=json",
        "--eta=never",
        "--thread",  # no child of it can survive it
        f"--filename={file}",
        "--fallocate=none",
        "--randrepeat=0",
    ]
    stream = [f"--bs={_STREAM_BYTES}", *_queue(_STREAM_DEPTH, is_direct)]
    written = _reports(
        [
            *common,
            *_part(_WRITE, "write", seconds * _SHARES[_WRITE], most_bytes, stream),
            "--end_fsync=1",
        ],
        directory,
        seconds,
    )
    wrote = written.part(_WRITE).write
    sequential_write = _measured(wrote)
    file_bytes = wrote.io_bytes // PAGE_BYTES * PAGE_BYTES
    if file_bytes < _STREAM_BYTES:
        raise SystemRefused(f"it wrote only {file_bytes} bytes in {seconds * _SHARES[_WRITE]:g} s")
    # As databases write their log: through the page cache, over what is there already.
    flushed = [f"--bs={PAGE_BYTES}", "--ioengine=psync", "--fdatasync=1"]
    flush_s = seconds * _SHARES[_FLUSH] / FLUSH_PARTS
    # Before, between and after the reads: a short disturbance meets one of them.
    first, between, last = (
        _part(name, "write", flush_s, file_bytes, flushed) for name in _flush_names()
    )
    again = [*common, "--time_based", *first]
    for place, depth in enumerate(DEPTHS):
        page = [f"--bs={PAGE_BYTES}", *_queue(depth, is_direct)]
        again += between if place == len(DEPTHS) // 2 else []
        again += _part(_random(depth), "randread", seconds * _RANDOM_SHARE, file_bytes, page)
    again += _part(_READ, "read", seconds * _SHARES[_READ], file_bytes, stream)
    reports = _reports([*again, *last], directory, seconds)
    return structs.replace(
        probe,
        program=reports.version,
        file_bytes=file_bytes,
        random_reads=tuple(_random_reads(reports.part(_random(depth)), depth) for depth in DEPTHS),
        sequential_read=_measured(reports.part(_READ).read),
        sequential_write=sequential_write,
        flushes=_flushes([_flushed(reports.part(name)) for name in _flush_names()]),
    )


def _flush_names() -> Sequence[str]:
    return [f"{_FLUSH}-{number}" for number in range(1, FLUSH_PARTS + 1)]


def _random(depth: int) -> str:
    return f"random-read-{depth}"


def _queue(depth: int, is_direct: bool) -> list[str]:
    return ["--ioengine=libaio", f"--iodepth={depth}", f"--direct={int(is_direct)}"]


def _part(name: str, access: str, seconds: float, size_bytes: int, more: list[str]) -> list[str]:
    """It begins when the one before it has ended."""
    return [
        f"--name={name}",
        "--stonewall",
        f"--rw={access}",
        f"--size={size_bytes}",
        f"--runtime={max(1, round(seconds * 1000))}ms",
        *more,
    ]


def _reports(arguments: list[str], directory: ServerDirectory, seconds: float) -> _Report:
    """The report on each part."""
    # Apart from its words, of which the last ones say why it failed.
    written = directory.run / _REPORT
    written.unlink(missing_ok=True)
    from assay.provision.processes.programs import run

    run([*arguments, f"--output={written}"], directory, timeout_s=seconds + _TIMEOUT_S)
    try:
        text = written.read_text(encoding="utf-8", errors="replace")
        # Remarks may stand before it.
        report = json.loads(text[text.index("{\n") : text.rindex("}") + 1])
        return msgspec.convert(report, _Report, strict=False)
    except (OSError, ValueError) as error:
        raise SystemRefused(f"expected a report in JSON from {FIO.name}: {error}") from error


def _measured(side: _Side) -> Measured:
    count, elapsed_s = side.total_ios, max(1, side.runtime) / 1000
    return Measured(
        count=count,
        per_s=count / elapsed_s,
        bytes_per_s=side.io_bytes / elapsed_s,
        mean_ns=round(side.lat_ns.mean),
        p99_ns=_p99(side.clat_ns, count),
    )


def _random_reads(part: _Part, depth: int) -> RandomReads:
    return RandomReads(depth=depth, **structs.asdict(_measured(part.read)))


def _flushes(parts: Sequence[Measured]) -> Flushes:
    rates = [one.per_s for one in parts]
    middle = next(one for one in parts if one.per_s == statistics.median_low(rates))
    return Flushes(
        **{**structs.asdict(middle), "count": sum(one.count for one in parts)},
        low_per_s=min(rates),
        high_per_s=max(rates),
    )


def _flushed(part: _Part) -> Measured:
    """A flush counts with the write before it."""
    write, flush = _measured(part.write), part.sync.lat_ns
    return structs.replace(
        write,
        mean_ns=write.mean_ns + round(flush.mean),
        p99_ns=_p99(flush, write.count),
    )


def _p99(times: _Times, count: int) -> int | None:
    p99_ns = times.percentile.get("99.000000")
    return round(p99_ns) if p99_ns is not None and count >= LEAST_FOR_P99 else None
