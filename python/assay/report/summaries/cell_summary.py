"""Takes a cell of an experiment; returns its summary for the first look: its numbers, its
latency in words, and the column of the time that the goal is about."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from assay.contracts.deployment import PRIMARY
from assay.contracts.metric import ReportColumn
from assay.contracts.observation import GroupReport, Latency, Observation, Resolution, clients_left
from assay.experiment import Scalar
from assay.judge import Verdict
from assay.judge.run import EXCEEDED
from assay.judge.service_levels import OfferedAndReached
from assay.judge.statistics import samples
from assay.judge.statistics.samples import UNREACHED, known_ns, median_and_spread
from assay.record import ExperimentRecord, Run
from assay.record.metrics import catalogue, clients, resources
from assay.record.metrics.clients import ELAPSED, LATENCIES, deferred_report
from assay.report import cell_runs, cell_tables, durability
from assay.report.cell_runs import CellRuns
from assay.report.declared import aggregates, declaration
from assay.report.sections import derived, goals, headline, machine_use, storage_ranks
from assay.report.values import Number, ReportCell, absent
from assay.text import units
from assay.workload.declared_reports import Field

COLUMNS = ("TPS", "p50", "p99", "failed", "verdict")
UNKNOWN = "unknown"
"""The column of transactions with an unknown outcome, where there are any."""
DEVICE_READS = "reads/tx"
"""The column of the device's reads per transaction."""
ELAPSED_COLUMN = "elapsed"
DURABILITY = "durability"
MEASURED = "measured"
"""The name of what a test without transactions measures."""
NO_ERRORS = "none"
ABSENT = "-"
"""In a column for which nothing was measured."""
BY_TYPE = "by type"
"""In the column of the median of unlike types."""


class CellSummary(Struct, frozen=True):
    test: str
    """With its workload."""
    name: str
    verdict: Verdict
    numbers: tuple[tuple[str, str], ...]
    """(name, text): throughput and latency, or the values that the test measures instead."""
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    """As `latency_words.groups`."""
    columns: tuple[str, ...]
    """The values of `COLUMNS`."""
    goal_column: tuple[str, str] | None
    """The time that a goal is about, where `COLUMNS` does not have it: its title, and the value."""
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
    headline: str
    """The rate by which its test is known; empty: the test declares none."""
    headline_column: tuple[str, str] | None
    """Its title, and the number."""
    derived: tuple[tuple[str, str], ...]
    """The metrics that its workload derives: title, and the number or why there is none."""
    deferred: str
    """What was queued and how it was run; empty: nothing was."""
    response_limits: str
    """Whether they were kept; empty: there are none."""
    offered_rate: OfferedAndReached | None
    """Whether it was kept, and the rate that was reached; None: it is no open loop."""
    runs: tuple[Run, ...]
    counted: tuple[Run, ...]
    """Without those that were left out."""
    repetitions: int
    """Those that count."""

    def name_among(self, cells: Iterable[CellSummary]) -> str:
        """With its test, where these are of several."""
        is_one_test = len({cell.test for cell in cells}) == 1
        return self.name if is_one_test else f"{self.test}: {self.name}"

    @property
    def has_transactions(self) -> bool:
        return any(run.driven is not None for run in self.runs)

    @property
    def has_measured_alone(self) -> bool:
        return not self.has_transactions and any(name == MEASURED for name, _ in self.numbers)


