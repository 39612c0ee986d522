"""Takes the runs of a test; returns the outcomes of their transactions, their errors, and what the
servers of failed runs logged before they ended."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter, itemgetter

from assay.contracts.metric import ReportColumn
from assay.contracts.observation import Observation
from assay.contracts.observation.transactions import OUTCOMES
from assay.judge.run import EXCEEDED
from assay.record import Run
from assay.record.metrics.clients import THROUGHPUT
from assay.report import cell_runs, cell_tables, columns
from assay.report.cell_runs import CellRuns
from assay.report.columns import counts, integer, numbers, path, run_column, string, words
from assay.report.program_tables import ProgramTable, RunPart, of_part, parts
from assay.report.values import (
    Number,
    ReportCell,
    ReportTable,
    Section,
    absent,
    count,
    rate,
    section_of,
)
from assay.text import phrases, units
from assay.text.phrases import reason_sentence

OF_THESE = ("late", "retries")
"""Counts beside the outcomes, shown where they are not zero."""


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None for a test that has no transactions."""
    driven = [run.measurement for _, run in cell_runs.driven_runs(cells)]
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


ERRORS = ProgramTable(
    "One row per run and kind of error.",
    of_part(
        [
            string("transaction", "type", title="transaction", is_label=True),
            string("class", "of the error", path("class_"), title="class", is_label=True),
            string("code", "the system's own", title="code", is_label=True),
            string("certainty", "undone, or unknown: may have committed"),
            integer("count", "how often", title="count"),
            integer("retried", "of them, tried again", title="retried"),
            string("message", "the first one", title="message"),
        ]
    ),
    parts(lambda run: run.driven.errors if run.driven else ()),
    is_detail=True,
)


def _elapsed(run: Run) -> ReportCell:
    elapsed_ns = run.observation.elapsed_ns if run.observation else None
    if elapsed_ns is None:
        return absent("")
    shown = units.time(elapsed_ns, "s")
    if run.state == EXCEEDED:
        return absent(f"> {shown}", note=reason_sentence(run.reason))
    return ReportCell(shown, Number(elapsed_ns, "ns", n=1))


def _rate(run: Run) -> ReportCell:
    return rate(THROUGHPUT.value(run) if run.driven is not None else None, "")


def _outcome(name: str) -> ReportColumn:
    def shown(run: Run) -> ReportCell:
        return absent("") if run.driven is None else count(getattr(run.driven.outcomes, name))

    return numbers(name, shown)


def _runs_table(test: str, measured_cells: Sequence[CellRuns]) -> ReportTable:
    beside = [name for name in OF_THESE if _is_counted(measured_cells, name)]
    runs = [(cell, run) for cell in measured_cells for run in cell.runs]
    return cell_tables.table_by_cell(
        f"{test}_outcomes",
        "Each run",
        (measured_cells, cell_runs.varying(measured_cells, "system")),
        (
            counts("rep.", attrgetter("repetition"), is_label=True),
            numbers("elapsed", _elapsed, "s"),
            numbers("TPS", _rate),
            *map(_outcome, (*OUTCOMES, "scheduled", *beside)),
            words("state", attrgetter("state")),
        ),
        runs,
        run=lambda run: run,
        before=[run_column(attrgetter("id"))],
        is_detail=all(run.state == "done" for _, run in runs),
    )


def _is_counted(cells: Sequence[CellRuns], name: str) -> bool:
    return any(getattr(run.measurement.outcomes, name) for _, run in cell_runs.driven_runs(cells))


def _errors_table(test: str, cells: Sequence[CellRuns]) -> ReportTable:
    errors = [
        RunPart(run, error)
        for _, run in cell_runs.driven_runs(cells)
        for error in run.measurement.errors
    ]
    retried = ["retried"] if any(one.part.retried for one in errors) else []
    return columns.table(
        f"{test}_errors",
        "Errors, the first message of each kind",
        ERRORS.named("run", "transaction", "class", "code", "count", *retried, "message"),
        errors,
    )


def logs_section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no failed run has the log of a server."""
    rows = [
        (run.id, line)
        for cell in cells
        for run in cell.runs
        for line in phrases.log_lines(run.reason or "")
    ]
    table = columns.table(
        f"{test}_logs",
        "Their last lines, since the run began",
        (run_column(itemgetter(0)), words("line", itemgetter(1))),
        rows,
    )
    return section_of("Logs of servers that ended", table)
