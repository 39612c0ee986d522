"""Takes a cell of an experiment; returns its summary for the first look.

Numbers are medians of the repetitions; failed transactions are those of all.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from assay.contracts.observation import clients_left
from assay.contracts.role import PRIMARY
from assay.experiment import Scalar
from assay.judge import Verdict
from assay.judge.evidence.offered_rate import OfferedAndReached
from assay.judge.run import EXCEEDED
from assay.judge.statistics.samples import UNREACHED
from assay.judge.statistics.spread import spread
from assay.record import ExperimentRecord, Run
from assay.record.metrics import catalogue, clients, probed_flushes
from assay.report.cells import cell_runs, cold, durability
from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import aggregates, declaration
from assay.report.sections import derived, device, goals, headline
from assay.report.storage_tables import commit_efficiency
from assay.report.summaries import goal_column, latency_words
from assay.report.summaries.latency_words import TOGETHER
from assay.text import units

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

    def name_among(self, cells: Iterable[CellSummary]) -> str:
        """With its test, where these are of several."""
        is_one_test = len({cell.test for cell in cells}) == 1
        return self.name if is_one_test else f"{self.test}: {self.name}"

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
        groups=latency_words.groups(measured),
        columns=(*_columns(cell, measured), verdict.word or ABSENT),
        goal_column=goal_column.of_cell(experiment, cell),
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
        headline=headline.shown(cell),
        headline_column=headline.column(cell),
        derived=derived.of_cell(cell),
        deferred=latency_words.deferred(measured),
        response_limits=headline.limits_in_words(cell),
        offered_rate=goals.kept_rate(experiment, cell),
        runs=cell.runs,
    )


def _server(runs: Sequence[Run]) -> str:
    """``standby of 10.0.0.7:5432 (pg_is_in_recovery() is true)``."""
    roles = (run.deployment.role for run in runs if run.deployment)
    said = (role.described for role in roles if role and role.name != PRIMARY)
    return "; ".join(dict.fromkeys(said))


_COLUMN_OF = {clients.THROUGHPUT: "TPS", clients.P99: "p99", clients.ELAPSED: ELAPSED}


def _bar(cell: CellRuns) -> tuple[str, float] | None:
    """Of the metric by which comparisons judge the cell."""
    runs = list(cell.measured)
    is_cold = cold.is_timed(cell)
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
    least, most = (one(len(cell.runs) for cell in summaries) for one in (min, max))
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
    if cold.is_timed(cell):
        warm = cold.warm_after(cell).shown
        said = f"first execution {cold.first(cell).shown}, warm after {warm}"
        latency = latency_words.in_words(latency_words.times(measured))
        return (("cold", said.replace(" ", TOGETHER)), ("latency", latency))
    if efficiency := commit_efficiency.of_cell(cell):
        throughput += f", commit efficiency {units.ratio(efficiency)}"
        if any(probed_flushes.uneven(probed_flushes.of_run(run)) for run in measured):
            throughput += " (uncertain: the machine was busy while it was probed)"
    return (
        ("throughput", throughput),
        ("latency", latency_words.of_mix(measured)),
    )


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
    return ((ELAPSED, shown),)


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


def errors(runs: Sequence[Run]) -> str:
    """How many transactions failed, the first error, and the runs that failed before their first
    transaction; empty for a test without transactions."""
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
    if first:
        words += f"; first: {first.class_}: {first.message}"
    for label, number in before.items():
        words += f"; {label}: {units.counted(number, 'run')} failed before the first transaction"
    return words


def _columns(cell: CellRuns, measured: Sequence[Run]) -> tuple[str, ...]:
    outcomes = [one.measurement.outcomes for one in measured]
    if any(one.failed for one in outcomes) and not any(one.ok or one.aborted for one in outcomes):
        return (ABSENT, ABSENT, ABSENT, counted(cell, "failed"))
    rates = [clients.THROUGHPUT.value(one) for one in measured]
    known = [rate for rate in rates if rate is not None]
    tps = units.digits(spread(known).median) if known else ABSENT
    if cold.is_timed(cell):
        tps = ""
    times = latency_words.times(measured)
    p50, p99 = (
        latency_words.percentile(times, name) if times else ABSENT for name in ("p50", "p99")
    )
    if latency_words.unlike_types(measured):
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
