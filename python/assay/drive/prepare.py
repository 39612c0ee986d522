"""Takes every planned run; has the engine compile its scripts, so that a mistake in one of them is
known before anything is started.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from assay import _engine, registry
from assay.drive.document import document_of, scripts_of
from assay.errors import ScriptError
from assay.plan import PlannedRun
from assay.provision.session import as_ours
from assay.workload.values import Workload

_DRIVING = {"drive", "connect", "reference"}
"""Procedures in which as many clients work at once as the cell says."""

Found = TypeVar("Found")


def compile_all(workload: Workload, runs: Iterable[PlannedRun]) -> tuple[str, ...]:
    """What the scripts probably do not mean, each with its place.

    Raises `ScriptError` for the first script that does not compile, `ArgumentError` for an
    isolation level that a system has not."""
    seen = set()
    found: list[str] = []
    for run in runs:
        dialect = registry.system(run.cell.system.name).dialect
        if run.cell.driving.isolation:
            dialect.session_isolation(run.cell.driving.isolation)
        levels = (
            dialect.name,
            run.cell.test,
            run.cell.protocol,
            tuple(run.cell.parameters.items()),
        )
        if levels not in seen:
            seen.add(levels)
            found += warnings(workload, run)
    return tuple(dict.fromkeys(found))


def check_limits(workload: Workload, runs: Iterable[PlannedRun], load_sessions: int | None) -> None:
    """Raises `MachineLimit` where this machine has not the threads or open files that the clients
    of a run need, or the sessions of a load that were asked for."""
    needs = {
        (_driver(run), run.cell.clients, run.cell.threads)
        for run in runs
        if workload.test(run.cell.test).procedure in _DRIVING
    }
    try:
        for driver, clients, threads in sorted(needs):
            _engine.check_clients(driver, clients, threads)
        if load_sessions is not None:
            _engine.check_load_sessions(load_sessions)
    except _engine.EngineError as error:
        raise as_ours(error) from error


def _driver(run: PlannedRun) -> str:
    """The engine's driver for the run; a system that speaks several protocols has an option."""
    choice = run.cell.system
    spoken = choice.options.get("protocol", "")
    return spoken if spoken in _engine.drivers() else registry.system(choice.name).driver


def explained(workload: Workload, run: PlannedRun) -> str:
    """The instruction list of the run's scripts; empty where its clients run none."""
    return _compiled(workload, run, _engine.explain) or ""


def warnings(workload: Workload, run: PlannedRun) -> list[str]:
    """What the run's scripts probably do not mean: a sentence with place and fix each."""
    return [
        f"{path}:{line}:{column}: {message}" + (f"; {hint}" if hint else "")
        for path, line, column, message, hint in _compiled(workload, run, _engine.script_warnings)
        or ()
    ]


def _compiled(workload: Workload, run: PlannedRun, ask: Callable[[str], Found]) -> Found | None:
    """What the engine says of the run's scripts; None where its clients run none."""
    dialect = registry.system(run.cell.system.name).dialect
    scripts = scripts_of(workload, run, dialect)
    if not scripts:
        return None
    document = document_of(workload, run, dialect, scripts)
    document["stop"] = document["stop"] or {"transactions": 1}
    try:
        return ask(json.dumps(document))
    except _engine.EngineError as error:
        found = as_ours(error)
        if workload.is_ad_hoc and isinstance(found, ScriptError) and "variable" in found.message:
            found.hint = _with_set(found)
        raise found from error


def _with_set(error: ScriptError) -> str:
    """A variable of an ad hoc script comes from the script itself or from the command line."""
    named = re.search(r"variable :(\w+)", error.message)
    name = named[1] if named else "NAME"
    nearest = f"{error.hint}; " if error.hint and "did you mean" in error.hint else ""
    return f"{nearest}\\set {name} … in the script, or --set {name}=VALUE"
