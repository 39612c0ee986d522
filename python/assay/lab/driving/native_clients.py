"""Starts one process of the system's own client program for each client, as the paper did, each
with a file of the test's statements; keeps their times, what they used, and whether they were
right.

They take the place of our own clients in a drive step where a run's cell says so.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from assay import registry
from assay.contracts.factors import CLIENT_PROGRAM, PROTOCOL, THREADS
from assay.contracts.observation import NativeClientsReport
from assay.contracts.systems.abilities import NativeClient
from assay.drive.monitoring.sampler import Sampler
from assay.drive.prepare import statements_of
from assay.drive.read_only import may_change_data
from assay.errors import Bug, SystemMissing
from assay.experiment import NATIVE
from assay.lab.driving import cache
from assay.lab.driving.early_end import EarlyEnd
from assay.lab.run_context.context import RunState
from assay.plan import PlannedRun
from assay.plan.drives import PlannedDrive
from assay.provision.confinement import confinement
from assay.provision.limits import client_memory
from assay.text import units
from assay.workload.steps import Step
from assay.workload.values import Script, Workload

if TYPE_CHECKING:
    from assay.drive.native_clients import ClientsReport


def why_not(workload: Workload, run: PlannedRun) -> str | None:
    """Why the clients of the run cannot be native, where they are to be; None: they can."""
    cell = run.cell
    choice, test = cell.system, workload.test(cell.test)
    if cell.level(CLIENT_PROGRAM) != NATIVE:
        return None
    if confinement.is_begun():
        return (
            "a capsule's scripts are not given to a system's own client program, which has "
            "commands of its own for programs and files; --trust allows it"
        )
    if not test.allows_native_client:
        name = workload.full_name(test.name)
        own = "a system's own client program"
        if workload.is_ad_hoc:
            return f"{own} runs tests of workloads that allow it, and no scripts of your own"
        return f"{name} cannot be run by {own}: its workload does not allow it"
    if cell.scripts or cell.feed:
        return "a system's own client program runs the scripts of the test, and no others"
    if not isinstance(registry.system(choice.name), NativeClient):
        return f"{choice.label} has no client program that Assay could start for each client"
    if choice.url is not None:
        return f"{choice.label} is not started by Assay: its own client is not started for it"
    if client_memory.is_limited(choice):
        return f"{choice.label}: its memory is limited in Assay's process, not in client programs"
    if others := _not_followed(run):
        return f"a system's own client program cannot be driven with {', '.join(others)}"
    return None


def _not_followed(run: PlannedRun) -> list[str]:
    """What is asked of the clients beyond running a file."""
    cell = run.cell
    asked = cell.driving.described()
    asked.pop("passes", None)
    if cell.level(PROTOCOL) != "simple":
        asked["protocol"] = cell.level(PROTOCOL)
    if cell.level(THREADS):
        asked["threads"] = str(cell.level(THREADS))
    return [f"{name} = {level}" for name, level in asked.items()]


def take(
    state: RunState,
    step: Step,
    planned: PlannedDrive,
    scripts: Sequence[Script],
    expected: Mapping[str, int | None],
    session_statements: Sequence[str],
) -> None:
    """Keeps their report, under the label of the step. Raises `SystemDied` where the server ends
    meanwhile, or hangs."""
    cell, system = planned.run.cell, state.up().system
    passes = cell.driving.passes
    if not isinstance(system, NativeClient) or not isinstance(passes, int):
        raise Bug(f"{cell.system.label} cannot have native clients")
    counts = list(expected.values())
    rows = None if None in counts or not counts else passes * sum(one or 0 for one in counts)
    sent = statements_of(state.workload, planned, system.dialect)
    from assay.workload.scripts.scripts import as_file

    text = "\n".join([as_file(scripts, sent)] * passes)

    from assay.drive import native_clients

    def run(look: Callable[[int], object] = lambda _ns: None) -> ClientsReport:
        pooled = state.up()
        if pooled.directory is None:
            raise Bug(f"{pooled.deployment.label} has no directory")
        address = pooled.deployment.address
        first = (*address.session_statements, *session_statements)
        return native_clients.observe(
            system.native_client_command(changed(address, session_statements=first)),
            pooled.directory,
            pooled.deployment,
            text,
            cell.clients,
            pooled.why_it_died,
            state.context.events.emit,
            state.context.stop,
            look,
        )

    if may_change_data(state.context.compiled, state.planned):
        state.up().forget()
    cached = cache.prepare(state, run)
    programs = units.counted(cell.clients, "client program")
    state.context.events.stage(f"drive {cell.test_name} in {programs}")
    deployment = state.up().deployment
    with Sampler(deployment, system) as sampler:
        found = run(EarlyEnd(state, step).look)
    state.observed(step.label, replace(_report(found, rows), cache_state=cached))
    # A library works in the client programs, not in this process, which the sampler sees.
    state.context.store.sampled(found.samples if deployment.is_embedded else sampler.samples)


def _report(report: ClientsReport, rows: int | None) -> NativeClientsReport:
    clients = report.clients
    failed = [one for one in clients if one.status != 0]
    wrong = [one for one in clients if one.status == 0 and rows is not None and one.rows != rows]
    digests = {one.digest for one in clients if one.status == 0}
    elapsed_ns = [one.elapsed_ns for one in clients]
    return NativeClientsReport(
        program=clients[0].program,
        clients=len(clients),
        elapsed_ns=report.elapsed_ns,
        fastest_ns=min(elapsed_ns),
        median_ns=int(statistics.median(elapsed_ns)),
        rows=clients[0].rows,
        expected_rows=rows,
        failed=len(failed),
        wrong=len(wrong),
        outputs=len(digests),
        first_error=failed[0].error if failed else "",
        threads=_most(one.threads for one in clients),
        virtual_bytes=_most(one.virtual_bytes for one in clients),
        resident_bytes=_most(one.resident_bytes for one in clients),
        cpu_ns=sum(one.cpu_ns for one in clients),
        program_version=_version(report.program),
    )


def _most(counts: Iterable[int | None]) -> int | None:
    """Of those that have one."""
    return max((one for one in counts if one is not None), default=None)


def _version(program: Path) -> str:
    """The first line that it says of it; empty where it says nothing."""
    try:
        from assay.systems.program_version import said_version

        return next(iter(said_version(program).splitlines()), "")
    except SystemMissing:
        return ""
