"""Takes a cell of an experiment; returns its summary for the first look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.judge import Verdict
from assay.judge.spread import spread
from assay.record import ExperimentRecord, RunRecord
from assay.report import aggregates, cell_runs, declaration, percentiles, tidy, times
from assay.report.cell_runs import CellRuns
from assay.report.outcomes import throughput_per_s
from assay.text import units

COLUMNS = ("TPS", "p50", "p99", "failed", "verdict")
_PERCENTILES = ("p50", "p95", "p99", "p99.9")


@dataclass(frozen=True)
class CellSummary:
    test: str
    """With its workload."""
    name: str
    verdict: Verdict
    numbers: tuple[tuple[str, str], ...]
    """(name, text): throughput and latency, or the values that the test measures instead."""
    groups: tuple[tuple[str, str], ...]
    """(name, text) of each group of clients, where there are several."""
    columns: tuple[str, ...]
    """The values of `COLUMNS`."""
    runs: tuple[RunRecord, ...]


def of_cell(experiment: ExperimentRecord, cell: CellRuns) -> CellSummary:
    kept = {record.fingerprint: record for record in experiment.cells}
    judged = tidy.verdict_of(cell, kept.get(cell.runs[0].cell_fingerprint))
    middle = cell_runs.middle_run(cell)
    refused = [run.reason for run in cell.runs if run.state == "refused"]
    verdict = Verdict("refused", refused[0]) if refused else judged.verdict
    return CellSummary(
        test=cell.runs[0].full_test_name,
        name=cell.name,
        verdict=verdict,
        numbers=_numbers(experiment, cell, middle),
        groups=_groups(middle),
        columns=(*_columns(cell, middle), verdict.word or "-"),
        runs=cell.runs,
    )


def repetitions(found: Sequence[CellSummary]) -> str:
    """``, 3 repetitions``; empty where each cell was run once."""
    most = max(len(cell.runs) for cell in found)
    return f", {most} repetitions" if most > 1 else ""


def _numbers(
    experiment: ExperimentRecord, cell: CellRuns, middle: RunRecord | None
) -> tuple[tuple[str, str], ...]:
    declared = declaration.of_record(experiment.workload, cell.runs[0].test)
    if declared and declared.fields:
        return _fields(declared.fields, cell)
    if middle is None or middle.observation is None:
        return ()
    observation = middle.observation
    made = aggregates.number(cell, aggregates.THROUGHPUT)
    if made is None:
        return ()
    around = ""
    if made.n != 1 and made.low is not None and made.high is not None:
        low, high = units.digits(made.low), units.digits(made.high)
        around = f" ({low}-{high} in {made.n} repetitions)"
    ok, elapsed_ns = observation["outcomes"]["ok"], observation["elapsed_ns"]
    counted = units.counted(ok, "transaction")
    throughput = (
        f"{units.digits(made.value)} TPS{around}, {counted} in {units.time(elapsed_ns, 's')} s"
    )
    all_ok = times.all_ok(observation)
    latency = _latency(all_ok[0]["latency"], all_ok[1], observation) if all_ok else ""
    return ("throughput", throughput), ("latency", latency)


def _fields(fields: Sequence[declaration.Field], cell: CellRuns) -> tuple[tuple[str, str], ...]:
    """The values of a test without transactions, from its last run."""
    shown = []
    for field in fields:
        key = aggregates.at(field.key)
        found = aggregates.only(key, field.unit)(list(cell.each())[-1])
        unit = f" {field.unit}" if key.unit == "ns" and found.number else ""
        shown.append(f"{field.title} {found.shown}{unit}")
    return (("measured", "; ".join(shown)),) if cell.measured else ()


def _latency(found: Mapping[str, Any], n: int, observation: Mapping[str, Any]) -> str:
    """``p50 9.79 µs  p95 20 µs …``; without those of too few samples."""
    shown = {name: _percentile(found, name, n, observation) for name in (*_PERCENTILES, "max")}
    return "  ".join(f"{name} {text}" for name, text in shown.items() if "n<" not in text)


def _percentile(found: Mapping[str, Any], name: str, n: int, observation: Mapping[str, Any]) -> str:
    """A percentile in the unit that suits its size."""
    value_ns = found[f"{name.replace('.', '_')}_ns"]
    unit = "µs" if value_ns < 1_000_000 else "ms" if value_ns < 1_000_000_000 else "s"
    shown = percentiles.one(found, name, n, unit, percentiles.resolution(observation))
    return shown.shown if shown.is_absent else f"{shown.shown} {unit}"


def _groups(middle: RunRecord | None) -> tuple[tuple[str, str], ...]:
    observation = (middle.observation if middle else None) or {}
    groups = observation.get("groups") or ()
    if len(groups) < 2:
        return ()
    found = []
    for group in groups:
        rate = throughput_per_s({**observation, **group})
        all_ok = times.all_ok(group)
        latency = _latency(all_ok[0]["latency"], all_ok[1], observation) if all_ok else ""
        tps = "" if rate is None else f"{units.digits(rate)} TPS  "
        found.append((str(group["name"]), f"{tps}{latency}"))
    return tuple(found)


def errors(runs: Sequence[RunRecord]) -> str:
    """How many transactions failed, and the first error; empty for a test without transactions."""
    outcomes = [
        run.observation["outcomes"]
        for run in runs
        if run.observation and "outcomes" in run.observation
    ]
    if not outcomes:
        return ""
    total = {
        name: sum(counts.get(name) or 0 for counts in outcomes)
        for name in ("scheduled", "failed", "unknown", "aborted", "skipped", "late", "retries")
    }
    parts = [f"{total['failed']} of {total['scheduled']} transactions failed"]
    parts += [
        f"{total[name]} {name}"
        for name in ("unknown", "aborted", "skipped", "late", "retries")
        if total[name]
    ]
    first = next(
        (error for run in runs for error in (run.observation or {}).get("errors", ())), None
    )
    words = ", ".join(parts) if total["failed"] or len(parts) > 1 else "none"
    return f"{words}; first: {first['class']}: {first['message']}" if first else words


def checks(runs: Sequence[RunRecord]) -> str:
    """How many result checks were right; empty where there were none."""
    by_id: dict[str, list[Any]] = {}
    for run in runs:
        for check in run.checks:
            by_id.setdefault(check["id"], []).append(check["ok"])
    if not by_id:
        return ""
    right = sum(all(ok is True for ok in found) for found in by_id.values())
    wrong = [name for name, found in by_id.items() if any(ok is False for ok in found)]
    unknown = len(by_id) - right - len(wrong)
    words = f"{right} of {len(by_id)} right"
    words += f"; wrong: {', '.join(wrong)}" if wrong else ""
    return words + (f"; {unknown} without an expected result" if unknown else "")


def _columns(cell: CellRuns, middle: RunRecord | None) -> tuple[str, ...]:
    rates = [rate for run in cell.measured if (rate := tidy.throughput_of(run)) is not None]
    tps = units.digits(spread(rates).median) if rates else "-"
    observation = (middle.observation if middle else None) or {}
    all_ok = times.all_ok(observation) if "transactions" in observation else None
    failed = sum(
        (outcomes["failed"] or 0) + (outcomes["unknown"] or 0)
        for run in cell.runs
        if (outcomes := (run.observation or {}).get("outcomes"))
    )
    return (tps, *_two_percentiles(all_ok, observation), str(failed))


def _two_percentiles(
    all_ok: tuple[Mapping[str, Any], int] | None, observation: Mapping[str, Any]
) -> tuple[str, str]:
    if all_ok is None:
        return "-", "-"
    found, n = all_ok[0]["latency"], all_ok[1]
    return _percentile(found, "p50", n, observation), _percentile(found, "p99", n, observation)
