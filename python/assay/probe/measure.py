"""Takes the directory of a server on its storage; has ``fio`` read, write and flush there, returns
the storage's `Probe`, and leaves nothing behind.

The accesses are those of databases: random reads of one page at several depths, long sequential
reads and writes, and small writes that are each flushed, as at a commit.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from msgspec import Struct, structs

from assay import __version__, env_vars
from assay.contracts.documents import Shape
from assay.contracts.durability import Durability
from assay.contracts.observation import DeviceCounts
from assay.contracts.observation.costs import LEAST_OTHERS_NS, OTHERS_LIMIT, TICK_NS
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import AssayError, SystemRefused, says_disk_is_full
from assay.provision.machine.mounts import mount_of
from assay.provision.machine.process_table import boot_id, ticks_of_others
from assay.provision.machine.program import Program
from assay.storages.device_counters import devices_of_storage
from assay.text import units
from assay.text.output_file import write_file
from assay.text.phrases import phrase, reason_sentence
from assay.text.quantities import PROBE_DEFAULT_S
from assay.text.units import duration, size

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


def run_fio(
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
    from assay.provision.processes import run_program

    run_program([*arguments, f"--output={written}"], directory, timeout_s=seconds + _TIMEOUT_S)
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
        write, mean_ns=write.mean_ns + round(flush.mean), p99_ns=_p99(flush, write.count)
    )


def _p99(times: _Times, count: int) -> int | None:
    p99_ns = times.percentile.get("99.000000")
    return round(p99_ns) if p99_ns is not None and count >= LEAST_FOR_P99 else None


Say = Callable[[str], None]


def not_said(_line: str) -> None:
    """Ignores the line."""


class FirstUse(Struct, frozen=True):
    probe_s: float | None = None
    """How long to probe each storage; 0: not at all; None: `PROBE_DEFAULT_S` where the experiment
    compares storages, else not at all."""
    measures_durability: bool = True
    """Whether to measure that commits are flushed before they are answered."""
    again: bool = False
    """Whether to measure what the user's cache has."""

    def chosen_probe_s(self, *, compares_storages: bool) -> float:
        if self.probe_s is None:
            return PROBE_DEFAULT_S if compares_storages else 0.0
        return self.probe_s


NOT_INSTALLED: Final = f"{FIO.name} is not installed"
HOW_TO_INSTALL: Final = FIO.hint

_BYTES_PER_S = 128 << 20
"""Of the file, for each second of the probe: more than a disk can write in its share."""
_SHARE_OF_FREE = 4
"""At most this part of the free space is filled."""
_LEAST_FREE_BYTES = 16 << 20


