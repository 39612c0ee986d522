"""Takes a key (a value of a run, by a metric's name or a dotted path, and its unit); returns the
aggregate of that value over the runs of a cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from assay.contracts.metric import ReportColumn, unit_of
from assay.contracts.observation import Latency, UnreadReport
from assay.judge import verdict
from assay.judge.statistics import estimate
from assay.judge.statistics.samples import (
    RELATIVE_RESOLUTION,
    UNREACHED,
    median_and_spread,
    middle_places,
)
from assay.record import Run
from assay.record.metrics import clients, resources
from assay.report import cell_runs, cell_tables
from assay.report.cell_runs import CellRuns
from assay.report.cell_tables import Aggregate
from assay.report.values import Number, ReportCell, absent, judged
from assay.text import units
from assay.text.keys import field_names

SAMPLES, MOST_OF_A_FILE = "samples", "open_files.most"
_BEFORE_CLIENTS: Mapping[str, Callable[[Run], Any]] = {
    "data": lambda run: run.data.for_record() if run.data else None,
    "deployment": lambda run: run.deployment,
}
"""Where a path begins → what was there before the first client."""
ELAPSED_PATH = clients.ELAPSED.name
ENDED_BY_DURATION = "ended by its duration"
"""In place of the elapsed time of a run that was asked to last so long."""
_RATES = ("per_s", "per_min")


def value_at(run: Run, key: str) -> Any:
    """None where the run has no value at that path, or too few samples for a percentile."""
    first, *rest = key.split(".")
    if first == SAMPLES and len(rest) == 1:
        seen = [getattr(timed.sample, rest[0], None) for timed in run.samples]
        return max((value for value in seen if value is not None), default=None)
    if key == MOST_OF_A_FILE:
        return max((file.handles for file in run.open_files), default=None)
    found: Any = run.observation
    if isinstance(found, UnreadReport):
        found = found.content
    if rest and is_before_clients(key):
        found, first, rest = _BEFORE_CLIENTS[first](run), rest[0], rest[1:]
    for name in (first, *rest):
        found = _step(found, name)
    return found


def is_before_clients(key: str) -> bool:
    """Whether it is known once the data are loaded."""
    return key.partition(".")[0] in _BEFORE_CLIENTS


def result_at(run: Run, key: str) -> Any:
    """The value as a result of the test: an elapsed time is none where a duration was asked for."""
    return clients.ELAPSED.result(run) if key == ELAPSED_PATH else value_at(run, key)


def why_no_result(run: Run, key: str) -> str:
    """Instead of the result, where there is none: ``n<72`` for a percentile of too few samples,
    ``not reached`` where too many transactions had no answer."""
    if key == ELAPSED_PATH and value_at(run, key):
        return ENDED_BY_DURATION
    above, _, name = key.rpartition(".")
    times = value_at(run, above) if above else None
    why = cell_tables.why_no_percentile(times, name) if isinstance(times, Latency) else ""
    return why or "none"


def _step(place: Any, name: str) -> Any:
    if isinstance(place, Mapping):
        return place.get(name)
    if isinstance(place, tuple):
        of_that_name = (one for one in place if getattr(one, "name", None) == name)
        return next((one for one in of_that_name if getattr(one, "outcome", "ok") == "ok"), None)
    if isinstance(place, Latency) and cell_tables.why_no_percentile(place, name):
        return None
    kind: Any = type(place)
    return getattr(place, name) if name in (field_names(kind) or ()) else None


OVER_REPETITIONS = (
    "each number: the median of the repetitions, of an even number the mean of the middle two"
)


def runs_of(cell: CellRuns, metric: ReportColumn) -> tuple[Run, ...]:
    """The runs of the cell that may have it: what is known once the data are loaded, also one that
    drove no clients."""
    if metric.measured_once is None:
        return cell.measured
    return tuple(run for run in cell.runs if run.state == "done" or run.is_measured)


def at(path: str) -> ReportColumn:
    """What stands at the end of a path through the observation, which is its name."""
    is_percentile = cell_tables.is_percentile(path)
    return of_paths(
        path,
        unit_of(path),
        lambda run: result_at(run, path),
        measured_once=(lambda run: run.data) if is_before_clients(path) else None,
        relative_resolution=RELATIVE_RESOLUTION if is_percentile else 0.0,
        why_null=lambda run: why_no_result(run, path),
    )


def of_paths(name: str, unit: str, value: Callable[[Run], Any], **more: Any) -> ReportColumn:
    """What is made of values at several paths."""
    return ReportColumn(
        name=name, unit=unit, meaning=name, value=value, is_more_better=unit in _RATES, **more
    )


def read(metric: ReportColumn, run: Run) -> Any:
    """None where the run has no such value, or its time is not reached."""
    found = metric.value(run)
    return None if found == UNREACHED else found


THROUGHPUT = clients.THROUGHPUT
HEADLINE = clients.HEADLINE
ELAPSED = at("elapsed_ns")
LATENCY = clients.MEAN
SIZE_ON_DISK = resources.SIZE_ON_DISK
LOAD_TIME = resources.LOAD_TIME
KEYS = {
    "elapsed": ELAPSED,
    "latency": LATENCY,
    "load_time": LOAD_TIME,
    "size_on_disk": SIZE_ON_DISK,
    "throughput": THROUGHPUT,
}
"""By the names that workloads have for them."""


def values(cell: CellRuns, key: ReportColumn) -> list[float]:
    """Of each repetition that was measured to its end; empty where one has none. What is of the
    load: of those that have it, since data that are loaded already have no time."""
    every = [read(key, run) for run in runs_of(cell, key)]
    found = [value for value in every if isinstance(value, int | float)]
    return found if key.measured_once or len(found) == len(every) else []


def number(cell: CellRuns, key: ReportColumn, *, is_mean: bool = False) -> Number | None:
    """The median of the cell's repetitions, or their geometric mean (``is_mean``); None where they
    have none."""
    found = values(cell, key)
    if not found:
        return None
    over = median_and_spread(found)
    middle = estimate.center(found) if is_mean else over.median
    runs = runs_of(cell, key)
    # Values of a load are not of every run; they have no buckets.
    places = middle_places(found) if len(found) == len(runs) else ()
    widths = (_bucket_width(key, found[at], runs[at]) for at in places)
    return Number(
        middle,
        key.unit,
        over.n,
        over.low,
        over.high,
        judged=cell.judged.verdict,
        resolution=max(widths, default=0) or None,
    )


def _bucket_width(key: ReportColumn, value: float, run: Run) -> int:
    """Of the histogram of which a percentile is; 0 of other values."""
    if run.driven is None or not key.relative_resolution:
        return 0
    return cell_tables.bucket_width_ns(value, run.driven.resolution)


def median(key: ReportColumn, time_unit: str = "s", *, with_range: bool = False) -> Aggregate:
    """The median, or the reason why there is none."""
    return _one_of_all(key, time_unit, with_range=with_range)


def mean(key: ReportColumn, time_unit: str = "s") -> Aggregate:
    """The geometric mean, or the reason why there is none."""
    return _one_of_all(key, time_unit, is_mean=True)


def _one_of_all(
    key: ReportColumn, time_unit: str, *, with_range: bool = False, is_mean: bool = False
) -> Aggregate:
    def shown(cell: CellRuns) -> ReportCell:
        made = number(cell, key, is_mean=is_mean)
        if made is None:
            return _none(cell, key) if cell.measured else cell.absent
        return _shown(made, time_unit, with_range)

    return shown


def _none(cell: CellRuns, key: ReportColumn) -> ReportCell:
    """Why there is no number, by the first repetition without one."""
    runs = runs_of(cell, key)
    without = [run for run in runs if not isinstance(read(key, run), int | float)]
    why = key.why_null(without[0]) if without else ""
    if not why:
        return cell.absent
    several = f"{len(without)} of {units.counted(len(runs), 'repetition')} without it"
    return absent(why, note=several if len(runs) > 1 else "")


def full_range(key: ReportColumn) -> Aggregate:
    """The smallest and the largest value of the repetitions."""

    def shown(cell: CellRuns) -> ReportCell:
        made = number(cell, key)
        if made is None or made.low is None or made.high is None:
            return absent("")
        return ReportCell(f"{units.shown(made.low, made.unit)}-{units.shown(made.high, made.unit)}")

    return shown


def each(show: Callable[[Run], ReportCell], written: Callable[[Number], str]) -> Aggregate:
    """The median of what is shown of each repetition, written anew."""

    def shown(cell: CellRuns) -> ReportCell:
        return median_cell([show(run) for run in cell_runs.measured_runs(cell)], written)

    return shown


def median_cell(cells: Sequence[ReportCell], written: Callable[[Number], str]) -> ReportCell:
    """Of one cell, itself; of several the median, or the first that has no number."""
    numbers = [cell.number for cell in cells if cell.number is not None]
    if len(cells) == 1 or len(numbers) < len(cells):
        return next(cell for cell in cells if cell.number is None or len(cells) == 1)
    if not numbers:
        return absent("")
    over = median_and_spread([number.value for number in numbers])
    made = replace(
        numbers[0],
        value=over.median,
        n=over.n,
        low=min(one.value if one.low is None else one.low for one in numbers),
        high=max(one.value if one.high is None else one.high for one in numbers),
        resolution=cell_tables.middle_bucket_width(numbers),
    )
    note = "; ".join(dict.fromkeys(cell.note for cell in cells if cell.note))
    return ReportCell(written(made), made, note=note)


def over_repetitions(key: ReportColumn, time_unit: str = "s") -> Aggregate:
    """Of the repetitions that were measured: the median where each has a number, else each of
    their texts once."""

    def shown(cell: CellRuns) -> ReportCell:
        runs = runs_of(cell, key)
        cells = [_own(run, key, time_unit) for run in runs]
        made = number(cell, key)
        if made is None or not all(one.number for one in cells):
            texts = dict.fromkeys(one.shown for one in cells)
            return ReportCell(" and ".join(texts)) if texts else cell.absent
        return _shown(made, time_unit, with_range=False)

    return shown


def ratio(number: Number | None, divided_by: Number | None) -> ReportCell | None:
    """With the widest range that the repetitions of both allow, and the worse verdict."""
    if number is None or divided_by is None:
        return None
    if 0 in (divided_by.value, divided_by.low, divided_by.high):
        return None
    made = Number(
        number.value / divided_by.value,
        "ratio",
        low=_divided(number.low, divided_by.high),
        high=_divided(number.high, divided_by.low),
        judged=verdict.worst((number.judged, divided_by.judged)),
    )
    return judged(units.ratio(made.value), made)


def _divided(bound: float | None, by: float | None) -> float | None:
    return None if bound is None or by is None else bound / by


def speed_up(first: Number | None, other: Number | None, key: ReportColumn) -> ReportCell | None:
    """How many times faster the other is than the first."""
    return ratio(other, first) if key.is_more_better else ratio(first, other)


def scalability(
    first: Number | None, other: Number | None, key: ReportColumn, clients_ratio: float
) -> Number | None:
    """(1/N) (t1/tN), of throughputs (1/N) (xN/x1): the speed-up as a share of that of N times as
    many clients, ``clients_ratio``."""
    found = speed_up(first, other, key)
    return scaled(found.number, 1 / clients_ratio) if found and found.number else None


def scaled(number: Number, factor: float) -> Number:
    """With its bounds, where they are known."""
    low, high = (None if one is None else one * factor for one in (number.low, number.high))
    return replace(number, value=number.value * factor, low=low, high=high)


def only(key: ReportColumn, time_unit: str = "s", *, shows_reason: bool = False) -> Aggregate:
    """The value of a cell's only run. ``shows_reason``: says why nothing was observed."""

    def shown(cell: CellRuns) -> ReportCell:
        (run,) = cell.runs
        if run.observation is None and shows_reason:
            return cell.absent
        return _own(run, key, time_unit)

    return shown


