"""Takes the runs of a test; returns the outcomes of their transactions, and their errors."""

from __future__ import annotations

from collections.abc import Sequence

from assay.record import RunRecord
from assay.record.records import Document
from assay.report import cell_runs
from assay.report.cell_runs import CellRuns
from assay.report.values import Cell, Column, Number, Row, Section, Table, absent, count
from assay.text import units

OUTCOMES = ("ok", "aborted", "failed", "unknown", "skipped")
OF_THESE = ("late", "retries")
"""Counts beside the outcomes, shown where they are not zero."""


def section(test: str, found: Sequence[CellRuns]) -> Section | None:
    """None for a test without transactions."""
    runs = [run for cell in found for run in cell.runs if _has_outcomes(run)]
    if not runs:
        return None
    tables = [_runs_table(test, found)]
    if any(run.observation and run.observation["errors"] for run in runs):
        tables.append(_errors_table(test, found))
    lines = (outcome_line(runs), *attempts_line(runs))
    return Section("Transaction outcomes", lines, tuple(tables))


def outcome_line(runs: Sequence[RunRecord]) -> str:
    """``outcome  ok 224  aborted 0  failed 0  unknown 0  skipped 0 = scheduled 224``."""
    totals = {
        name: sum(run.observation["outcomes"][name] for run in runs if run.observation)
        for name in (*OUTCOMES, "scheduled")
    }
    adds_up = sum(totals[name] for name in OUTCOMES) == totals["scheduled"]
    parts = "  ".join(f"{name} {totals[name]}" for name in OUTCOMES)
    sign = "=" if adds_up else "≠"
    return f"outcome  {parts} {sign} scheduled {totals['scheduled']}" + (
        "" if adds_up else "  (internal error: please report it)"
    )


def attempts_line(runs: Sequence[RunRecord]) -> tuple[str, ...]:
    """``attempts 230 = scheduled 224 - skipped 0 + retries 6; late 3 …``; empty where no
    transaction was retried, late or skipped."""
    known = [run.observation["outcomes"] for run in runs if run.observation]
    totals = {
        name: sum(outcomes.get(name) or 0 for outcomes in known)
        for name in ("attempts", "scheduled", "skipped", *OF_THESE)
    }
    if not (totals["retries"] or totals["late"] or totals["skipped"]):
        return ()
    parts = [
        f"attempts {totals['attempts']} = scheduled {totals['scheduled']} "
        f"- skipped {totals['skipped']} + retries {totals['retries']}"
    ]
    if totals["late"]:
        parts.append(f"late {totals['late']} of those that ended")
    return ("; ".join(parts),)


def throughput_per_s(observation: Document) -> float | None:
    """Transactions that ended ok per second of elapsed time; None where no time passed."""
    ok: int = observation["outcomes"]["ok"]
    elapsed_ns: int = observation["elapsed_ns"]
    return ok / (elapsed_ns / 1e9) if elapsed_ns else None


def _runs_table(test: str, found: Sequence[CellRuns]) -> Table:
    factors = cell_runs.varying(found, "system")
    beside = [name for name in OF_THESE if _is_counted(found, name)]
    rows = []
    for cell in found:
        for run in cell.runs:
            cells = [absent("")] * (len(OUTCOMES) + 3 + len(beside))
            if _has_outcomes(run) and run.observation:
                elapsed_ns, outcomes = run.observation["elapsed_ns"], run.observation["outcomes"]
                rate = throughput_per_s(run.observation)
                cells = [
                    Cell(units.time(elapsed_ns, "s"), Number(elapsed_ns, "ns", n=1)),
                    absent("") if rate is None else Cell(units.digits(rate), Number(rate, "per_s")),
                    *(count(outcomes[name]) for name in (*OUTCOMES, "scheduled")),
                    *(count(outcomes.get(name)) for name in beside),
                ]
            place = (count(run.id), *cell_runs.label_cells(cell, factors), count(run.repetition))
            rows.append(Row((*place, *cells, Cell(run.state))))
    return Table(
        name=f"{test}_outcomes",
        label_columns=len(factors) + 2,
        is_detail=all(run.state == "done" for cell in found for run in cell.runs),
        title="Each run",
        columns=(
            Column("run", is_number=True),
            *cell_runs.label_columns(found, factors),
            Column("rep.", is_number=True),
            Column("elapsed", is_number=True, unit="s"),
            Column("TPS", is_number=True),
            *(Column(name, is_number=True) for name in (*OUTCOMES, "scheduled", *beside)),
            Column("state"),
        ),
        rows=tuple(rows),
    )


def _is_counted(found: Sequence[CellRuns], name: str) -> bool:
    return any(
        run.observation["outcomes"].get(name)
        for cell in found
        for run in cell.runs
        if _has_outcomes(run) and run.observation
    )


def _errors_table(test: str, found: Sequence[CellRuns]) -> Table:
    has_retried = any(
        error.get("retried")
        for cell in found
        for run in cell.runs
        if _has_outcomes(run) and run.observation
        for error in run.observation["errors"]
    )
    rows = [
        Row(
            (
                count(run.id),
                Cell(str(error["transaction"] or "")),
                Cell(error["class"]),
                Cell(error["code"] or ""),
                count(error["count"]),
                *([count(error.get("retried", 0))] if has_retried else []),
                Cell(error["message"]),
            )
        )
        for cell in found
        for run in cell.runs
        if _has_outcomes(run) and run.observation
        for error in run.observation["errors"]
    ]
    return Table(
        name=f"{test}_errors",
        label_columns=4,
        title="Errors, the first message of each kind",
        columns=(
            Column("run", is_number=True),
            Column("transaction"),
            Column("class"),
            Column("code"),
            Column("count", is_number=True),
            *([Column("retried", is_number=True)] if has_retried else []),
            Column("message"),
        ),
        rows=tuple(rows),
    )


def _has_outcomes(run: RunRecord) -> bool:
    return run.observation is not None and "outcomes" in run.observation
