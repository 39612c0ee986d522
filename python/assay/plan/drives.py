"""Takes a planned run and a step in which clients run scripts; returns what those clients do, in
numbers, or says why they cannot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from assay.errors import ArgumentError, ExperimentError
from assay.experiment import Driving, Scalar
from assay.experiment.values import STOPS
from assay.plan import driving as pace
from assay.plan.values import PlannedRun
from assay.registry import WORKLOAD_FILE
from assay.text.quantities import CLIENTS, shown
from assay.workload.schema import evaluate
from assay.workload.steps import Drive, Group, Step
from assay.workload.values import Test, Workload

_COUNTS = tuple(name for name in STOPS if name != "duration_s")
"""Limits of each group: one that a group sets takes the place of the step's."""


@dataclass(frozen=True)
class PlannedGroup:
    """Clients that run the same scripts at the same pace."""

    name: str
    scripts: tuple[str, ...]
    order: str
    mix: Mapping[str, int]
    clients: int
    driving: Driving
    """Of numbers alone; what is of the whole step is the same in all groups."""


@dataclass(frozen=True)
class PlannedDrive:
    """One step of a run in which clients run scripts."""

    step: Drive
    run: PlannedRun
    """The run with the clients, the pace and the parameters of this step."""
    scripts: tuple[str, ...]
    order: str
    mix: Mapping[str, int] = field(default_factory=dict)
    groups: tuple[PlannedGroup, ...] = ()


def drives(workload: Workload, run: PlannedRun) -> tuple[PlannedDrive, ...]:
    """All such steps of the run. Raises `ArgumentError` or `ExperimentError` where what is said
    cannot be done together."""
    return tuple(drive(workload, run, one) for one in workload.test(run.cell.test).drives)


def drive(workload: Workload, run: PlannedRun, step: Drive) -> PlannedDrive:
    """The step in numbers."""
    test, cell = workload.test(run.cell.test), run.cell
    parameters = parameters_of(workload, run, step)
    known = workload.with_defaults(parameters)
    paced = pace.resolved(cell.driving.changed(step.said), known)
    clients = _clients(step.clients, known, cell.clients)
    if step.is_one_client:
        paced = replace(paced, transactions=_together(paced, clients))
        clients = 1
    groups = tuple(
        _group(one, paced, known, cell.group_clients.get(one.name)) for one in step.groups
    )
    if groups:
        clients = sum(one.clients for one in groups)
        for one in groups:
            pace.check(f"group {one.name}", one.order, one.driving)
    else:
        order = step.order if step.scripts else test.order
        pace.check(f"test {test.name}", order, paced)
    own = step if step.scripts else test
    scripts = own.scripts
    if groups:
        scripts = tuple(dict.fromkeys(name for one in groups for name in one.scripts))
    changed = replace(cell, clients=clients, driving=paced, parameters=parameters)
    return PlannedDrive(step, replace(run, cell=changed), scripts, own.order, own.mix, groups)


def parameters_of(workload: Workload, run: PlannedRun, step: Step) -> Mapping[str, Scalar]:
    """The run's parameters as this step has them."""
    cell = run.cell
    if not step.parameters:
        return cell.parameters
    known = {**workload.with_defaults(cell.parameters), "clients": cell.clients}
    file = workload.folder / WORKLOAD_FILE
    changed = {name: evaluate(one, known, file) for name, one in step.parameters.items()}
    for name, value in changed.items():
        if not workload.parameters[name].fits(value):
            raise ExperimentError(
                f"{name} = {shown(value)}: expected {workload.parameters[name].type}",
                file=file,
                line=step.parameters[name].line,
            )
    return {**cell.parameters, **changed}


def clients_of(
    test: Test, parameters: Mapping[str, Scalar], of_groups: Mapping[str, int]
) -> int | None:
    """The most clients that work at once; None: some step has as many as the run says.
    ``of_groups``: of each group whose count is not as it is declared."""
    counts = [
        sum(of_groups.get(one.name) or declared_clients(one, parameters) for one in step.groups)
        if step.groups
        else _clients(step.clients, parameters, 0)
        for step in test.drives
    ]
    return max(counts) if counts and all(counts) else None


def declared_clients(group: Group, parameters: Mapping[str, Scalar]) -> int:
    return _clients(group.clients, parameters, 1)


def _clients(asked: int | str | None, parameters: Mapping[str, Scalar], otherwise: int) -> int:
    if asked is None:
        return otherwise
    found = parameters[asked] if isinstance(asked, str) else asked
    if not CLIENTS.holds(found):
        raise ArgumentError(f"clients = {shown(found)}: expected {CLIENTS.expected}")
    return int(found)


def _together(paced: Driving, clients: int) -> int | None:
    return None if paced.transactions is None else int(paced.transactions) * clients


def _group(
    group: Group, whole: Driving, parameters: Mapping[str, Scalar], clients: int | None
) -> PlannedGroup:
    said = dict(group.said)
    if any(said.get(name) is not None for name in _COUNTS):
        said = {**dict.fromkeys(_COUNTS), **said}
    if said.get("offered_rate_per_s") and not whole.is_open:
        said.setdefault("arrival", "constant")
    return PlannedGroup(
        name=group.name,
        scripts=group.scripts,
        order=group.order,
        mix=group.mix,
        clients=clients or declared_clients(group, parameters),
        driving=pace.resolved(replace(whole, **said), parameters),
    )
