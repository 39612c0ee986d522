"""Takes runs; returns what their storages did in a probe, a row per storage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from assay.probe import DEPTHS, Measured, Probe
from assay.record import RunRecord
from assay.report import modelled_disks, probed_flushes
from assay.report.values import Cell, Column, Number, Row, Section, Table, absent, text
from assay.text import units

_NOT_PROBED = "not probed"
_NOT_PASSED_ON = (
    "flushes do not reach the device (a mount option such as nobarrier): a power cut may lose what "
    "was flushed"
)


def probes_of(runs: Iterable[RunRecord]) -> dict[str, Probe]:
    """The last probe of each storage, in the order of their first run."""
    return {run.storage: run.probe for run in runs if run.probe is not None}


def section(runs: Iterable[RunRecord]) -> Section | None:
    """None where no storage was to be probed, and none is modelled."""
    runs = list(runs)
    found = probes_of(runs)
    tables = (_table(found) if found else None, modelled_disks.table(runs))
    shown = tuple(table for table in tables if table is not None)
    return Section("Storages by probe", (), shown) if shown else None


def _table(found: dict[str, Probe]) -> Table:
    titles = (
        *(f"reads/s, depth {depth}" for depth in DEPTHS),
        "sequential read",
        "sequential write",
        "flushes/s",
    )
    return Table(
        name="storage_probes",
        title="Reads, writes and flushes of each storage, before its first use",
        columns=(Column("storage"), *(Column(title, is_number=True) for title in titles)),
        rows=tuple(Row((text(name), *_cells(probe))) for name, probe in found.items()),
        notes=tuple(_notes(found)),
        # Of one storage there is nothing to compare.
        is_detail=len(found) == 1,
    )


def _cells(probe: Probe) -> tuple[Cell, ...]:
    reads = {one.depth: one for one in probe.random_reads}
    return (
        *(_rate(reads.get(depth)) for depth in DEPTHS),
        _bandwidth(probe.sequential_read),
        _bandwidth(probe.sequential_write),
        _flushes(probe),
    )


def _rate(found: Measured | None) -> Cell:
    if found is None:
        return absent(_NOT_PROBED)
    return Cell(units.digits(found.per_s), Number(found.per_s, "per_s", n=found.count))


def _flushes(probe: Probe) -> Cell:
    shown = _rate(probe.flushes)
    if probe.flushes is None:
        return shown
    over = probed_flushes.spread(probe.flushes)
    remarks = (
        probed_flushes.uneven(probe.flushes),
        "" if probe.passes_flushes_on else _NOT_PASSED_ON,
    )
    number = Number(over.median, "per_s", over.n, over.low, over.high)
    return replace(shown, number=number, note="; ".join(filter(None, remarks)))


def _bandwidth(found: Measured | None) -> Cell:
    if found is None:
        return absent(_NOT_PROBED)
    number = Number(found.bytes_per_s, "bytes_per_s", n=found.count)
    return Cell(f"{units.size(found.bytes_per_s)}/s", number)


def _notes(found: dict[str, Probe]) -> list[str]:
    notes = [
        "reads: random, of 8 KiB; depth: how many at once; flushes: each a write of 8 KiB and "
        "fdatasync, one after the other, median of three measurements"
    ]
    measured = {name: probe for name, probe in found.items() if not probe.reason}
    how = dict.fromkeys(
        f"by {probe.program} in {units.duration(probe.seconds)}" for probe in measured.values()
    )
    if how:
        notes.append(f"{', '.join(how)}, in a file of {_file_sizes(measured)}")
    notes += [
        f"{name}: reads and writes went through the page cache, which this file system needs"
        for name, probe in measured.items()
        if not probe.is_direct
    ]
    for reason in dict.fromkeys(probe.reason for probe in found.values() if probe.reason):
        names = ", ".join(name for name, probe in found.items() if probe.reason == reason)
        notes.append(f"{names} {_NOT_PROBED}: {reason}")
    return notes


def _file_sizes(measured: Mapping[str, Probe]) -> str:
    """``268 MB``; ``268 MB, of 40 MB on slow``: that of most storages, and the others."""
    sizes = {name: units.size(probe.file_bytes) for name, probe in measured.items()}
    (most, _), *others = Counter(sizes.values()).most_common()
    named = (
        f"of {other} on {', '.join(name for name, one in sizes.items() if one == other)}"
        for other, _ in others
    )
    return ", ".join((most, *named))
