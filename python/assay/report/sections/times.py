"""Takes the cells of a test; returns percentiles of latency, service time and schedule lag.

They are those of one run, the repetition with the median throughput; the summary has the median of
all repetitions. Percentiles of seconds, clients or types are never put together.
"""

from __future__ import annotations

import base64
import itertools
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import NamedTuple

from assay.contracts.metric import ReportColumn
from assay.contracts.observation import AllOk, Latency, Observation, TransactionReport
from assay.judge.result_checks import STATEMENT_LIMIT
from assay.judge.statistics.samples import SHARES, known_ns, median_and_spread, samples_needed
from assay.record import Run
from assay.record.metrics import catalogue
from assay.record.metrics.clients import THROUGHPUT
from assay.report import cell_runs, cell_tables, columns
from assay.report.cell_runs import CellRuns
from assay.report.cell_tables import Aggregate
from assay.report.columns import counts, numbers, run_column, words
from assay.report.declared import aggregates
from assay.report.figure import Axis, DataSeries, Figure, Mark, Point, Scale, on_one_scale
from assay.report.figures.bars import panels
from assay.report.values import Number, ReportCell, ReportTable, Section, absent
from assay.text import units

TIMES = {"latency": "latency", "service time": "service_time", "schedule lag": "schedule_lag"}
"""Name in the report → key of the observation."""
_FEW_TYPES = 6
"""Up to so many transaction types are in one table; otherwise each cell has its own, as details."""
_OF_TYPES = ("p50", "p99")
_CLOSED = "Closed loop: latency is measured from the actual start"
_OPEN = (
    "Open loop: latency is measured from the intended start, service time from the actual start; "
    "schedule lag is the difference"
)

Measured = Sequence[tuple[CellRuns, Run]]


class _Line(NamedTuple):
    run: Run
    times: Latency
    name: str = ""
    """Of the transaction type."""
    kind: str = ""
    """Of the times (`TIMES`)."""


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    measured = cell_runs.middle_runs(cells)
    if not measured:
        return None
    names = dict.fromkeys(one.name for _, run in measured for one in run.measurement.transactions)
    tables: list[ReportTable] = []
    if len(names) > 1 and any(len(cell_runs.measured_runs(cell)) > 1 for cell in cells):
        tables.append(_over_repetitions(test, cells, list(names)))
    if len(names) > 1 and any(run.measurement.passes for _, run in measured):
        tables.append(_passes_table(test, cells, measured))
    if len(names) <= _FEW_TYPES:
        tables.append(_cells_table(test, cells, measured, len(names) > 1))
    else:
        side_by_side = types_by_cell(test, cells)
        tables += [side_by_side] if side_by_side is not None else []
        tables += [_types_table(test, cell, run) for cell, run in measured]
    return Section("Latency", (), tuple(tables), figures(test, cells))


def _over_repetitions(
    test: str, measured_cells: Sequence[CellRuns], names: Sequence[str]
) -> ReportTable:
    """Each transaction type of each cell, with the range of its repetitions."""
    cells = [cell for cell in measured_cells if cell_runs.measured_runs(cell)]
    factors = cell_runs.varying(cells, "system", "clients")
    unit = cell_tables.unit_of_percentile(
        one.latency
        for cell in cells
        for run in cell_runs.measured_runs(cell)
        for one in run.measurement.transactions
    )

    def time(made: Number) -> str:
        def written(value: float) -> str:
            return units.time(value, unit, resolution_ns=made.resolution or 0)

        is_one = made.low is None or made.high is None or made.low == made.high
        around = "" if is_one else f" ({written(made.low or 0)}-{written(made.high or 0)})"
        return written(made.value) + around

    def of_type(name: str, share: str) -> Aggregate:
        def shown(run: Run) -> ReportCell:
            latency = run.measurement.latency_of(name)
            if latency is None:
                return absent("none")
            return cell_tables.percentile_cell(latency, share, unit, run.measurement.resolution)

        return aggregates.each(shown, time)

    def of_share(share: str) -> ReportColumn:
        return numbers(share, lambda source: of_type(source[1], share)(source[0]), unit)

    def throughput(name: str) -> Aggregate:
        return aggregates.median(catalogue.of_type(THROUGHPUT, name), with_range=True)

    return cell_tables.table_by_cell(
        f"{test}_types",
        "Each transaction type, over the repetitions",
        (cells, factors),
        (
            words("transaction", itemgetter(1), is_label=True),
            numbers("TPS", lambda source: throughput(source[1])(source[0])),
            *map(of_share, _OF_TYPES),
        ),
        [(cell, (cell, name)) for cell in cells for name in names],
        notes=("median of the repetitions, least and greatest", *_without_lost(cells)),
        is_detail=len(names) > _FEW_TYPES,
    )