def of_cell(experiment: ExperimentRecord, cell: CellRuns) -> CellSummary:
    measured = cell_runs.measured_runs(cell)
    reads = machine_use.reads_of_all(measured)
    refused = [run.reason for run in cell.runs if run.state == "refused"]
    verdict = Verdict.because("refused", refused[0]) if refused else cell.judged.verdict
    if {run.state for run in cell.runs} <= {"interrupted", "planned"} and verdict.word:
        verdict = Verdict("interrupted", verdict.reasons)
    exceeded = [run.reason for run in cell.runs if run.state == EXCEEDED]
    if exceeded and not verdict.word:
        verdict = Verdict.because(EXCEEDED, exceeded[0])
    declared = declaration.of_test(experiment.workload, cell.runs[0].test, cell.runs)
    has_fields = bool(declared and declared.fields)
    elapsed = aggregates.number(cell, aggregates.ELAPSED)
    return CellSummary(
        test=cell.runs[0].full_test_name,
        name=cell.name,
        verdict=verdict,
        numbers=_numbers(experiment, cell, measured),
        groups=groups_in_words(measured),
        columns=(*_columns(cell, measured), verdict.word or ABSENT),
        goal_column=goal_column_of_cell(experiment, cell),
        levels=cell.factors,
        bar=_bar(cell),
        unknown=counted(cell, UNKNOWN),
        durability=durability.shown(cell),
        device=machine_use.summary(measured),
        device_reads=ABSENT if reads is None else units.digits(reads, 2),
        has_device_reads=reads is not None and reads >= machine_use.READS_LIMIT,
        elapsed=ABSENT if elapsed is None else f"{_seconds(elapsed.value)} s",
        has_elapsed_alone=elapsed is not None and not measured and not has_fields,
        first=cell_tables.first_executions(cell).shown,
        warm_after=cell_tables.warm_after(cell).shown,
        server=_server(cell.runs),
        headline=headline.shown(cell),
        headline_column=headline.column(cell),
        derived=derived.of_cell(cell),
        deferred=deferred_in_words(measured),
        response_limits=headline.limits_in_words(cell),
        offered_rate=goals.kept_rate(experiment, cell),
        runs=cell.runs,
        counted=cell.counted,
        repetitions=len(cell.run_ids),
    )


def _server(runs: Sequence[Run]) -> str:
    """``standby of 10.0.0.7:5432 (pg_is_in_recovery() is true)``."""
    roles = (run.deployment.role for run in runs if run.deployment)
    said = (role.described for role in roles if role and role.name != PRIMARY)
    return "; ".join(dict.fromkeys(said))


_COLUMN_OF = {clients.THROUGHPUT: "TPS", clients.P99: "p99", clients.ELAPSED: ELAPSED_COLUMN}


def _bar(cell: CellRuns) -> tuple[str, float] | None:
    """Of the metric by which comparisons judge the cell."""
    runs = list(cell.measured)
    is_cold = cell_tables.is_timed_from_cold(cell)
    title = _COLUMN_OF.get(catalogue.primary(runs)) if runs and not is_cold else None
    if title is None:
        return None
    metric = catalogue.primary(runs)
    known = [value for run in runs if (value := metric.result(run)) is not None]
    middle = statistics.median(known) if known else UNREACHED
    return None if middle == UNREACHED else (title, middle)


def signs(summaries: Sequence[CellSummary]) -> tuple[str, str]:
    """``("n<368", "too few transactions for the percentile")``: what stands in a column in place of
    a number, explained; empty where nothing does."""
    values = dict.fromkeys(value for cell in summaries for value in cell.columns)
    few = [value for value in values if value.startswith("n<")]
    if not few:
        return (ABSENT, "not measured") if ABSENT in values else ("", "")
    said = "too few transactions for the percentile"
    head = few[0] if len(few) == 1 else "n<…"
    return head, f"{said}; {ABSENT}: not measured" if ABSENT in values else said


def repetitions(summaries: Sequence[CellSummary]) -> str:
    """``, 3 repetitions``; empty where each cell was run once."""
    least, most = (one(cell.repetitions for cell in summaries) for one in (min, max))
    shown = f"{least} to {most}" if least < most else f"{most}"
    return f", {shown} repetitions" if most > 1 else ""


