"""Takes the cells of a test; returns the numbers of each group of clients, of each step and of
each timed statement, and how the transactions that others had queued (`\\defer`) were run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter

from msgspec.structs import replace

from assay.contracts.metric import ReportColumn
from assay.contracts.observation import GroupReport, Latency, Resolution
from assay.contracts.observation.transactions import OUTCOMES
from assay.record import Run
from assay.record.metrics import clients
from assay.record.metrics.clients import deferred_report
from assay.record.runs.records import step_of_numbers
from assay.report import cell_runs, cell_tables, columns
from assay.report.cell_runs import CellRuns
from assay.report.columns import (
    COUNT,
    SERVICE_TIME,
    counts,
    integer,
    never_null,
    numbers,
    of,
    of_work,
    path,
    string,
    why_null,
)
from assay.report.program_tables import ProgramTable, RunPart, of_part, parts
from assay.report.values import (
    ReportCell,
    ReportTable,
    Section,
    absent,
    rate,
    seconds,
    section_of,
    text,
)
from assay.text import units
from assay.text.phrases import reason_sentence
from assay.text.terminal import shortened

_PERCENTILES = ("p50", "p99")
_RESULT = "the result: its numbers are those of the run"
GROUPS = ProgramTable(
    "One row per run and group of clients. Of several, without what lost generators did.",
    [
        *of_part(
            [
                never_null(
                    "group", "string", "empty: the only one", path("name"),
                    title="group", is_label=True,
                ),
                integer("clients", "in it", title="clients"),
            ]
        ),
        *of_work(lambda part: clients.work_of_all(part.part)),
        why_null(lambda part: part.part.all_ok.latency),
    ],
    parts(lambda run: run.driven.groups if run.driven else ()),
    is_detail=True,
)  # fmt: skip
STEPS = ProgramTable(
    "One row per step of a run.",
    of_part(
        [
            integer("position", "from 0"),
            string("do", "kind of step", title="do", is_label=True),
            string("name", "in the workload", title="name"),
            string(
                "state", "running, done, failed, exceeded, interrupted, refused, skipped",
            ),
            string("reason", "why it failed, was ended early or refused"),
            integer("begun_unix_ns", "null: not begun"),
            integer("ended_unix_ns", "null: not ended"),
        ]
    ),
    parts(lambda run: run.steps),
    is_detail=True,
)  # fmt: skip


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None for runs of one group and one step."""
    return section_of("Groups and steps", _groups_table(test, cells), _steps_table(test, cells))


def _groups_table(test: str, cells: Sequence[CellRuns]) -> ReportTable:
    measured = [
        (cell, RunPart(run, group))
        for cell, run in cell_runs.middle_runs(cells)
        if len(run.measurement.groups) > 1
        for group in run.measurement.groups
    ]
    return cell_tables.table_by_cell(
        f"{test}_groups",
        "Each group of clients, in one measurement",
        (cells, cell_runs.varying(cells, "system")),
        (
            *GROUPS.named("group", "clients"),
            numbers("TPS", _rate),
            *cell_tables.percentile_columns(
                _PERCENTILES,
                [one for _, one in measured],
                lambda source: (source.part.all_ok.latency, source.run.driven.resolution),
            ),
            *(counts(name, path("part", "outcomes", name)) for name in OUTCOMES),
        ),
        measured,
        notes=(
            *cell_runs.of_middle(cells),
            *cell_runs.without_lost(
                (run for _, run in cell_runs.middle_runs(cells)), of_groups=True
            ),
        ),
    )


def _rate(source: RunPart) -> ReportCell:
    group: GroupReport = source.part
    elapsed_ns = source.run.driven.elapsed_ns if source.run.driven else 0
    until_s = group.until_s(elapsed_ns)
    note = "" if until_s is None else (
        f"of its own time: it ended at {units.digits(until_s, 3)} s of "
        f"{units.digits(elapsed_ns / 1e9, 3)} s"
    )  # fmt: skip
    return replace(rate(group.throughput_per_s), note=note)


def _steps_table(test: str, cells: Sequence[CellRuns]) -> ReportTable:
    runs = [run for cell in cells for run in cell.runs if len(run.steps) > 1]
    several = any(sum(step.driven is not None for step in run.steps) > 1 for run in runs)
    steps = [RunPart(run, step) for run in runs for step in run.steps]
    unit = cell_tables.unit_of_percentile(
        one.part.driven.all_ok.latency for one in steps if one.part.driven
    )
    measured = [
        numbers("TPS", _step_rate),
        *cell_tables.percentile_columns(_PERCENTILES, steps, _step_times, unit=unit),
    ]
    return columns.table(
        f"{test}_steps",
        "Each step",
        (
            *STEPS.named("run"),
            counts("step", lambda source: source.part.position + 1, is_label=True),
            *STEPS.named("do", "name"),
            numbers("took", _took, "s"),
            *(measured if several else ()),
            ReportColumn("state", cell=_state),
        ),
        steps,
        is_detail=not several and all(one.part.state == "done" for one in steps),
    )