def _is_open(observation: Observation) -> bool:
    return observation.arrival.kind != "closed" or any(
        one.schedule_lag for one in observation.transactions
    )


def _cells_table(
    test: str, cells: Sequence[CellRuns], measured: Measured, has_names: bool
) -> ReportTable:
    """A line for each cell, transaction type and, in open loops, kind of time."""
    is_open = any(_is_open(run.measurement) for _, run in measured)
    has_names = has_names or any(
        one.outcome != "ok" for _, run in measured for one in run.measurement.transactions
    )
    lines: list[tuple[CellRuns, _Line]] = []
    for cell, run in measured:
        shown: list[TransactionReport | AllOk] = list(run.measurement.transactions)
        if sum(one.outcome == "ok" for one in run.measurement.transactions) > 1:
            shown.insert(0, run.measurement.of_clients.all_ok)
        for one in shown:
            lines += [(cell, line) for line in _lines(one, is_open, run)]
    labels = [_TRANSACTION] if has_names else []
    labels += [words("time", attrgetter("kind"), is_label=True)] if is_open else []
    notes = ("n<…: too few samples, so many are needed", *cell_runs.of_middle(cells))
    return cell_tables.table_by_cell(
        f"{test}_times",
        "Percentiles",
        (cells, cell_runs.varying(cells, "system", "clients")),
        (*labels, *_columns(line for _, line in lines)),
        lines,
        notes=(
            _OPEN if is_open else _CLOSED,
            *notes,
            *notes_on_unequal_repetitions(
                cells, cell_tables.unit_of_percentile(line.times for _, line in lines)
            ),
            *_resolutions(run.measurement for _, run in measured),
            *cell_runs.without_lost(run for _, run in measured),
        ),
    )


def _without_lost(cells: Sequence[CellRuns]) -> tuple[str, ...]:
    """Of all repetitions."""
    return cell_runs.without_lost(run for cell in cells for run in cell_runs.measured_runs(cell))


def _resolutions(observations: Iterable[Observation]) -> list[str]:
    found = [one.resolution for one in observations]
    finest = {(one.lowest_ns, one.significant_digits) for one in found}
    return [
        f"percentiles: {digits} digits, and not finer than {lowest_ns} ns; max: as measured"
        for lowest_ns, digits in sorted(finest)
    ]


def _lines(transaction: TransactionReport | AllOk, is_open: bool, run: Run) -> Iterator[_Line]:
    name = _name(transaction)
    if not is_open:
        yield _Line(run, transaction.latency, name)
        return
    for word, key in TIMES.items():
        if times := getattr(transaction, key):
            yield _Line(run, times, name, word)


def _name(transaction: TransactionReport | AllOk) -> str:
    if isinstance(transaction, AllOk):
        return "all ok"
    return (
        transaction.name
        if transaction.outcome == "ok"
        else f"{transaction.name} {transaction.outcome}"
    )


def _passes_table(test: str, cells: Sequence[CellRuns], measured: Measured) -> ReportTable:
    lines = [
        (cell, _Line(run, passes.latency))
        for cell, run in measured
        if (passes := run.measurement.passes)
    ]
    return cell_tables.table_by_cell(
        f"{test}_passes",
        "Per pass (every transaction type once, in order)",
        (cells, cell_runs.varying(cells, "system")),
        (run_column(attrgetter("run.id")), *_columns(line for _, line in lines)),
        lines,
        run=attrgetter("run"),
        notes=("of the repetition with the median elapsed time; n<36: too few samples",),
    )


