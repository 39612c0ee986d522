"""Takes a cell of an experiment; returns its summary for the first look.

Numbers are medians of the repetitions; a maximum is the greatest of them, and failed transactions
are those of all.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.comparison import metrics, offered_rates
from assay.experiment import Scalar
from assay.judge import Verdict
from assay.judge.offered_rate import OfferedRate
from assay.judge.samples import UNREACHED, known_ns
from assay.judge.spread import spread
from assay.observation import Latency, Resolution
from assay.provision.deployment import PRIMARY
from assay.record import ExperimentRecord, RunRecord
from assay.report.cells import aggregates, cell_runs, cold, declaration, durability, percentiles
from assay.report.cells.cell_runs import CellRuns, DrivenRun
from assay.report.sections import device
from assay.report.storages import commit_efficiency, probed_flushes
from assay.text import units

Times = Sequence[tuple[Latency, Resolution]]
"""Of each repetition."""
COLUMNS = ("TPS", "p50", "p99", "failed", "verdict")
UNKNOWN = "unknown"
"""The column of transactions with an unknown outcome, where there are any."""
DEVICE_READS = "reads/tx"
"""The column of the device's reads per transaction."""
ELAPSED = "elapsed"
DURABILITY = "durability"
MEASURED = "measured"
"""The name of what a test without transactions measures."""
NO_ERRORS = "none"
ABSENT = "-"
"""In a column for which nothing was measured."""
TOGETHER = "\u00a0"
"""A blank at which no line is broken."""
_UNLIKE = 2
"""Times the median of one transaction type that of another is, where they are unlike."""
BY_TYPE = "by type"
"""In the column of the median of unlike types."""
_MOST_TYPES = 3
_PERCENTILES = ("p50", "p95", "p99", "p99.9")
_FEWER = (_PERCENTILES, ("p50", "p99", "p99.9"), ("p50", "p99"), ("p99",), ())
"""Percentiles of a group, whose line must have room for the maximum."""


@dataclass(frozen=True)
class CellSummary:
    test: str
    """With its workload."""
    name: str
    verdict: Verdict
    numbers: tuple[tuple[str, str], ...]
    """(name, text): throughput and latency, or the values that the test measures instead."""
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    """(name, texts) of each group of clients, where there are several; the texts from the longest
    to the shortest, which has fewer percentiles."""
    columns: tuple[str, ...]
    """The values of `COLUMNS`."""
    levels: Mapping[str, Scalar]
    """Its factors."""
    bar: tuple[str, float] | None
    """The title of the column by which cells are compared, and its value as it was measured."""
    unknown: str
    """How many transactions have an unknown outcome."""
    durability: str
    """As it was measured; ``-``: it was not."""
    device: str
    """What its device had to do; empty where that explains nothing."""
    device_reads: str
    """Per transaction."""
    has_device_reads: bool
    """Whether these are enough to explain something."""
    elapsed: str
    has_elapsed_alone: bool
    """Whether its clients were timed as a whole, not their transactions."""
    first: str
    """How long the first executions took, where it was measured for a time with cold caches; then
    it has no throughput. Else empty."""
    warm_after: str
    """How long it took to be warm; empty in the same way."""
    server: str
    """What its server is among others; empty: the primary, or it is not known."""
    offered_rate: OfferedRate | None
    """Whether it was kept, and the rate that was reached; None: it is no open loop."""
    runs: tuple[RunRecord, ...]

    @property
    def has_transactions(self) -> bool:
        return any(run.driven is not None for run in self.runs)

    @property
    def has_measured_alone(self) -> bool:
        """Whether its numbers are none of transactions."""
        return not self.has_transactions and any(name == MEASURED for name, _ in self.numbers)


