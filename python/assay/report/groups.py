"""Takes the cells of a test; returns the numbers of each group of clients and the state of each
step, where there are several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.record import RunRecord
from assay.report import cell_runs, percentiles, times
from assay.report.cell_runs import CellRuns
from assay.report.outcomes import throughput_per_s
from assay.report.values import Cell, Column, Number, Row, Section, Table, absent, count, text
from assay.text import units

_PERCENTILES = ("p50", "p99")
_OUTCOMES = ("ok", "aborted", "failed", "unknown", "skipped")


def section(test: str, found: Sequence[CellRuns]) -> Section | None:
    """None for runs of one group and one step."""
    tables = [_groups_table(test, found), _steps_table(test, found)]
    shown = tuple(table for table in tables if table is not None)
    return Section("Groups and steps", (), shown) if shown else None


def _groups_table(test: str, found: Sequence[CellRuns]) -> Table | None:
    measured = [
        (cell, run, group)
        for cell in found
        if (run := cell_runs.middle_run(cell)) is not None
        and len(groups := (run.observation or {}).get("groups") or ()) > 1
        for group in groups
    ]
    if not measured:
        return None
    factors = cell_runs.varying(found, "system")
    known = [times.all_ok(group) for _, _, group in measured]
    unit = percentiles.unit_of(all_ok[0]["latency"] for all_ok in known if all_ok is not None)
    return Table(
        name=f"{test}_groups",
        title="Each group of clients, in one measurement",
        label_columns=len(factors) + 1,
        columns=(
            *cell_runs.label_columns(found, factors),
            Column("group"),
            Column("clients", is_number=True),
            Column("TPS", is_number=True),
            *(Column(name, is_number=True, unit=unit) for name in _PERCENTILES),
            *(Column(name, is_number=True) for name in _OUTCOMES),
        ),
        rows=tuple(
            Row(
                (
                    *cell_runs.label_cells(cell, factors),
                    text(group["name"]),
                    count(group.get("clients")),
                    *_numbers(run, group, unit),
                    *(count(group["outcomes"][name]) for name in _OUTCOMES),
                )
            )
            for cell, run, group in measured
        ),
        notes=("of the median repetition",),
    )


def _numbers(run: RunRecord, group: Mapping[str, Any], unit: str) -> list[Cell]:
    observation = run.observation or {}
    rate = throughput_per_s({**observation, **group})
    all_ok = times.all_ok(group)
    if all_ok is None:
        shown = [absent("per type")] * len(_PERCENTILES)
    else:
        resolution = percentiles.resolution(observation)
        shown = [
            percentiles.one(all_ok[0]["latency"], name, all_ok[1], unit, resolution)
            for name in _PERCENTILES
        ]
    tps = absent("") if rate is None else Cell(units.digits(rate), Number(rate, "per_s"))
    return [tps, *shown]


def _steps_table(test: str, found: Sequence[CellRuns]) -> Table | None:
    runs = [run for cell in found for run in cell.runs if len(run.steps) > 1]
    if not runs:
        return None
    return Table(
        name=f"{test}_steps",
        title="Each step",
        label_columns=3,
        is_detail=all(step.state == "done" for run in runs for step in run.steps),
        columns=(
            Column("run", is_number=True),
            Column("step", is_number=True),
            Column("do"),
            Column("name"),
            Column("took", is_number=True, unit="s"),
            Column("state"),
        ),
        rows=tuple(
            Row(
                (
                    count(run.id),
                    count(step.position + 1),
                    text(step.do),
                    text(step.name),
                    _took(step.begun_unix_ns, step.ended_unix_ns),
                    Cell(step.state, note=step.reason),
                )
            )
            for run in runs
            for step in run.steps
        ),
    )


def _took(begun_unix_ns: int | None, ended_unix_ns: int | None) -> Cell:
    if begun_unix_ns is None or ended_unix_ns is None:
        return absent("")
    value_ns = ended_unix_ns - begun_unix_ns
    return Cell(f"{value_ns / 1e9:.2f}", Number(value_ns, "ns"))