def _types_table(test: str, cell: CellRuns, run: Run) -> ReportTable:
    lines = [_Line(run, one.latency, _name(one)) for one in run.measurement.transactions]
    return columns.table(
        f"{test}_run_{run.id}",
        f"Per transaction type: {cell.name} (run {run.id})",
        (_TRANSACTION, *_columns(lines)),
        lines,
        notes=cell_runs.without_lost([run]),
        is_detail=True,
    )


_TRANSACTION = words("transaction", attrgetter("name"), is_label=True)


def _columns(lines: Iterable[_Line]) -> list[ReportColumn]:
    percentiles = cell_tables.percentile_columns(
        (*SHARES, "max"), lines, lambda line: (line.times, line.run.measurement.resolution)
    )
    return [counts("n", attrgetter("times.due")), *percentiles]


# Takes the cells of a test; returns the latency of each share of the transactions, from the
# median to the slowest of which there are enough samples.
#
# The counts are read from the recorded histogram (HDR histogram, V2, deflated, in base64): a
# header of 40 bytes, then the count of each bucket as a zigzag number of 7 bits per byte, a
# negative one for so many empty buckets.

_STEPS = (1, 1.12, 1.26, 1.41, 1.58, 1.78, 2, 2.5, 3.16, 4, 5, 6.3, 8)
"""Within each factor of ten of 1 / (1 - share)."""
_MOST = 1e5
_HEADER = struct.Struct(">IIIIQQd")
_DEFLATED = struct.Struct(">II")
_LEAST_COUNT = samples_needed(SHARES["p90"])


def figures(test: str, cells: Sequence[CellRuns]) -> tuple[Figure, ...]:
    found = {
        id(cell): (run, _spread(run.measurement.of_clients.all_ok.latency))
        for cell, run in cell_runs.middle_runs(cells)
        if run.measurement.of_clients.all_ok.latency.due >= _LEAST_COUNT
        and run.measurement.of_clients.all_ok.latency.histogram
    }
    seen = {key: (run, curve) for key, (run, curve) in found.items() if curve}
    if not seen:
        return ()
    unit = cell_tables.unit_of_percentile(
        run.measurement.of_clients.all_ok.latency for run, _ in seen.values()
    )
    said = (
        *cell_runs.of_middle(cells),
        *notes_on_unequal_repetitions(cells, unit),
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
    run: Run, curve: Sequence[tuple[float, float]], unit: str, verdict: str
) -> Iterator[Point]:
    for spread, value_ns in curve:
        yield Point(spread, value_ns / units.NS_PER[unit], runs=(run.id,), verdict=verdict)


def _spread(latency: Latency) -> list[tuple[float, float]]:
    """Empty where the median was not reached."""
    try:
        return _curve(latency, list(counts_of_percentile_curves(latency)))
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


def counts_of_percentile_curves(latency: Latency) -> Iterator[tuple[int, int]]:
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


# Takes the cells of a test; returns the notes that say where the repetitions of a cell have other
# percentiles than each other: one of them, and the median of all, are then far apart.

_NAMES = ("p99", "p50")
"""The first of which every repetition has enough samples."""
_FAR = 1.5
"""How many times the least the greatest is where it is said."""
_CELLS_NAMED, _RUNS_NAMED = 3, 5


def notes_on_unequal_repetitions(cells: Sequence[CellRuns], unit: str) -> Iterator[str]:
    """``repetitions far apart: here, 1 client: p99 of run 1 0.0702 ms, run 2 1.76 ms``; of
    several cells those that stand first."""
    said = [words for cell in cells if (words := _of_cell(cell, unit))]
    for words in said[:_CELLS_NAMED]:
        yield f"repetitions far apart: {words}"
    if len(said) > _CELLS_NAMED:
        yield f"repetitions far apart: {len(said) - _CELLS_NAMED} more cells"