def of_cell(experiment: ExperimentRecord, cell: CellRuns) -> CellSummary:
    measured = cell_runs.measured_runs(cell)
    reads = device.reads_of_all(measured)
    refused = [run.reason for run in cell.runs if run.state == "refused"]
    verdict = Verdict.because("refused", refused[0]) if refused else cell.judged.verdict
    if {run.state for run in cell.runs} <= {"interrupted", "planned"} and verdict.word:
        verdict = Verdict("interrupted", verdict.reasons)
    declared = declaration.of_test(experiment.workload, cell.runs[0].test, cell.runs)
    has_fields = bool(declared and declared.fields)
    elapsed = aggregates.number(cell, aggregates.ELAPSED)
    return CellSummary(
        test=cell.runs[0].full_test_name,
        name=cell.name,
        verdict=verdict,
        numbers=_numbers(experiment, cell, measured),
        groups=_groups(measured),
        columns=(*_columns(cell, measured), verdict.word or ABSENT),
        levels=cell.factors,
        bar=_bar(cell),
        unknown=counted(cell, UNKNOWN),
        durability=durability.shown(cell),
        device=device.summary(measured),
        device_reads=ABSENT if reads is None else units.digits(reads, 2),
        has_device_reads=reads is not None and reads >= device.READS_LIMIT,
        elapsed=ABSENT if elapsed is None else f"{_seconds(elapsed.value)} s",
        has_elapsed_alone=elapsed is not None and not measured and not has_fields,
        first=cold.first(cell).shown,
        warm_after=cold.warm_after(cell).shown,
        server=_server(cell.runs),
        offered_rate=offered_rates.of_runs(cell.measured),
        runs=cell.runs,
    )


def _server(runs: Sequence[RunRecord]) -> str:
    """``standby of 10.0.0.7:5432 (pg_is_in_recovery() is true)``."""
    roles = (run.deployment.role for run in runs if run.deployment)
    said = (role.described for role in roles if role and role.described != PRIMARY)
    return "; ".join(dict.fromkeys(said))


_COLUMN_OF = {metrics.THROUGHPUT: "TPS", metrics.P99: "p99", metrics.ELAPSED: ELAPSED}


def _bar(cell: CellRuns) -> tuple[str, float] | None:
    """Of the metric by which comparisons judge the cell."""
    runs = list(cell.measured)
    is_cold = cold.is_timed(cell)
    title = _COLUMN_OF.get(metrics.primary(runs)) if runs and not is_cold else None
    if title is None:
        return None
    metric = metrics.primary(runs)
    known = [value for run in runs if (value := metric.value(run)) is not None]
    middle = statistics.median(known) if known else UNREACHED
    return None if middle == UNREACHED else (title, middle)


def signs(found: Sequence[CellSummary]) -> tuple[str, str]:
    """``("n<368", "too few transactions for the percentile")``: what stands in a column in place of
    a number, explained; empty where nothing does."""
    values = dict.fromkeys(value for cell in found for value in cell.columns)
    few = [value for value in values if value.startswith("n<")]
    if not few:
        return (ABSENT, "not measured") if ABSENT in values else ("", "")
    said = "too few transactions for the percentile"
    head = few[0] if len(few) == 1 else "n<…"
    return head, f"{said}; {ABSENT}: not measured" if ABSENT in values else said


def repetitions(found: Sequence[CellSummary]) -> str:
    """``, 3 repetitions``; empty where each cell was run once."""
    least, most = (one(len(cell.runs) for cell in found) for one in (min, max))
    shown = f"{least} to {most}" if least < most else f"{most}"
    return f", {shown} repetitions" if most > 1 else ""


def _numbers(
    experiment: ExperimentRecord, cell: CellRuns, measured: Sequence[DrivenRun]
) -> tuple[tuple[str, str], ...]:
    declared = declaration.of_test(experiment.workload, cell.runs[0].test, cell.runs)
    if declared and declared.fields:
        return _fields(declared.fields, cell)
    if not measured:
        return _elapsed(cell) or _load(cell)
    made = aggregates.number(cell, aggregates.THROUGHPUT)
    if made is None:
        return ()
    throughput = f"{units.digits(made.value)}{TOGETHER}TPS"
    if made.n != 1 and made.low is not None and made.high is not None:
        low, high = units.digits(made.low), units.digits(made.high)
        throughput += f", median of {made.n} repetitions ({low}-{high})"
    else:
        driven = measured[0].driven
        counted = units.counted(driven.outcomes.ok, "transaction")
        throughput += f", {counted} in {_seconds(driven.elapsed_ns)}"
    if cold.is_timed(cell):
        warm = cold.warm_after(cell).shown
        said = f"first execution {cold.first(cell).shown}, warm after {warm}"
        return (("cold", said.replace(" ", TOGETHER)), ("latency", _latency(latencies(measured))))
    if efficiency := commit_efficiency.of_cell(cell):
        throughput += f", commit efficiency {units.ratio(efficiency)}"
        if any(probed_flushes.uneven(probed_flushes.of_run(run.run)) for run in measured):
            throughput += " (uncertain: the machine was busy while it was probed)"
    return (
        ("throughput", throughput),
        ("latency", _latency_of(measured)),
    )


