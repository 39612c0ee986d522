"""Takes cells that a paper compares; returns why the measured ones cannot be compared, or on what
condition."""

from __future__ import annotations

from collections.abc import Sequence

from assay.judge.statistics import estimate
from assay.judge.warnings.kinds import WarningKind
from assay.plan.cell_names import MACHINE
from assay.record import ExperimentRecord
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.declared import selection
from assay.report.declared.aggregates import RunValue
from assay.report.papers.claims.claims import Term
from assay.text.reasons import sentence

MODELLED = "on a modelled storage"
"""Beside a judgement: the storage is a model of one."""
_NOT_SIZES = ("repetitions",)
"""What may be scaled down and leaves each number as it is."""
OF_SPEED = ("ns", "per_s", "per_min", "bytes_per_s", "ratio")
"""Units of what depends on how fast storage and machine are; sizes and counts do not."""
_NAMED = "`assay report NAME=3 NAME=5`"
"""What gives the machines of two experiments the names by which a paper compares them."""
NO_VALUE = "this system has no such value"


def why_not(cell: CellRuns, key: RunValue | None = None) -> str:
    """Why the cell cannot be compared by this key; empty: it can."""
    if not (cell.measured if key is None else key.runs(cell)):
        run = cell.runs[0]
        if run.state == "planned":
            return f"{run.system} was not run"
        reason, _, _hint = sentence(run.reason).partition(" (")
        return f"{run.system} was not measured: {reason or run.state}"
    for measured in cell.measured:
        warned = {one.name for one in measured.warnings}
        if WarningKind.NOT_FROM_DEVICE.id in warned:
            return f"{cell.name}: nothing was read from the device"
        if WarningKind.SCRIPTS_LEFT_OUT.id in warned:
            return f"{cell.name}: not all scripts of the test were run"
    verdict = cell.judged.verdict
    return f"{cell.name} is invalid: {verdict.reason}" if verdict.word == "invalid" else ""


def why_none(term: Term, cells: Sequence[CellRuns]) -> str:
    """The first level of the term that no cell has, beside those before it."""
    left = list(cells)
    wanted: selection.Levels = {"test": term.test, **term.levels}
    for name, level in wanted.items():
        kept = selection.with_levels(left, {name: level})
        if not kept and left and not any(cell.measured for cell in left):
            return why_not(left[0])
        if not kept:
            there = cell_runs.levels(left, name)
            if name == MACHINE:
                return _other_machine(str(level), [str(one) for one in there])
            if name == "storage" and len(there) == 1:
                return f"one storage only ({there[0]})"
            several = level if isinstance(level, tuple | list) else (level,)
            words = ", ".join(map(str, several))
            return f"{words if name == 'system' else f'{name} {words}'} was not measured"
        left = kept
    return "it was not measured"


def _other_machine(wanted: str, there: Sequence[str]) -> str:
    """Why no run was made on that machine of the paper, and what to do."""
    if not there:
        return f"one machine only ({_NAMED} has two)"
    return f"no machine is called {wanted} ({_NAMED} names them)"


def why_no_ratio(of_cells: Sequence[Sequence[float]], keys: Sequence[RunValue]) -> str:
    """Why these values of cells, each with its key, have no ratio; empty: they have."""
    if not all(of_cells):
        return NO_VALUE
    every = zip(of_cells, keys, strict=True)
    return next(filter(None, (estimate.why_no_ratio(one, key.unit) for one, key in every)), "")


def other_durability(cells: Sequence[CellRuns]) -> str:
    """Systems on the same storage, or one on two machines, of which one answers before a commit is
    safe and another not."""
    systems = {cell.system_on_machine for cell in cells}
    durabilities = {cell.system_on_machine: cell.durability for cell in cells}
    known = {level for level in durabilities.values() if level is not None}
    if len(systems) < 2 or len(known) < 2:
        return ""
    listed = ", ".join(f"{name} {level}" for name, level in durabilities.items())
    return f"unequal durability ({listed})"


def scaled(experiment: ExperimentRecord) -> dict[str, dict[str, str]]:
    """By test: what is smaller than in the paper's own size, and its levels here."""
    found: dict[str, dict[str, str]] = {}
    for one in experiment.experiment.get("scaled", ()):
        if one["name"] not in _NOT_SIZES and not one.get("reason"):
            found.setdefault(one["test"], {})[one["name"]] = one["quick"]
    return found


def modelled(cells: Sequence[CellRuns], unit: str) -> str:
    """`MODELLED`, where a storage of the cells is and values of this unit depend on it; else
    empty."""
    is_modelled = unit in OF_SPEED and any(
        run.deployment and run.deployment.storage and run.deployment.storage.kind == "modelled"
        for cell in cells
        for run in cell.runs
    )
    return MODELLED if is_modelled else ""