def _numbers(
    experiment: ExperimentRecord, cell: CellRuns, measured: Sequence[Run]
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
        driven = measured[0].measurement
        counted = units.counted(driven.of_clients.outcomes.ok, "transaction")
        throughput += f", {counted} in {_seconds(driven.elapsed_ns)}"
    if fewer := _on_fewer(measured):
        throughput += f", {fewer}"
    if cell_tables.is_timed_from_cold(cell):
        warm = cell_tables.warm_after(cell).shown
        said = f"first execution {cell_tables.first_executions(cell).shown}, warm after {warm}"
        latency = latency_in_words(latency_times(measured))
        return (("cold", said.replace(" ", TOGETHER)), ("latency", latency))
    if efficiency := storage_ranks.commit_efficiency_of_cell(cell):
        throughput += f", commit efficiency {units.ratio(efficiency)}"
        if any(resources.uneven_flushes(resources.probed_flushes(run)) for run in measured):
            throughput += " (uncertain: the machine was busy while it was probed)"
    return (("throughput", throughput), ("latency", medians_of_mix(measured)))


def _on_fewer(measured: Sequence[Run]) -> str:
    """Where load generators were lost and the others went on."""
    said = [left for run in measured if (left := clients_left(run.measurement.generators))]
    if not said:
        return ""
    groups = cell_runs.without_lost_in_words(measured, of_groups=True)
    of_groups = f"; groups {groups}" if groups else ""
    if len(measured) == 1:
        return said[0] + of_groups
    fewer = f"{len(said)} of {len(measured)} repetitions on fewer clients ({'; '.join(said)})"
    return fewer + of_groups


def _elapsed(cell: CellRuns) -> tuple[tuple[str, str], ...]:
    made = aggregates.number(cell, aggregates.ELAPSED)
    if made is None:
        return ()
    shown = _seconds(made.value)
    if made.n != 1 and made.low is not None and made.high is not None:
        around = f"{units.time(made.low, 's')}-{units.time(made.high, 's')}"
        shown += f", median of {made.n} repetitions ({around})"
    return ((ELAPSED_COLUMN, shown),)


def _load(cell: CellRuns) -> tuple[tuple[str, str], ...]:
    """Of a test that only loads."""
    made = aggregates.number(cell, aggregates.LOAD_TIME)
    size = aggregates.number(cell, aggregates.SIZE_ON_DISK)
    shown = [f"loaded in {_seconds(made.value)}"] if made else []
    shown += [f"size on disk {units.size(size.value)}"] if size else []
    return ((MEASURED, "; ".join(shown)),) if shown else ()


def _seconds(value_ns: float) -> str:
    unit = "s" if value_ns >= units.NS_PER["s"] else "ms"
    return units.time_with_unit(value_ns, unit).replace(" ", TOGETHER)


def _fields(fields: Sequence[Field], cell: CellRuns) -> tuple[tuple[str, str], ...]:
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


def errors(runs: Sequence[Run], verdict: str = "") -> str:
    """How many transactions failed, the first error unless the verdict has it, and the runs that
    failed before their first transaction; empty for a test without transactions."""
    # What was cancelled since a run was ended is no error of the system.
    driven = [run.driven for run in runs if run.driven is not None and run.state != EXCEEDED]
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
        run.system_on_machine for run in runs if run.driven is None and run.state == "failed"
    )
    if (first or before) and words == NO_ERRORS:
        words = "no transaction failed" if total["scheduled"] else "no transaction was run"
    if first and (said := f"{first.class_}: {first.message}") not in verdict:
        words += f"; first: {said}"
    for label, number in before.items():
        words += f"; {label}: {units.counted(number, 'run')} failed before the first transaction"
    return words


def _columns(cell: CellRuns, measured: Sequence[Run]) -> tuple[str, ...]:
    outcomes = [one.measurement.outcomes for one in measured]
    if any(one.failed for one in outcomes) and not any(one.ok or one.aborted for one in outcomes):
        return (ABSENT, ABSENT, ABSENT, counted(cell, "failed"))
    rates = [clients.THROUGHPUT.value(one) for one in measured]
    known = [rate for rate in rates if rate is not None]
    tps = units.digits(median_and_spread(known).median) if known else ABSENT
    if cell_tables.is_timed_from_cold(cell):
        tps = ""
    times = latency_times(measured)
    p50, p99 = (percentile_in_words(times, name) if times else ABSENT for name in ("p50", "p99"))
    if unlike_types(measured):
        p50 = BY_TYPE
    return (tps, p50, p99, counted(cell, "failed"))


def counted(cell: CellRuns, outcome: str) -> str:
    """Transactions of all runs that ended so; not of one that was cut short."""
    driven = [
        run.driven.outcomes
        for run in cell.runs
        if run.driven is not None and run.state not in ("interrupted", EXCEEDED)
    ]
    return str(sum(getattr(one, outcome) for one in driven)) if driven else ABSENT