def _elapsed(cell: CellRuns) -> tuple[tuple[str, str], ...]:
    made = aggregates.number(cell, aggregates.ELAPSED)
    if made is None:
        return ()
    shown = _seconds(made.value)
    if made.n != 1 and made.low is not None and made.high is not None:
        around = f"{units.time(made.low, 's')}-{units.time(made.high, 's')}"
        shown += f", median of {made.n} repetitions ({around})"
    return ((ELAPSED, shown),)


def _load(cell: CellRuns) -> tuple[tuple[str, str], ...]:
    """Of a test that only loads."""
    made = aggregates.number(cell, aggregates.LOAD_TIME)
    size = aggregates.number(cell, aggregates.SIZE_ON_DISK)
    shown = [f"loaded in {_seconds(made.value)}"] if made else []
    shown += [f"size on disk {units.size(size.value)}"] if size else []
    return ((MEASURED, "; ".join(shown)),) if shown else ()


def verdict_counts(found: Iterable[CellSummary]) -> Counter[str]:
    """How many cells have each verdict, or why none."""
    without = {True: "without a verdict", False: "without a number"}
    return Counter(one.verdict.word or without[bool(one.numbers)] for one in found)


def _seconds(value_ns: float) -> str:
    unit = "s" if value_ns >= units.NS_PER["s"] else "ms"
    return units.time_with_unit(value_ns, unit).replace(" ", TOGETHER)


def _fields(fields: Sequence[declaration.Field], cell: CellRuns) -> tuple[tuple[str, str], ...]:
    """The values of a test without transactions, each the median of the repetitions by itself."""
    shown = []
    for field in fields:
        key = aggregates.at(field.key)
        found = aggregates.over_repetitions(key, field.unit)(cell)
        is_bare = key.unit == "ns" and found.number and not found.shown.endswith("s")
        unit = f" {field.unit}" if is_bare else ""
        shown.append(f"{field.title} {found.shown}{unit}")
    medians = "medians: " if len(cell.measured) > 1 else ""
    return ((MEASURED, medians + "; ".join(shown)),) if cell.measured else ()


def latencies(measured: Iterable[DrivenRun]) -> Times:
    return [(run.driven.all_ok.latency, run.driven.resolution) for run in measured]


def unlike_types(measured: Sequence[DrivenRun]) -> dict[str, Times]:
    """The times of each transaction type, where the median of one is more than `_UNLIKE` times that
    of another: then that of all is the median of the most frequent one, and says nothing of the
    others. Else empty."""
    found: dict[str, list[tuple[Latency, Resolution]]] = {}
    for run in measured:
        for one in run.driven.transactions:
            if one.outcome == "ok":
                found.setdefault(one.name, []).append((one.latency, run.driven.resolution))
    medians = [
        statistics.median(known)
        for times in found.values()
        if (known := [value for one, _ in times if (value := known_ns(one, "p50")) is not None])
    ]
    is_unlike = len(medians) > 1 and max(medians) > _UNLIKE * min(medians)
    return {name: times for name, times in found.items() if is_unlike}


def _latency_of(measured: Sequence[DrivenRun]) -> str:
    """Of a mix of unlike types the median of each in place of one of all."""
    types = unlike_types(measured)
    if not types:
        return _latency(latencies(measured))
    by_p50 = sorted(types, key=lambda name: -types[name][0][0].due)
    shown = [f"{name} {shown_percentile(types[name], 'p50')}" for name in by_p50[:_MOST_TYPES]]
    if left := len(by_p50) - len(shown):
        shown.append(f"{left} more types")
    rest = _latency(latencies(measured), _PERCENTILES[1:])
    return f"p50 of {', '.join(one.replace(' ', TOGETHER) for one in shown)}  {rest}"


