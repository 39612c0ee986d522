"""Takes the cells of a test; returns the numbers of each group of clients and the state of each
step, where there are several.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts.observation import GroupReport, Observation
from assay.contracts.observation.parts.outcomes import OUTCOMES
from assay.record import RunRecord
from assay.record.runs.records import StepRecord
from assay.record.runs.step_of_numbers import step_of_numbers
from assay.report.cells import cell_runs, percentiles
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
    text,
)
from assay.text import units
from assay.text.reasons import sentence

_PERCENTILES = ("p50", "p99")
_RESULT = "the result: its numbers are those of the run"


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None for runs of one group and one step."""
    tables = [_groups_table(test, cells), _steps_table(test, cells)]
    shown = tuple(table for table in tables if table is not None)
    return Section("Groups and steps", (), shown) if shown else None


def _groups_table(test: str, cells: Sequence[CellRuns]) -> ReportTable | None:
    measured = [
        (cell, run, group)
        for cell, run in cell_runs.middle_runs(cells)
        if len(run.driven.groups) > 1
        for group in run.driven.groups
    ]
    if not measured:
        return None
    factors = cell_runs.varying(cells, "system")
    unit = percentiles.unit_of(group.all_ok.latency for _, _, group in measured)
    return ReportTable(
        name=f"{test}_groups",
        title="Each group of clients, in one measurement",
        label_columns=len(factors) + 1,
        columns=(
            *cell_runs.label_columns(cells, factors),
            ReportColumn("group"),
            ReportColumn("clients", is_number=True),
            ReportColumn("TPS", is_number=True),
            *(ReportColumn(name, is_number=True, unit=unit) for name in _PERCENTILES),
            *(ReportColumn(name, is_number=True) for name in OUTCOMES),
        ),
        rows=tuple(
            Row(
                (
                    *cell_runs.label_cells(cell, factors),
                    text(group.name),
                    count(group.clients),
                    *_numbers(group, unit, run.driven),
                    *(count(getattr(group.outcomes, name)) for name in OUTCOMES),
                )
            )
            for cell, run, group in measured
        ),
        notes=(
            *cell_runs.of_middle(cells),
            *cell_runs.without_lost(
                (run for _, run in cell_runs.middle_runs(cells)), of_groups=True
            ),
        ),
    )


def _numbers(group: GroupReport, unit: str, driven: Observation) -> list[ReportCell]:
    rate, times = group.throughput_per_s, group.all_ok.latency
    until_s = group.until_s(driven.elapsed_ns)
    note = "" if until_s is None else (
        f"of its own time: it ended at {units.digits(until_s, 3)} s of "
        f"{units.digits(driven.elapsed_ns / 1e9, 3)} s"
    )  # fmt: skip
    return [
        ReportCell(units.digits(rate), Number(rate, "per_s"), note=note),
        *(percentiles.cell(times, name, unit, driven.resolution) for name in _PERCENTILES),
    ]


def _steps_table(test: str, cells: Sequence[CellRuns]) -> ReportTable | None:
    runs = [run for cell in cells for run in cell.runs if len(run.steps) > 1]
    if not runs:
        return None
    several = any(sum(step.driven is not None for step in run.steps) > 1 for run in runs)
    times = [step.driven.all_ok.latency for run in runs for step in run.steps if step.driven]
    unit = percentiles.unit_of(times)
    return ReportTable(
        name=f"{test}_steps",
        title="Each step",
        label_columns=3,
        is_detail=not several and all(step.state == "done" for run in runs for step in run.steps),
        columns=(
            ReportColumn("run", is_number=True),
            ReportColumn("step", is_number=True),
            ReportColumn("do"),
            ReportColumn("name"),
            ReportColumn("took", is_number=True, unit="s"),
            *([ReportColumn("TPS", is_number=True)] if several else []),
            *(ReportColumn(name, is_number=True, unit=unit) for name in _PERCENTILES if several),
            ReportColumn("state"),
        ),
        rows=tuple(
            Row(
                (
                    run_number(run.id),
                    count(step.position + 1),
                    text(step.do),
                    text(step.name),
                    _took(step.begun_unix_ns, step.ended_unix_ns),
                    *(_of_step(step, unit) if several else ()),
                    ReportCell(step.state, note=_of_state(run, step)),
                )
            )
            for run in runs
            for step in run.steps
        ),
    )


def _of_step(step: StepRecord, unit: str) -> Sequence[ReportCell]:
    """What its clients measured."""
    driven = step.driven
    if driven is None:
        return [absent("") for _ in ("TPS", *_PERCENTILES)]
    rate = driven.throughput_per_s
    times, resolution = driven.of_clients.all_ok.latency, driven.resolution
    return [
        absent("-") if rate is None else ReportCell(units.digits(rate), Number(rate, "per_s")),
        *(percentiles.cell(times, name, unit, resolution) for name in _PERCENTILES),
    ]


def _of_state(run: RunRecord, step: StepRecord) -> str:
    """Why it ended so; of several steps that measure, which one has the numbers of the run."""
    driven = [one for one in run.steps if one.driven is not None]
    is_result = len(driven) > 1 and step is step_of_numbers(run.steps)
    return sentence(step.reason) or (_RESULT if is_result else "")


def _took(begun_unix_ns: int | None, ended_unix_ns: int | None) -> ReportCell:
    if begun_unix_ns is None or ended_unix_ns is None:
        return absent("")
    value_ns = ended_unix_ns - begun_unix_ns
    return ReportCell(f"{value_ns / 1e9:.2f}", Number(value_ns, "ns"))
