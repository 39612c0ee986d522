"""Takes a cell of an experiment; returns its summary for the first look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from assay.judge import Verdict
from assay.judge.spread import spread
from assay.observation import Latency, Resolution
from assay.record import ExperimentRecord, RunRecord
from assay.report import (
    aggregates,
    cell_runs,
    commit_efficiency,
    declaration,
    device,
    durability,
    percentiles,
    probed_flushes,
)
from assay.report.cell_runs import CellRuns, DrivenRun
from assay.text import units

COLUMNS = ("TPS", "p50", "p99", "failed", "verdict")
DEVICE_READS = "reads/tx"
"""The column of the device's reads per transaction."""
DURABILITY = "durability"
TOGETHER = "\u00a0"
"""A blank at which no line is broken."""
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
    durability: str
    """As it was measured; ``-``: it was not."""
    device: str
    """What its device had to do; empty where that explains nothing."""
    device_reads: str
    """Per transaction."""
    has_device_reads: bool
    """Whether these are enough to explain something."""
    runs: tuple[RunRecord, ...]


def of_cell(experiment: ExperimentRecord, cell: CellRuns) -> CellSummary:
    middle = cell_runs.middle_run(cell)
    reads = device.reads_per_transaction(middle) if middle else None
    refused = [run.reason for run in cell.runs if run.state == "refused"]
    verdict = Verdict("refused", refused[0]) if refused else cell.judged.verdict
    return CellSummary(
        test=cell.runs[0].full_test_name,
        name=cell.name,
        verdict=verdict,
        numbers=_numbers(experiment, cell, middle),
        groups=_groups(middle),
        columns=(*_columns(cell, middle), verdict.word or "-"),
        durability=durability.shown(cell),
        device=device.summary(middle) if middle else "",
        device_reads="-" if reads is None else units.digits(reads, 2),
        has_device_reads=reads is not None and reads >= device.READS_LIMIT,
        runs=cell.runs,
    )


def repetitions(found: Sequence[CellSummary]) -> str:
    """``, 3 repetitions``; empty where each cell was run once."""
    most = max(len(cell.runs) for cell in found)
    return f", {most} repetitions" if most > 1 else ""


def _numbers(
    experiment: ExperimentRecord, cell: CellRuns, middle: DrivenRun | None
) -> tuple[tuple[str, str], ...]:
    declared = declaration.of_record(experiment.workload, cell.runs[0].test)
    if declared and declared.fields:
        return _fields(declared.fields, cell)
    if middle is None:
        return ()
    made = aggregates.number(cell, aggregates.THROUGHPUT)
    if made is None:
        return ()
    driven = middle.driven
    throughput = f"{units.digits(made.value)}{TOGETHER}TPS"
    if made.n != 1 and made.low is not None and made.high is not None:
        low, high = units.digits(made.low), units.digits(made.high)
        throughput += f", median of {made.n} repetitions ({low}-{high})"
    else:
        counted = units.counted(driven.outcomes.ok, "transaction")
        throughput += f", {counted} in {units.time(driven.elapsed_ns, 's')}{TOGETHER}s"
    if efficiency := commit_efficiency.efficiency(middle.run):
        throughput += f", commit efficiency {units.ratio(efficiency)}"
        if probed_flushes.uneven(probed_flushes.of_run(middle.run)):
            throughput += " (uncertain: the machine was busy while it was probed)"
    return (
        ("throughput", throughput),
        ("latency", _latency(driven.all_ok.latency, driven.resolution)),
    )


def _fields(fields: Sequence[declaration.Field], cell: CellRuns) -> tuple[tuple[str, str], ...]:
    """The values of a test without transactions, from its last run."""
    shown = []
    for field in fields:
        key = aggregates.at(field.key)
        found = aggregates.only(key, field.unit)(list(cell.each())[-1])
        unit = f" {field.unit}" if key.unit == "ns" and found.number else ""
        shown.append(f"{field.title} {found.shown}{unit}")
    return (("measured", "; ".join(shown)),) if cell.measured else ()


def _latency(found: Latency, resolution: Resolution, names: Sequence[str] = _PERCENTILES) -> str:
    """``p50 9.79 µs  p95 20 µs …  max 2 ms``; without those of too few samples."""
    shown = {name: _one(found, name, resolution) for name in (*names, "max")}
    said = [f"{name} {text}" for name, text in shown.items() if "n<" not in text]
    return "  ".join(one.replace(" ", TOGETHER) for one in said)


def _one(found: Latency, name: str, resolution: Resolution) -> str:
    """A percentile in the unit in which it is best read."""
    value_ns = percentiles.value_of(found, name)
    unit = "µs" if value_ns < 1_000_000 else "ms" if value_ns < 1_000_000_000 else "s"
    shown = percentiles.one(found, name, unit, resolution)
    return shown.shown if shown.is_absent else f"{shown.shown} {unit}"


def _groups(middle: DrivenRun | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if middle is None or len(middle.driven.groups) < 2:
        return ()
    found = []
    for group in middle.driven.groups:
        latency, resolution = group.all_ok.latency, middle.driven.resolution
        tps = units.digits(group.throughput_per_s)
        texts = (f"{tps} TPS  {_latency(latency, resolution, names)}" for names in _FEWER)
        found.append((group.name, tuple(texts)))
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
    words = ", ".join(parts) if total["failed"] or len(parts) > 1 else "none"
    before = Counter(
        run.system_label for run in runs if run.driven is None and run.state == "failed"
    )
    if (first or before) and words == "none":
        words = "no transaction failed" if total["scheduled"] else "no transaction was run"
    if first:
        words += f"; first: {first.class_}: {first.message}"
    for label, number in before.items():
        words += f"; {label}: {units.counted(number, 'run')} failed before the first transaction"
    return words


def _columns(cell: CellRuns, middle: DrivenRun | None) -> tuple[str, ...]:
    driven = [run.driven for run in cell.measured if run.driven is not None]
    rates = [one.throughput_per_s for one in driven if one.throughput_per_s is not None]
    tps = units.digits(spread(rates).median) if rates else "-"
    failed = sum(run.driven.outcomes.lost for run in cell.runs if run.driven is not None)
    return (tps, *_two_percentiles(middle), str(failed))


def _two_percentiles(middle: DrivenRun | None) -> tuple[str, str]:
    if middle is None:
        return "-", "-"
    found, resolution = middle.driven.all_ok.latency, middle.driven.resolution
    return _one(found, "p50", resolution), _one(found, "p99", resolution)
