"""Takes a cell; returns the load generators that drive its clients, where it asks for several, and
why it cannot have them."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from assay import env_vars, registry
from assay.contracts.deployment import Deployment
from assay.contracts.factors import CLIENT_PROGRAM, GENERATORS
from assay.contracts.systems.abilities import capabilities_of
from assay.drive.document import document_of, scripts_of
from assay.drive.fleet.values import Terms
from assay.drive.observe import Generators
from assay.drive.parts import counts, why_whole
from assay.errors import ArgumentError
from assay.experiment import NATIVE
from assay.plan import PlannedRun
from assay.plan.drives import drives
from assay.plan.values import Cell
from assay.provision.engine.engine_calls import calls_python
from assay.provision.machine.ports import is_loopback
from assay.provision.undo.ledger import state_directory
from assay.text import units
from assay.text.mentions import Mention, phrase
from assay.workload.values import Workload

PARTS = "parts"
"""The folder in the state directory where generators keep their measurements if they lose the
coordinator."""
_KEPT_DAYS = 30
OWN_PROCESSES = "own processes"
"""The capability of a system that works in none of the clients' processes."""


def of_cell(cell: Cell, deployment: Deployment, run: int) -> Generators | None:
    """Of one drive of this run; None: this process drives all clients."""
    number = cell.level(GENERATORS)
    if number == 1:
        return None
    terms = Terms(on_lost=cell.driving.on_lost, run=run, kept_in=folder_of_parts())
    if not cell.driving.fleet:
        from assay.provision.engine.local_fleet import LocalFleet

        fleet = LocalFleet(number, deployment.address.options.get("module", ""))
        return Generators(fleet, terms)
    from assay.provision.engine.ray_fleet import RayFleet

    cluster = RayFleet(cell.driving.fleet, number)
    if not cluster.is_this_machine and (here := _only_here(deployment)):
        cluster.stop()
        raise ArgumentError(
            phrase(
                "{}: {} is reached at {} on this machine alone, and generators are on others",
                Mention("fleet", cell.driving.fleet),
                cell.system.label,
                here,
            ),
            hint=phrase(
                "transport=tcp and {} with an address of this machine, for a system that asks for "
                "a password; or name a running server by its URL in {--on}",
                env_vars.SERVER_ADDRESS.name,
            ),
        )
    return Generators(cluster, terms, cluster.is_this_machine)


def kept_parts() -> str:
    """What generators of this machine kept in the last day, where they lost the coordinator, as a
    sentence; empty: nothing. Removes what is a month old."""
    folder, now_s = folder_of_parts(), time.time()
    recent = []
    for file in sorted(folder.glob("*.json")):
        with suppress(OSError):
            days = (now_s - file.stat().st_mtime) / 86400
            if days > _KEPT_DAYS:
                file.unlink()
            elif days < 1:
                recent.append(file)
    if not recent:
        return ""
    return (
        f"load generators kept what they measured where Assay was lost in the last day "
        f"({units.counted(len(recent), 'file')}, removed after {_KEPT_DAYS} days): `assay parts`"
    )


def folder_of_parts() -> Path:
    return state_directory().parent / PARTS


def _only_here(deployment: Deployment) -> str | None:
    """An endpoint that no other machine reaches."""
    for endpoint in deployment.endpoints:
        if endpoint.unix is not None:
            return endpoint.unix
        if endpoint.host is not None and is_loopback(endpoint.host_address or endpoint.host):
            return endpoint.host
    return None


def why_not(workload: Workload, run: PlannedRun) -> str | None:
    """Why its clients cannot be distributed; None: they can, or need not."""
    cell, number = run.cell, run.cell.level(GENERATORS)
    if number == 1:
        return None
    asked = units.counted(number, "generator")
    if cell.level(CLIENT_PROGRAM) == NATIVE:
        return f"{asked} cannot drive a system's own client programs, which are started here"
    from assay.provision.engine import ray_fleet

    if cell.driving.fleet and (reason := ray_fleet.why_not(cell.driving.fleet)):
        return reason
    system = registry.system(cell.system.name)
    if not (calls_python(system.driver) or OWN_PROCESSES in capabilities_of(system, cell.system)):
        return (
            f"{cell.system.label} works in the client's own process: {asked} would be as many "
            "systems"
        )
    for planned in drives(workload, run):
        scripts = scripts_of(workload, planned, system.dialect)
        document = document_of(workload, planned, system.dialect, scripts)
        if reason := why_whole(document):
            return f"{asked} cannot be used: {reason}, which must be in one process"
        if (fewest := min(counts(document))) < number:
            clients = units.counted(fewest, "client")
            return f"{asked} cannot share {clients}: expected at least one client for each"
    return None