def probe(
    directory: ServerDirectory,
    seconds: float = PROBE_DEFAULT_S,
    *,
    again: bool = True,
    say: Say = not_said,
    warn: Say = not_said,
) -> Probe:
    """Measures in about so many seconds, as the user and in the place of the server whose directory
    this is; a raw device is overwritten from its beginning. Where that is not possible the probe
    has a reason and no figures. Without ``again`` the result of the last day will do."""
    name, depends_on = directory.storage.name, (place(directory.storage), seconds)
    if not again and (known := kept(Probe, depends_on)) is not None:
        say(f"probe {name}{said_age(known)}")
        return structs.replace(known, storage=name)
    say(f"probe {name}")
    found = Probe(storage=name, begun_unix_ns=time.time_ns(), seconds=seconds)
    if not is_installed():
        return structs.replace(found, reason=f"{NOT_INSTALLED}: {HOW_TO_INSTALL}")
    if (device := directory.raw_device) is not None:
        free_bytes, file, is_direct = _device_bytes(device), device, True
    else:
        free_bytes, is_direct = _free_bytes(directory.root), _can_be_direct(directory.root)
        file = directory.plain_root / "probe"  # fio would split another path at its colons
    if free_bytes < _LEAST_FREE_BYTES:
        reason = f"{size(free_bytes)} are free, expected at least {size(_LEAST_FREE_BYTES)}"
        return structs.replace(found, reason=reason)
    most_bytes = min(int(_BYTES_PER_S * seconds), free_bytes // _SHARE_OF_FREE)
    devices = devices_of_storage(directory.storage, directory.root)
    began_s, others_before = time.monotonic(), ticks_of_others([os.getpid()])
    before = devices.counts() if devices else None
    try:
        measured = run_fio(found, file, most_bytes, seconds, directory, is_direct=is_direct)
    except SystemRefused as error:
        is_full = says_disk_is_full(error.message)
        return structs.replace(
            found, reason="the storage is full" if is_full else reason_sentence(error.message)
        )
    finally:
        if device is None:
            file.unlink(missing_ok=True)
    flushed = _flushes_since(before, devices.counts() if devices else None)
    measured = structs.replace(measured, is_direct=is_direct, device_flushes=flushed)
    others_ns = (ticks_of_others([os.getpid()]) - others_before) * TICK_NS
    if others := _share_of_others(others_ns, time.monotonic() - began_s):
        used = units.share_beyond(others, OTHERS_LIMIT)
        warn(f"the probe of {name} is not kept for a day: other programs used {used} of the CPUs")
    elif not (measured.flushes and measured.flushes.is_uneven):
        keep(measured, depends_on, warn)
    return measured


def _share_of_others(others_ns: int, elapsed_s: float) -> float:
    """Of the machine's CPUs; 0: so little that it disturbs nothing."""
    used = min(1.0, others_ns / 1e9 / elapsed_s / (os.cpu_count() or 1))
    return used if used > OTHERS_LIMIT and others_ns > LEAST_OTHERS_NS else 0.0


def _flushes_since(before: DeviceCounts | None, after: DeviceCounts | None) -> int | None:
    if before is None or after is None or before.flushes is None or after.flushes is None:
        return None
    return after.flushes - before.flushes


def _free_bytes(directory: Path) -> int:
    room = os.statvfs(directory)
    return room.f_bavail * room.f_frsize


def _device_bytes(device: Path) -> int:
    number = os.open(device, os.O_RDONLY)
    try:
        return os.lseek(number, 0, os.SEEK_END)
    finally:
        os.close(number)


def _can_be_direct(directory: Path) -> bool:
    """Whether files can be opened past the page cache; older tmpfs and some others cannot."""
    file = directory / "direct"
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600))
    except OSError:
        return False
    finally:
        file.unlink(missing_ok=True)
    return True


PAGE_BYTES = 8192
"""Of a random read, and of a write that is flushed: the page size of most databases."""
DEPTHS = (1, 4, 16, 32)
"""How many random reads are under way at once."""
FLUSH_PARTS = 3
"""How often flushes are measured."""
UNEVEN = 1.5
"""From here on the fastest measurement of flushes is so many times the slowest that something else
took part (on a quiet machine they lay within a factor of 1.4). The same between two probes of a
storage."""
LEAST_FOR_P99 = 100
"""With fewer operations there is no 99th percentile."""


class Measured(Shape, frozen=True, kw_only=True):
    """Operations of one kind."""

    count: int
    per_s: float
    bytes_per_s: float
    mean_ns: int
    """Of one operation, from its start to its end."""
    p99_ns: int | None = None
    """None: too few operations. Of flushes: of the flush alone, without its write."""


class Flushes(Measured, frozen=True, kw_only=True):
    """In several short measurements, apart from one another; all but the count is that of the
    one in the middle."""

    low_per_s: float | None = None
    high_per_s: float | None = None
    """The slowest and the fastest of them; None: an earlier Assay measured once."""

    @property
    def is_uneven(self) -> bool:
        """Whether one number does not stand for them."""
        if self.low_per_s is None or self.high_per_s is None:
            return False
        return self.high_per_s > UNEVEN * self.low_per_s


class RandomReads(Measured, frozen=True, kw_only=True):
    depth: int
    """How many were under way at once."""