def _of_cell(cell: CellRuns, unit: str) -> str:
    """Empty where they are close to each other, or have too few samples."""
    runs = cell_runs.measured_runs(cell)
    for name in _NAMES:
        shown = [*map(cell_tables.latency_of_run(name, unit), runs)]
        values = [one.number.value for one in shown if one.number is not None]
        if len(values) < max(2, len(shown)):
            continue
        if max(values) < _FAR * min(values):
            return ""
        named = ", ".join(
            f"run {run.id} {_with_unit(one, unit)}"
            for run, one in zip(runs[:_RUNS_NAMED], shown, strict=False)
        )
        more = f" and {len(runs) - _RUNS_NAMED} more" if len(runs) > _RUNS_NAMED else ""
        return f"{cell.name}: {name} of {named}{more}"
    return ""


def _with_unit(shown: ReportCell, unit: str) -> str:
    number = shown.number
    assert number is not None, "compared above"
    return units.time_with_unit(number.value, unit, resolution_ns=number.resolution or 0)


_MOST_CELLS = 8
"""Side by side."""


def types_by_cell(test: str, measured_cells: Sequence[CellRuns]) -> ReportTable | None:
    """None for a single cell, and for more than stand side by side."""
    cells = [cell for cell in measured_cells if cell_runs.measured_runs(cell)]
    if not 1 < len(cells) <= _MOST_CELLS:
        return None
    runs = [run for cell in cells for run in cell_runs.measured_runs(cell)]
    names = dict.fromkeys(
        one.name for run in runs for one in run.measurement.outcomes_by_transaction if one.scheduled
    )
    unit = cell_tables.unit_of_percentile(_latencies(runs, names))
    is_cancelled = any(_limit_s(run, name) for run in runs for name in names)

    def of_cell(cell: CellRuns) -> ReportColumn:
        return numbers(cell.name, lambda name: _of_type(cell, name, unit), unit)

    return columns.table(
        f"{test}_types_by_cell",
        "Each transaction type in each cell",
        (words("transaction", str), *map(of_cell, cells)),
        names,
        notes=(
            "mean latency of those that ended ok; over repetitions the median",
            *cell_runs.without_lost(runs),
            *(
                ["> … : cancelled at the limit of a statement; such a type is in no mean, and the "
                 "elapsed time has it up to the limit"]
                if is_cancelled
                else []
            ),
        ),
        is_detail=True,
    )  # fmt: skip


def _latencies(runs: Sequence[Run], names: Sequence[str] | dict[str, None]) -> list[Latency]:
    found = (run.measurement.latency_of(name) for run in runs for name in names)
    return [one for one in found if one is not None]


def _of_type(cell: CellRuns, name: str, unit: str) -> ReportCell:
    runs = cell_runs.measured_runs(cell)
    limits = [limit for run in runs if (limit := _limit_s(run, name))]
    if limits:
        return ReportCell(f"> {units.time(limits[0] * 1e9, unit)}", is_absent=True)
    if _lost(runs, name):
        return absent("failed")
    means = [one.mean_ns for one in _latencies(runs, [name])]
    if len(means) < len(runs):
        return absent("not run")
    over = median_and_spread(means)
    number = Number(over.median, "ns", over.n, over.low, over.high, judged=cell.judged.verdict)
    return ReportCell(units.time(over.median, unit), number)


def _limit_s(run: Run, name: str) -> float:
    """The limit at which one of its statements was cancelled; 0: none was."""
    driving = run.driving
    is_cancelled = any(
        error.code == STATEMENT_LIMIT and error.transaction == name
        for error in run.measurement.errors
    )
    limit_s = driving.statement_limit_s if is_cancelled else None
    return float(limit_s or 0)


def _lost(runs: Sequence[Run], name: str) -> bool:
    return any(
        one.lost
        for run in runs
        for one in run.measurement.outcomes_by_transaction
        if one.name == name
    )