Times = Sequence[tuple[Latency, Resolution]]
"""Of each repetition."""
TOGETHER = "\u00a0"
"""A blank at which no line is broken."""
_UNLIKE = 2
"""Times the median of one transaction type that of another is, where they are unlike."""
_MOST_TYPES = 3
_PERCENTILES = ("p50", "p95", "p99", "p99.9")
_FEWER = (_PERCENTILES, ("p50", "p99", "p99.9"), ("p50", "p99"), ("p99",), ())
"""Percentiles of a group, whose line must have room for the maximum."""


def latency_times(measured: Iterable[Run]) -> Times:
    return [
        (run.measurement.of_clients.all_ok.latency, run.measurement.resolution) for run in measured
    ]


def unlike_types(measured: Sequence[Run]) -> dict[str, Times]:
    """The times of each transaction type, where the median of one is more than `_UNLIKE` times that
    of another: then that of all is the median of the most frequent one, and says nothing of the
    others. Else empty."""
    found: dict[str, list[tuple[Latency, Resolution]]] = {}
    for run in measured:
        for one in run.measurement.of_clients.transactions:
            if one.outcome == "ok":
                found.setdefault(one.name, []).append((one.latency, run.measurement.resolution))
    medians = [
        statistics.median(known)
        for of_type in found.values()
        if (known := [value for one, _ in of_type if (value := known_ns(one, "p50")) is not None])
    ]
    is_unlike = len(medians) > 1 and max(medians) > _UNLIKE * min(medians)
    return {name: of_type for name, of_type in found.items() if is_unlike}


def medians_of_mix(measured: Sequence[Run]) -> str:
    """Of a mix of unlike types the median of each in place of one of all."""
    types = unlike_types(measured)
    if not types:
        return latency_in_words(latency_times(measured))
    most_first = sorted(types, key=lambda name: -types[name][0][0].due)
    shown = [
        f"{name} {percentile_in_words(types[name], 'p50')}" for name in most_first[:_MOST_TYPES]
    ]
    if left := len(most_first) - len(shown):
        shown.append(f"{left} more types")
    rest = latency_in_words(latency_times(measured), _PERCENTILES[1:])
    return f"p50 of {', '.join(one.replace(' ', TOGETHER) for one in shown)}  {rest}"


def latency_in_words(times: Times, names: Sequence[str] = _PERCENTILES) -> str:
    """``p50 9.79 µs  p95 20 µs …  max 2 ms``; without those of too few samples."""
    shown = {name: percentile_in_words(times, name) for name in (*names, "max")}
    said = [f"{name} {text}" for name, text in shown.items() if "n<" not in text]
    return "  ".join(one.replace(" ", TOGETHER) for one in said)


def percentile_in_words(times: Times, name: str) -> str:
    """The median of a percentile over the repetitions, with the digits of the one in the middle, or
    the greatest maximum; in the unit in which it is best read."""
    cells = [
        cell_tables.percentile_cell(latency, name, "ms", resolution)
        for latency, resolution in times
    ]
    if without := next((cell for cell in cells if cell.is_absent), None):
        return without.shown
    numbers = [cell.number for cell in cells if cell.number is not None]
    values_ns = [number.value for number in numbers]
    value_ns = max(values_ns) if name == "max" else statistics.median(values_ns)
    unit = "µs" if value_ns < 1_000_000 else "ms" if value_ns < 1_000_000_000 else "s"
    width_ns = 0 if name == "max" else cell_tables.middle_bucket_width(numbers) or 0
    return units.time_with_unit(value_ns, unit, resolution_ns=width_ns)