class Probe(Shape, frozen=True, kw_only=True):
    """A part is None where it was not measured."""

    storage: str
    """Its name in the experiment."""
    begun_unix_ns: int
    reason: str = ""
    """Why nothing was measured; empty: it was."""
    program: str = ""
    """With its version: ``fio-3.33``."""
    seconds: float = 0.0
    """How long it was to take."""
    file_bytes: int = 0
    """The file on which everything was measured."""
    is_direct: bool = True
    """Whether reads and writes (without a flush) went past the page cache."""
    random_reads: tuple[RandomReads, ...] = ()
    sequential_read: Measured | None = None
    sequential_write: Measured | None = None
    flushes: Flushes | None = None
    """Each with the write of a page before it; one after the other."""
    device_flushes: int | None = None
    """Ended by the device under it meanwhile, for any program; None: not counted."""
    taken_unix_ns: int | None = None
    """When it was taken from the user's cache; None: it was measured for this experiment."""

    @property
    def known_unix_ns(self) -> int:
        """From when on runs of the experiment use it."""
        return self.taken_unix_ns or self.begun_unix_ns

    @property
    def passes_flushes_on(self) -> bool:
        """False where most flushes were answered without one of the device: the file system is
        mounted so (``nobarrier``), and a power cut loses what was flushed."""
        if self.flushes is None or self.device_flushes is None:
            return True
        return self.device_flushes >= self.flushes.count / 2

    def reads_at(self, clients: int) -> RandomReads | None:
        """The random reads at the depth that is nearest to a number of clients, of two the
        lower one."""
        near = sorted(
            self.random_reads, key=lambda reads: (abs(reads.depth - clients), reads.depth)
        )
        return near[0] if near else None


# Takes what a measurement depends on; returns its result of the last 24 hours from the user's
# cache, and keeps new ones there, a file each, which appears whole or not at all. What cannot be
# read is passed over; what cannot be written is said once.

_KEPT_NS = 24 * 3600 * 1_000_000_000
Kept = TypeVar("Kept", Probe, Durability)


def place(storage: StorageFacts) -> tuple[object, ...]:
    """By what a storage is known again until the next boot. A loop device has another number each
    time: the device below its image stands for it."""
    image_in = storage.facts.get("image_in")
    device = mount_of(Path(image_in)).source if image_in else storage.device
    options, limits = storage.mount_options, sorted(storage.in_force.items())
    return storage.kind, device, storage.file_system, options, storage.size_bytes, limits, boot_id()


def kept(kind: type[Kept], depends_on: object) -> Kept | None:
    """None where nothing is kept, or what is there is too old, or no such file."""
    now_ns, file = time.time_ns(), _kept_in(kind, depends_on)
    with suppress(OSError, AssayError, msgspec.MsgspecError, ValueError):
        if not file.is_file():  # a named pipe would be waited for
            return None
        found = msgspec.json.decode(file.read_bytes(), type=kind)
        if 0 <= now_ns - found.begun_unix_ns < _KEPT_NS:
            return structs.replace(found, taken_unix_ns=now_ns)
    return None


_NOT_WRITTEN: set[Path] = set()
"""Folders of which it was said."""


def keep(result: Kept, depends_on: object, warn: Say = not_said) -> None:
    """Removes those that are too old."""
    from assay.provision.install.cache import make_folder

    file = _kept_in(type(result), depends_on)
    try:
        make_folder(file.parent)
        write_file(file, msgspec.json.encode(result), force=True)
    except (OSError, AssayError) as error:
        if file.parent not in _NOT_WRITTEN:
            _NOT_WRITTEN.add(file.parent)
            fix = f"name another folder in {env_vars.CACHE.name}"
            warn(f"what was measured is not kept for a day: {error}; {fix}")
        return
    with suppress(OSError):
        for one in file.parent.iterdir():
            if time.time_ns() - one.stat().st_mtime_ns >= _KEPT_NS:
                one.unlink()


def _kept_in(kind: type[Kept], depends_on: object) -> Path:
    from assay.provision.install.cache import cache_folder

    digest = hashlib.sha256(repr((__version__, depends_on)).encode()).hexdigest()
    return cache_folder() / "measured" / f"{kind.__name__.lower()}-{digest}.json"


def age(known: Probe | Durability) -> str:
    """When it was taken from the cache; empty: it was measured for this experiment."""
    taken_ns = known.taken_unix_ns
    return "" if taken_ns is None else duration((taken_ns - known.begun_unix_ns) // 10**9)


def said_age(known: Probe | Durability) -> str:
    return phrase(": measured {} ago; {--again} measures anew", age(known))