def _step_rate(source: RunPart) -> ReportCell:
    """What its clients measured."""
    driven = source.part.driven
    return absent("") if driven is None else rate(driven.throughput_per_s)


def _step_times(source: RunPart) -> tuple[Latency, Resolution] | None:
    driven = source.part.driven
    return driven and (driven.of_clients.all_ok.latency, driven.resolution)


def _state(source: RunPart) -> ReportCell:
    """With why it ended so; of several steps that measure, which one has the numbers of the run."""
    driven = [step for step in source.run.steps if step.driven is not None]
    is_result = len(driven) > 1 and source.part is step_of_numbers(source.run.steps)
    note = reason_sentence(source.part.reason) or (_RESULT if is_result else "")
    return ReportCell(source.part.state, note=note)


def _took(source: RunPart) -> ReportCell:
    begun_unix_ns, ended_unix_ns = source.part.begun_unix_ns, source.part.ended_unix_ns
    if begun_unix_ns is None or ended_unix_ns is None:
        return absent("")
    return seconds(ended_unix_ns - begun_unix_ns)


_SHOWN_OF_TIMES = ("p50", "p90", "p99", "max")
_TEXT_SHOWN = 36
"""Characters of a statement: enough for its verb and its table."""
STATEMENTS = ProgramTable(
    "One row per statement, of runs that timed them.",
    of_part(
        [
            string("transaction", "type", title="transaction", is_label=True),
            integer("line", "of the script", title="line", is_label=True),
            string(
                "statement", "as it is sent", path("text"), title="statement",
                show=lambda whole: text(shortened(whole, _TEXT_SHOWN)),
            ),
            COUNT,
            *SERVICE_TIME,
        ]
    ),
    parts(lambda run: run.driven.per_statement if run.driven else ()),
    is_detail=True,
)  # fmt: skip


def statements_section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no statement was timed."""
    return section_of(
        "Statements",
        *(_statements_table(test, cell, run) for cell, run in cell_runs.middle_runs(cells)),
    )


def _statements_table(test: str, cell: CellRuns, run: Run) -> ReportTable:
    statements, resolution = run.measurement.per_statement, run.measurement.resolution
    parts = [RunPart(run, statement) for statement in statements]
    return columns.table(
        f"{test}_statements_{run.id}",
        f"Service times: {cell.name} (run {run.id})",
        (
            *STATEMENTS.named("transaction", "line", "count"),
            *cell_tables.percentile_columns(
                _SHOWN_OF_TIMES, parts, lambda source: (source.part.service_time, resolution)
            ),
            *STATEMENTS.named("statement"),
        ),
        parts,
        notes=("from the sending of a statement to the last byte of its answer",),
    )


def deferred_section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where nothing is deferred."""
    found = [
        (cell, (run, group))
        for cell, run in cell_runs.middle_runs(cells)
        if (group := deferred_report(run)) is not None
    ]
    groups = [group for _, (_, group) in found]
    waits = [lag for group in groups if (lag := group.all_ok.schedule_lag)]
    unit = cell_tables.unit_of_percentile([*waits, *(one.all_ok.service_time for one in groups)])

    def times(what: str, of_group: Callable[[GroupReport], Latency]) -> list[ReportColumn]:
        return cell_tables.percentile_columns(
            _SHOWN_OF_TIMES,
            (),
            lambda source: (of_group(source[1]), source[0].measurement.resolution),
            title=f"{what} {{}}",
            unit=unit,
        )

    table = cell_tables.table_by_cell(
        f"{test}_deferred",
        "Transactions that others queued",
        (cells, cell_runs.varying(cells, "system", "clients")),
        (
            *of(
                itemgetter(1),
                [
                    counts("queued", path("outcomes", "scheduled")),
                    counts("late", path("outcomes", "late")),
                    counts("not run", path("outcomes", "skipped")),
                    counts("longest queue", lambda group: group.longest_queue or 0),
                ],
            ),
            *times("wait", lambda group: group.all_ok.schedule_lag or group.all_ok.latency),
            *times("run", lambda group: group.all_ok.service_time),
        ),
        found,
        notes=cell_runs.of_middle(cells),
    )
    late = sum(group.outcomes.late for group in groups)
    kept = f"{units.counted(late, 'transaction')} late" if late else "none was late"
    line = f"A wait is from \\defer to the start, a run from there to the end; {kept}."
    return section_of("Deferred", table, lines=[line])
