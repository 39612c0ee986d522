"""Takes the runs of a test; returns the outcomes of their transactions, and their errors."""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts.observation import Observation
from assay.contracts.observation.parts.outcomes import OUTCOMES
from assay.judge.evidence.values import EXCEEDED
from assay.record.metrics.clients import THROUGHPUT
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.values import (
    Number,
    ReportCell,
    ReportColumn,
    ReportTable,
    Row,
    Section,
    absent,
    count,
    run_number,
)
from assay.text import units
from assay.text.reasons import sentence

OF_THESE = ("late", "retries")
"""Counts beside the outcomes, shown where they are not zero."""


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None for a test that has no transactions."""
    driven = [run.driven for _, run in cell_runs.driven_runs(cells)]
    if not driven:
        return None
    tables = [_runs_table(test, cells)]
    if any(one.errors for one in driven):
        tables.append(_errors_table(test, cells))
    lines = (outcome_line(driven), *attempts_line(driven))
    return Section("Transaction outcomes", lines, tuple(tables))


def outcome_line(driven: Sequence[Observation]) -> str:
    """``outcome  ok 224  aborted 0  failed 0  unknown 0  skipped 0 = scheduled 224``."""
    totals = _totals(driven, (*OUTCOMES, "scheduled"))
    adds_up = sum(totals[name] for name in OUTCOMES) == totals["scheduled"]
    parts = "  ".join(f"{name} {totals[name]}" for name in OUTCOMES)
    sign = "=" if adds_up else "≠"
    return f"outcome  {parts} {sign} scheduled {totals['scheduled']}" + (
        "" if adds_up else "  (internal error: please report it)"
    )


def attempts_line(driven: Sequence[Observation]) -> tuple[str, ...]:
    """``attempts 230 = scheduled 224 - skipped 0 + retries 6; late 3 …``; nothing where no
    transaction was retried, late or skipped."""
    totals = _totals(driven, ("attempts", "scheduled", "skipped", *OF_THESE))
    if not (totals["retries"] or totals["late"] or totals["skipped"]):
        return ()
    parts = [
        f"attempts {totals['attempts']} = scheduled {totals['scheduled']} "
        f"- skipped {totals['skipped']} + retries {totals['retries']}"
    ]
    if totals["late"]:
        parts.append(f"late {totals['late']} of those that ended")
    return ("; ".join(parts),)


def _totals(driven: Sequence[Observation], names: Sequence[str]) -> dict[str, int]:
    return {name: sum(getattr(one.outcomes, name) for one in driven) for name in names}


def _runs_table(test: str, measured_cells: Sequence[CellRuns]) -> ReportTable:
    factors = cell_runs.varying(measured_cells, "system")
    beside = [name for name in OF_THESE if _is_counted(measured_cells, name)]
    rows = []
    for cell in measured_cells:
        for run in cell.runs:
            cells = [absent("")] * (len(OUTCOMES) + 3 + len(beside))
            elapsed_ns = run.observation.elapsed_ns if run.observation else None
            if elapsed_ns is not None and run.state == EXCEEDED:
                cells[0] = absent(f"> {units.time(elapsed_ns, 's')}", note=sentence(run.reason))
            elif elapsed_ns is not None:
                cells[0] = ReportCell(units.time(elapsed_ns, "s"), Number(elapsed_ns, "ns", n=1))
            if (driven := run.driven) is not None:
                rate = THROUGHPUT.value(run)
                named = (*OUTCOMES, "scheduled", *beside)
                cells = [
                    cells[0],
                    absent("")
                    if rate is None
                    else ReportCell(units.digits(rate), Number(rate, "per_s")),
                    *(count(getattr(driven.outcomes, name)) for name in named),
                ]
            place = (
                run_number(run.id),
                *cell_runs.label_cells(cell, factors, run),
                count(run.repetition),
            )
            rows.append(Row((*place, *cells, ReportCell(run.state))))
    return ReportTable(
        name=f"{test}_outcomes",
        label_columns=len(factors) + 2,
        is_detail=all(run.state == "done" for cell in measured_cells for run in cell.runs),
        title="Each run",
        columns=(
            ReportColumn("run", is_number=True),
            *cell_runs.label_columns(measured_cells, factors),
            ReportColumn("rep.", is_number=True),
            ReportColumn("elapsed", is_number=True, unit="s"),
            ReportColumn("TPS", is_number=True),
            *(ReportColumn(name, is_number=True) for name in (*OUTCOMES, "scheduled", *beside)),
            ReportColumn("state"),
        ),
        rows=tuple(rows),
    )


def _is_counted(cells: Sequence[CellRuns], name: str) -> bool:
    return any(getattr(run.driven.outcomes, name) for _, run in cell_runs.driven_runs(cells))


def _errors_table(test: str, cells: Sequence[CellRuns]) -> ReportTable:
    errors = [
        (run.run.id, error)
        for _, run in cell_runs.driven_runs(cells)
        for error in run.driven.errors
    ]
    has_retried = any(error.retried for _, error in errors)
    rows = [
        Row(
            (
                run_number(run_id),
                ReportCell(error.transaction or ""),
                ReportCell(error.class_),
                ReportCell(error.code),
                count(error.count),
                *([count(error.retried)] if has_retried else []),
                ReportCell(error.message),
            )
        )
        for run_id, error in errors
    ]
    return ReportTable(
        name=f"{test}_errors",
        label_columns=4,
        title="Errors, the first message of each kind",
        columns=(
            ReportColumn("run", is_number=True),
            ReportColumn("transaction"),
            ReportColumn("class"),
            ReportColumn("code"),
            ReportColumn("count", is_number=True),
            *([ReportColumn("retried", is_number=True)] if has_retried else []),
            ReportColumn("message"),
        ),
        rows=tuple(rows),
    )
