"""Takes the cells of a test; returns the latency of each share of the transactions, from the median
to the slowest of which there are enough samples.

The counts are read from the recorded histogram (HDR histogram, V2, deflated, in base64): a header
of 40 bytes, then the count of each bucket as a zigzag number of 7 bits per byte, a negative one for
so many empty buckets.
"""

from __future__ import annotations

import base64
import itertools
import struct
import zlib
from collections.abc import Iterator, Sequence

from assay.contracts.observation import Latency
from assay.judge.statistics.samples import SHARES, known_ns, samples_needed
from assay.report.cells import cell_runs, percentiles, unequal_repetitions
from assay.report.cells.cell_runs import CellRuns, DrivenRun
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point, Scale, on_one_scale
from assay.report.figures.panels import panels
from assay.text import units

_STEPS = (1, 1.12, 1.26, 1.41, 1.58, 1.78, 2, 2.5, 3.16, 4, 5, 6.3, 8)
"""Within each factor of ten of 1 / (1 - share)."""
_MOST = 1e5
_HEADER = struct.Struct(">IIIIQQd")
_DEFLATED = struct.Struct(">II")
_LEAST_COUNT = samples_needed(SHARES["p90"])


def figures(test: str, cells: Sequence[CellRuns]) -> tuple[Figure, ...]:
    found = {
        id(cell): (run, _spread(run.driven.of_clients.all_ok.latency))
        for cell, run in cell_runs.middle_runs(cells)
        if run.driven.of_clients.all_ok.latency.due >= _LEAST_COUNT
        and run.driven.of_clients.all_ok.latency.histogram
    }
    seen = {key: (run, curve) for key, (run, curve) in found.items() if curve}
    if not seen:
        return ()
    unit = percentiles.unit_of(run.driven.of_clients.all_ok.latency for run, _ in seen.values())
    said = (
        *cell_runs.of_middle(cells),
        *unequal_repetitions.notes(cells, unit),
        *_without_median(len(found) - len(seen)),
    )
    made = panels([cell for cell in cells if id(cell) in seen], "storage")
    return on_one_scale(
        Figure(
            f"{test}_percentiles_{place}",
            f"Latency by percentile{f': {panel.title}' if panel.title else ''}",
            Mark.LINES,
            Axis("share of transactions", Scale.PERCENTILES),
            Axis(f"latency, {unit}", Scale.LOG),
            tuple(
                DataSeries(name, tuple(_points(*seen[id(cell)], unit, cell.judged.verdict.word)))
                for name, (cell, *_) in panel.series
            ),
            notes=(*(said if place == 1 else ()), *made.notes(panel)),
        )
        for place, panel in enumerate(made.shown, 1)
    )


def _without_median(cells: int) -> Iterator[str]:
    """An open loop may answer fewer than half of the transactions that were due."""
    if cells:
        are = "has no line: its median was" if cells == 1 else "have no line: their medians were"
        yield f"{units.counted(cells, 'cell')} {are} not reached"


def _points(
    run: DrivenRun, curve: Sequence[tuple[float, float]], unit: str, verdict: str
) -> Iterator[Point]:
    for spread, value_ns in curve:
        yield Point(spread, value_ns / units.NS_PER[unit], runs=(run.run.id,), verdict=verdict)


def _spread(latency: Latency) -> list[tuple[float, float]]:
    """Empty where the median was not reached."""
    try:
        return _curve(latency, list(counts(latency)))
    except (ValueError, IndexError, struct.error, zlib.error):
        return _kept(latency)  # an invented or a damaged histogram


def _curve(latency: Latency, buckets: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """(1 / (1 - share), latency) as far as there are enough samples, and transactions that had an
    answer."""
    spreads = (step * 10**power for power in range(6) for step in _STEPS)
    return [
        (spread, _at(buckets, share * latency.due))
        for spread in spreads
        if 2 <= spread <= _MOST
        if latency.due >= samples_needed(share := 1 - 1 / spread)
        if share * latency.due <= latency.count
    ]


def _kept(latency: Latency) -> list[tuple[float, float]]:
    """Of the percentiles that are kept beside the histogram."""
    return [
        (1 / (1 - share), value_ns)
        for name, share in SHARES.items()
        if (value_ns := known_ns(latency, name)) is not None
    ]


def _at(buckets: Sequence[tuple[int, int]], rank: float) -> int:
    """The upper edge of the bucket with the transaction of that rank."""
    total = 0
    for value_ns, count in buckets:
        total += count
        if total >= rank:
            return value_ns
    return buckets[-1][0]


def counts(latency: Latency) -> Iterator[tuple[int, int]]:
    """(greatest value in ns, count) of each bucket that is not empty, from the fastest."""
    deflated = base64.b64decode(latency.histogram)
    _, length = _DEFLATED.unpack_from(deflated)
    plain = zlib.decompress(deflated[_DEFLATED.size : _DEFLATED.size + length])
    _, payload, _, significant_digits, lowest, _, _ = _HEADER.unpack_from(plain)
    exponent = max(0, int(lowest).bit_length() - 1)
    bits = (2 * 10**significant_digits - 1).bit_length()
    place = 0
    for number in _zigzag(plain[_HEADER.size : _HEADER.size + payload]):
        if number < 0:
            place -= number
            continue
        if number:
            yield _greatest(place, bits, exponent), number
        place += 1


def _zigzag(data: bytes) -> Iterator[int]:
    """Little-endian base-128 numbers; the ninth byte of one has 8 bits."""
    bytes_left = iter(data)
    for first in bytes_left:
        value, byte = first & 0x7F, first
        for place in itertools.count(1):
            if place > 8 or byte < 0x80:
                break
            byte = next(bytes_left)
            value |= (byte if place == 8 else byte & 0x7F) << (7 * place)
        yield (value >> 1) ^ -(value & 1)


def _greatest(place: int, bits: int, exponent: int) -> int:
    """The greatest value that is counted in the bucket at that place: the first 2^bits buckets have
    the width 2^exponent, then each half of as many has twice the width of the one before."""
    half = 1 << (bits - 1)
    bucket = max(0, place // half - 1)
    within = place if bucket == 0 else place % half + half
    width = 1 << (exponent + bucket)
    return within * width + width - 1
