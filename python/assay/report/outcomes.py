"""Takes the runs of a test; gives what became of every transaction, and every kind of error."""

from __future__ import annotations

from collections.abc import Sequence

from assay.record import RunRecord
from assay.record.records import Document
from assay.report import grid, units
from assay.report.grid import CellRuns
from assay.report.values import Cell, Column, Number, Row, Section, Table, absent, count

OUTCOMES = ("ok", "aborted", "failed", "unknown", "skipped")


def section(test: str, found: Sequence[CellRuns]) -> Section | None:
    """None for a test that has no transactions."""
    runs = [run for cell in found for run in cell.runs if _has_outcomes(run)]
    if not runs:
        return None
    tables = [_runs_table(test, found)]
    if any(run.observation and run.observation["errors"] for run in runs):
        tables.append(_errors_table(test, found))
    return Section("What became of every transaction", (outcome_line(runs),), tuple(tables))


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
        "" if adds_up else "  (a bug of ours: please report it)"
    )


def throughput_per_s(observation: Document) -> float | None:
    """Transactions that ended ok, per second of the clock; None where no time passed."""
    ok: int = observation["outcomes"]["ok"]
    elapsed_ns: int = observation["elapsed_ns"]
    return ok / (elapsed_ns / 1e9) if elapsed_ns else None


def _runs_table(test: str, found: Sequence[CellRuns]) -> Table:
    factors = grid.varying(found, "system")
    rows = []
    for cell in found:
        for run in cell.runs:
            cells = [absent("")] * (len(OUTCOMES) + 3)
            if _has_outcomes(run) and run.observation:
                elapsed_ns, outcomes = run.observation["elapsed_ns"], run.observation["outcomes"]
                rate = throughput_per_s(run.observation)
                cells = [
                    Cell(units.time(elapsed_ns, "s"), Number(elapsed_ns, "ns", n=1)),
                    absent("") if rate is None else Cell(units.digits(rate), Number(rate, "per_s")),
                    *(count(outcomes[name]) for name in (*OUTCOMES, "scheduled")),
                ]
            place = (count(run.id), *grid.label_cells(cell, factors), count(run.repetition))
            rows.append(Row((*place, *cells, Cell(run.state))))
    return Table(
        name=f"{test}_outcomes",
        label_columns=len(factors) + 2,
        is_detail=all(run.state == "done" for cell in found for run in cell.runs),
        title="Each run",
        columns=(
            Column("run", is_number=True),
            *(Column(name, is_number=name == "clients") for name in factors),
            Column("rep.", is_number=True),
            Column("elapsed", is_number=True, unit="s"),
            Column("ok/s", is_number=True),
            *(Column(name, is_number=True) for name in (*OUTCOMES, "scheduled")),
            Column("state"),
        ),
        rows=tuple(rows),
    )


def _errors_table(test: str, found: Sequence[CellRuns]) -> Table:
    rows = [
        Row(
            (
                count(run.id),
                Cell(str(error["transaction"] or "")),
                Cell(error["class"]),
                Cell(error["code"] or ""),
                count(error["count"]),
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
            Column("message"),
        ),
        rows=tuple(rows),
    )


def _has_outcomes(run: RunRecord) -> bool:
    return run.observation is not None and "outcomes" in run.observation
