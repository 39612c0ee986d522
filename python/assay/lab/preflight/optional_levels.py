"""Takes an experiment and its workload; returns its plan, without the levels of memory, processors
and distance that the experiment calls optional and that cannot be had here.

A system is given a level on all of its storages and in all tests, or in none, so that these stay
comparable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from assay.contracts.experiment import LeftOut, Scaled
from assay.errors import MachineLimit
from assay.experiment import Experiment, ServerMachine
from assay.experiment.choices import server_limits
from assay.lab.preflight import canonical_settings
from assay.lab.preflight.refusal import why_not_on_machine
from assay.plan import Plan, PlannedRun, cell_names, plan, server_machines
from assay.provision.limits import server_group
from assay.workload.values import Workload


def plan_here(experiment: Experiment, workload: Workload) -> Plan:
    """The experiment of the plan has its settings in one spelling, and says what was left out, and
    why."""
    experiment = canonical_settings.spelled(experiment)
    whole = plan(experiment, workload)
    optional = [name for name in server_limits.FACTORS if name in experiment.optional]
    left_out = tuple(_left_out(whole.runs, optional))
    if not left_out:
        return whole
    said = tuple(_said(whole, left_out))
    changed = replace(experiment, left_out=left_out, scaled=(*experiment.scaled, *said))
    return plan(changed, workload)


def _left_out(runs: Iterable[PlannedRun], optional: Iterable[str]) -> Iterator[LeftOut]:
    seen = set()
    for name in optional:
        for run in runs:
            level = server_limits.level(run.cell.system.machine, name)
            label = _without_machine(run).cell.system.label
            if level is None or (label, name, level) in seen:
                continue
            if reason := _why_not(run, name):
                seen.add((label, name, level))
                yield LeftOut(label, name, level, reason)


def _why_not(run: PlannedRun, name: str) -> str:
    """Why its system cannot be given its level of this factor; empty: it can, or cannot be as it is
    asked for on any machine."""
    alone = _on(run, server_limits.only(run.cell.system.machine, name))
    try:
        if alone.cell.system.url is None:
            server_group.refuse_impossible(alone.cell.system.machine)
    except MachineLimit as error:
        return error.message.partition(": ")[2] if error.about == name else error.message
    reason = why_not_on_machine(alone)
    if reason is None or why_not_on_machine(_without_machine(run)) is not None:
        return ""
    return reason.removeprefix(f"{alone.cell.system.label}: ")


def _on(run: PlannedRun, machine: ServerMachine) -> PlannedRun:
    return replace(run, cell=replace(run.cell, system=replace(run.cell.system, machine=machine)))


def _without_machine(run: PlannedRun) -> PlannedRun:
    return _on(run, ServerMachine())


def _said(whole: Plan, left_out: Iterable[LeftOut]) -> Iterator[Scaled]:
    """For each test what it would have had; what no system can have, for the same reason, is said
    once."""
    asked: dict[tuple[str, str, object], dict[str, str]] = {}
    for name in server_limits.FACTORS:
        for run in whole.runs:
            level = server_limits.level(run.cell.system.machine, name)
            if level is not None:
                words = server_machines.levels(run.cell.system.machine, [name])
                shown = cell_names.level_text(words[name])
                label = _without_machine(run).cell.system.label
                asked.setdefault((run.cell.test, name, level), {})[label] = shown
    for (test, name, level), systems in asked.items():
        reasons = {
            one.system: one.reason
            for one in left_out
            if (one.factor, one.level) == (name, level) and one.system in systems
        }
        if reasons.keys() == systems.keys() and len(set(reasons.values())) == 1:
            reasons = {"": next(iter(reasons.values()))}
        for system, reason in reasons.items():
            shown = next(iter(systems.values()))
            yield Scaled(test, f"{name} of {system}" if system else name, shown, "", reason=reason)