def _own(run: Run, key: ReportColumn, time_unit: str) -> ReportCell:
    value = read(key, run)
    if value is None:
        return absent(key.why_null(run) or "none")
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = ("yes" if value else "no") if isinstance(value, bool) else str(value)
        note = judged(text, Number(0, "", 1, judged=run.judged))
        return ReportCell(text, note=note.note)
    width_ns = _bucket_width(key, value, run)
    made = Number(value, key.unit, 1, judged=run.judged, resolution=width_ns or None)
    return judged(units.shown(value, key.unit, time_unit, resolution_ns=width_ns), made)


def _shown(made: Number, time_unit: str, with_range: bool) -> ReportCell:
    def text(value: float, resolution_ns: int = 0) -> str:
        return units.shown(value, made.unit, time_unit, resolution_ns=resolution_ns)

    around = ""
    if with_range and made.n != 1 and made.low is not None and made.high is not None:
        around = f" ({text(made.low)}-{text(made.high)})"
    return judged(f"{text(made.value, made.resolution or 0)}{around}", made)


WHY_CLIENT_PROCESS = "sampled of the client's process, in which {system} works"


def is_of_client_process(cell: CellRuns, keys: Iterable[str]) -> bool:
    """Whether the samples that these paths read are of the client's process."""
    of_processes = any(key.startswith(f"{SAMPLES}.") for key in keys)
    return of_processes and any(run.is_embedded for run in cell.measured)


def why_not_of_system(cell: CellRuns, keys: Iterable[str]) -> str:
    """Why the value is none of the system; empty: it is."""
    return (
        WHY_CLIENT_PROCESS.format(system=cell.factors["system"])
        if is_of_client_process(cell, keys)
        else ""
    )


def note_on_client_process(cell: CellRuns, keys: Iterable[str]) -> str:
    """The same beside a number, and how large the process was when the measurement began."""
    keys = tuple(keys)
    if not is_of_client_process(cell, keys):
        return ""
    said = "of the client's process, in which the system works"
    if not any(key.endswith("resident_bytes") for key in keys):
        return said
    first = [run.samples[0].sample.resident_bytes for run in cell.measured if run.samples]
    if not any(first):
        return said
    least = units.size(min(filter(None, first)))
    return f"{said}: at least {least} of it, the program included, before the measurement"