def groups_in_words(measured: Sequence[Run]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(name, texts) of each group of clients, where there are several; the texts from the longest
    to the shortest, which has fewer percentiles."""
    if not measured or len(measured[0].measurement.groups) < 2:
        return ()
    by_name: dict[str, list[tuple[GroupReport, Observation]]] = {}
    for run in measured:
        for group in run.measurement.groups:
            by_name.setdefault(group.name, []).append((group, run.measurement))
    found = []
    for name, of_runs in by_name.items():
        tps = units.digits(statistics.median([group.throughput_per_s for group, _ in of_runs]))
        tps = f"{tps} TPS{_until([group.until_s(whole.elapsed_ns) for group, whole in of_runs])}"
        times_of_runs = [(group.all_ok.latency, whole.resolution) for group, whole in of_runs]
        texts = (f"{tps}  {latency_in_words(times_of_runs, names)}" for names in _FEWER)
        found.append((name, tuple(texts)))
    return tuple(found)


def _until(of_runs: Sequence[float | None]) -> str:
    """`` until 3.90 s``, of a group that ended before the others; else empty."""
    early = [until_s for until_s in of_runs if until_s is not None]
    if not early:
        return ""
    few = f" in {len(early)} of {len(of_runs)} runs" if len(early) < len(of_runs) else ""
    return f" until {units.digits(statistics.median(early), 3)} s{few}"


def deferred_in_words(measured: Sequence[Run]) -> str:
    """``83 queued, 0 late, 0 not run; longest queue 2; wait p90 1.2 ms  max 3 ms; run p90 …``, of
    all repetitions; empty where nothing is deferred."""
    found = ((deferred_report(run), run) for run in measured)
    groups = [(group, run) for group, run in found if group is not None]
    if not groups:
        return ""
    queued, late, skipped = (
        sum(getattr(group.outcomes, name) for group, _ in groups)
        for name in ("scheduled", "late", "skipped")
    )
    longest = max(group.longest_queue or 0 for group, _ in groups)
    said = [f"{queued} queued, {late} late, {skipped} not run", f"longest queue {longest}"]
    waits = [
        (lag, run.measurement.resolution)
        for group, run in groups
        if (lag := group.all_ok.schedule_lag)
    ]
    runs = [(group.all_ok.service_time, run.measurement.resolution) for group, run in groups]
    for title, times in (("waited", waits), ("took", runs)):
        if shown := latency_in_words(times, ("p90",)):
            said.append(f"{title} {shown}")
    return "; ".join(said)


_THERE = (LATENCIES["p50"].name, LATENCIES["p99"].name)
"""Each table of cells has them."""


class GoalColumn(NamedTuple):
    title: str
    value: str


def goal_column_of_cell(experiment: ExperimentRecord, cell: CellRuns) -> GoalColumn | None:
    """None where there is no goal, or the table has its metric anyway."""
    metric = metric_of_goal(experiment)
    return (
        None
        if metric is None
        else GoalColumn(goal_column_title(metric), goal_cell(metric, cell).shown)
    )


def metric_of_goal(experiment: ExperimentRecord) -> ReportColumn | None:
    """The metric of the goal, if it needs a column of its own."""
    condition = goals.asked_goal(experiment)
    if condition is None or condition.metric.unit != "ns" or condition.metric.name in _THERE:
        return None
    return condition.metric


def goal_column_title(metric: ReportColumn) -> str:
    """``p99.9``, ``p99 of payment``, ``elapsed``."""
    return "elapsed" if metric.name == ELAPSED.name else metric.label.replace(" latency", "")


def goal_cell(metric: ReportColumn, cell: CellRuns) -> ReportCell:
    values = [value for run in cell.measured if (value := metric.value(run)) is not None]
    if not values:
        return absent(_why_none(metric, cell))
    middle = statistics.median(values)
    if middle == samples.UNREACHED:
        return absent(samples.NOT_REACHED)
    return ReportCell(_shown(metric, cell, middle), Number(middle, "ns"))


def _shown(metric: ReportColumn, cell: CellRuns, value_ns: float) -> str:
    """With the digits that the other percentiles have."""
    name = _percentile_of_goal(metric)
    if name in samples.SHARES and not metric.transaction:
        return percentile_in_words(latency_times(cell_runs.measured_runs(cell)), name)
    return units.latency(value_ns)


def _why_none(metric: ReportColumn, cell: CellRuns) -> str:
    if _percentile_of_goal(metric) in samples.SHARES and cell.measured:
        return f"n<{samples.needed_for(_percentile_of_goal(metric))}"
    return "-"


def _percentile_of_goal(metric: ReportColumn) -> str:
    """``p99.9``; empty: it is none of latencies."""
    is_latency = metric.stem.startswith("latency_")
    return metric.stem.removeprefix("latency_").replace("_", ".") if is_latency else ""