def _latency(found: Times, names: Sequence[str] = _PERCENTILES) -> str:
    """``p50 9.79 µs  p95 20 µs …  max 2 ms``; without those of too few samples."""
    shown = {name: shown_percentile(found, name) for name in (*names, "max")}
    said = [f"{name} {text}" for name, text in shown.items() if "n<" not in text]
    return "  ".join(one.replace(" ", TOGETHER) for one in said)


def shown_percentile(found: Times, name: str) -> str:
    """The median of a percentile over the repetitions, with the digits of the one in the middle, or
    the greatest maximum; in the unit in which it is best read."""
    cells = [percentiles.one(times, name, "ms", resolution) for times, resolution in found]
    if without := next((cell for cell in cells if cell.is_absent), None):
        return without.shown
    numbers = [cell.number for cell in cells if cell.number is not None]
    values_ns = [number.value for number in numbers]
    value_ns = max(values_ns) if name == "max" else statistics.median(values_ns)
    unit = "µs" if value_ns < 1_000_000 else "ms" if value_ns < 1_000_000_000 else "s"
    width_ns = 0 if name == "max" else percentiles.middle_width(numbers) or 0
    return units.time_with_unit(value_ns, unit, resolution_ns=width_ns)


def _groups(measured: Sequence[DrivenRun]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not measured or len(measured[0].driven.groups) < 2:
        return ()
    by_name: dict[str, list[tuple[float, tuple[Latency, Resolution]]]] = {}
    for run in measured:
        for group in run.driven.groups:
            times = (group.all_ok.latency, run.driven.resolution)
            by_name.setdefault(group.name, []).append((group.throughput_per_s, times))
    found = []
    for name, of_runs in by_name.items():
        tps = units.digits(statistics.median([rate for rate, _ in of_runs]))
        latencies = [times for _, times in of_runs]
        texts = (f"{tps} TPS  {_latency(latencies, names)}" for names in _FEWER)
        found.append((name, tuple(texts)))
    return tuple(found)


def errors(runs: Sequence[RunRecord]) -> str:
    """How many transactions failed, the first error, and the runs that failed before their first
    transaction; empty for a test without transactions."""
    driven = [run.driven for run in runs if run.driven is not None]
    if not driven:
        return ""
    total = {
        name: sum(getattr(one.outcomes, name) for one in driven)
        for name in ("scheduled", "failed", "unknown", "aborted", "skipped", "late", "retries")
    }
    parts = [f"{total['failed']} of {total['scheduled']} transactions failed"]
    parts += [
        f"{total[name]} {name}"
        for name in ("unknown", "aborted", "skipped", "late", "retries")
        if total[name]
    ]
    first = next((error for one in driven for error in one.errors), None)
    words = ", ".join(parts) if total["failed"] or len(parts) > 1 else NO_ERRORS
    before = Counter(
        run.system_label for run in runs if run.driven is None and run.state == "failed"
    )
    if (first or before) and words == NO_ERRORS:
        words = "no transaction failed" if total["scheduled"] else "no transaction was run"
    if first:
        words += f"; first: {first.class_}: {first.message}"
    for label, number in before.items():
        words += f"; {label}: {units.counted(number, 'run')} failed before the first transaction"
    return words


def _columns(cell: CellRuns, measured: Sequence[DrivenRun]) -> tuple[str, ...]:
    rates = [one.driven.throughput_per_s for one in measured]
    known = [rate for rate in rates if rate is not None]
    tps = units.digits(spread(known).median) if known else ABSENT
    if cold.is_timed(cell):
        tps = ""
    times = latencies(measured)
    p50, p99 = (shown_percentile(times, name) if times else ABSENT for name in ("p50", "p99"))
    if unlike_types(measured):
        p50 = BY_TYPE
    return (tps, p50, p99, counted(cell, "failed"))


def counted(cell: CellRuns, outcome: str) -> str:
    """Transactions of all runs that ended so; not of one that was cut short."""
    driven = [
        run.driven.outcomes
        for run in cell.runs
        if run.driven is not None and run.state != "interrupted"
    ]
    return str(sum(getattr(one, outcome) for one in driven)) if driven else ABSENT
