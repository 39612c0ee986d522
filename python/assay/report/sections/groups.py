"""Takes the cells of a test; returns the numbers of each group of clients and the state of each
step, where there are several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay.contracts.observation import GroupReport, Latency
from assay.contracts.observation.parts.outcomes import OUTCOMES
from assay.judge.run import StepRecord
from assay.record.metrics import work
from assay.record.runs.step_of_numbers import step_of_numbers
from assay.report import columns
from assay.report.cells import by_cell, cell_runs, percentiles
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import (
    counts,
    integer,
    never_null,
    numbers,
    of_work,
    path,
    string,
    why_null,
)
from assay.report.program_tables import ProgramTable, RunPart, of_part, parts
from assay.report.values import (
    ReportCell,
    ReportColumn,
    ReportTable,
    Section,
    absent,
    rate,
    seconds,
)
from assay.text import units
from assay.text.reasons import sentence

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
        *of_work(lambda part: work.of_all(part.part)),
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
    tables = [_groups_table(test, cells), _steps_table(test, cells)]
    shown = tuple(table for table in tables if table is not None)
    return Section("Groups and steps", (), shown) if shown else None


def _groups_table(test: str, cells: Sequence[CellRuns]) -> ReportTable | None:
    measured = [
        (cell, RunPart(run, group))
        for cell, run in cell_runs.middle_runs(cells)
        if len(run.measurement.groups) > 1
        for group in run.measurement.groups
    ]
    if not measured:
        return None
    unit = percentiles.unit_of(one.part.all_ok.latency for _, one in measured)
    return by_cell.table(
        f"{test}_groups",
        "Each group of clients, in one measurement",
        (cells, cell_runs.varying(cells, "system")),
        (
            *GROUPS.named("group", "clients"),
            numbers("TPS", _rate),
            *(_latency(name, unit, path("part", "all_ok", "latency")) for name in _PERCENTILES),
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


def _latency(name: str, unit: str, times: Callable[[RunPart], Latency]) -> ReportColumn:
    def shown(source: RunPart) -> ReportCell:
        driven = source.part.driven if isinstance(source.part, StepRecord) else source.run.driven
        return (
            absent("")
            if driven is None
            else percentiles.cell(times(source), name, unit, driven.resolution)
        )

    return numbers(name, shown, unit)


def _steps_table(test: str, cells: Sequence[CellRuns]) -> ReportTable | None:
    runs = [run for cell in cells for run in cell.runs if len(run.steps) > 1]
    if not runs:
        return None
    several = any(sum(step.driven is not None for step in run.steps) > 1 for run in runs)
    unit = percentiles.unit_of(
        step.driven.all_ok.latency for run in runs for step in run.steps if step.driven
    )
    measured = [
        numbers("TPS", _step_rate),
        *(
            _latency(name, unit, path("part", "driven", "of_clients", "all_ok", "latency"))
            for name in _PERCENTILES
        ),
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
        [RunPart(run, step) for run in runs for step in run.steps],
        is_detail=not several and all(step.state == "done" for run in runs for step in run.steps),
    )


def _step_rate(source: RunPart) -> ReportCell:
    """What its clients measured."""
    if source.part.driven is None:
        return absent("")
    per_s = source.part.driven.throughput_per_s
    return absent("-") if per_s is None else rate(per_s)


def _state(source: RunPart) -> ReportCell:
    """With why it ended so; of several steps that measure, which one has the numbers of the run."""
    driven = [step for step in source.run.steps if step.driven is not None]
    is_result = len(driven) > 1 and source.part is step_of_numbers(source.run.steps)
    note = sentence(source.part.reason) or (_RESULT if is_result else "")
    return ReportCell(source.part.state, note=note)


def _took(source: RunPart) -> ReportCell:
    begun_unix_ns, ended_unix_ns = source.part.begun_unix_ns, source.part.ended_unix_ns
    if begun_unix_ns is None or ended_unix_ns is None:
        return absent("")
    return seconds(ended_unix_ns - begun_unix_ns)
