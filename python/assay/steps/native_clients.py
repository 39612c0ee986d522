"""Starts one process of the system's own client program for each client, as the paper did, each
with a file of the test's statements; keeps their times, what they used, and whether they were
right."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import ClassVar

from assay import registry
from assay.drive import native_clients
from assay.drive.native_clients import Found
from assay.errors import Bug
from assay.observation import NativeClientsReport
from assay.plan import PlannedRun
from assay.steps.context import RunState
from assay.steps.drive import expected_rows
from assay.systems.abilities import NativeClient
from assay.workload.scripts import as_file
from assay.workload.steps import Step


@dataclass(frozen=True)
class NativeClients(Step):
    """A process of the system's own client program for each client."""

    do: ClassVar[str] = "native_clients"
    has_clients: ClassVar[bool] = True

    def why_refused(self, run: PlannedRun) -> str | None:
        choice = run.cell.system
        if not isinstance(registry.system(choice.name), NativeClient):
            return f"{choice.label} has no client program that Assay could start for each client"
        if choice.url is not None:
            return f"{choice.label} is not started by Assay: its own client is not started for it"
        return None

    def take(self, state: RunState) -> None:
        """Raises `SystemDied` where the server ends meanwhile."""
        pooled, cell, test = state.up(), state.planned.cell, state.test
        system, directory = pooled.system, pooled.directory
        if directory is None or not isinstance(system, NativeClient):
            raise Bug(f"{pooled.deployment.label} has no client program")
        scripts = [state.workload.script_for(name, system.dialect) for name in test.scripts]
        expected = list(expected_rows(state.workload, state.request, scripts).values())
        rows = None if None in expected or not expected else sum(one or 0 for one in expected)
        state.context.progress.stage(f"start {cell.clients} client programs")
        pooled.forget()
        found = native_clients.observe(
            system.native_client_command(pooled.deployment.address),
            directory,
            as_file(scripts),
            cell.clients,
            pooled.why_it_died,
        )
        state.observed(self.label, _report(found, rows))


def _report(found: Found, rows: int | None) -> NativeClientsReport:
    ended = found.ended
    failed = [one for one in ended if one.status != 0]
    wrong = [one for one in ended if one.status == 0 and rows is not None and one.rows != rows]
    digests = {one.digest for one in ended if one.status == 0}
    seconds = [one.elapsed_ns for one in ended]
    return NativeClientsReport(
        program=ended[0].program,
        clients=len(ended),
        elapsed_ns=found.elapsed_ns,
        fastest_ns=min(seconds),
        median_ns=int(statistics.median(seconds)),
        rows=ended[0].rows,
        expected_rows=rows,
        failed=len(failed),
        wrong=len(wrong),
        outputs=len(digests),
        first_error=failed[0].error if failed else "",
        threads=max(one.threads for one in ended),
        virtual_bytes=max(one.virtual_bytes for one in ended),
        resident_bytes=max(one.resident_bytes for one in ended),
        cpu_ns=found.cpu_ns,
    )
