"""Takes a run whose clients read at replicas; refuses it before its first step where there are
none, and where they would write there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.contracts.deployment import Deployment
from assay.contracts.driving import READ_PRIMARY, READ_REPLICA
from assay.contracts.factors import CLIENT_PROGRAM
from assay.drive.read_only import session_statements
from assay.errors import SystemRefused
from assay.experiment import NATIVE
from assay.lab.run_context.context import RunState
from assay.plan.drives import PlannedDrive, drives
from assay.text.mentions import phrase

_SEVERAL = "the hosts of its cluster in the URL: SCHEME://HOST,HOST,HOST/DATABASE"


@dataclass(frozen=True)
class _Readers:
    """Clients that read elsewhere than at the primary."""

    drive: PlannedDrive
    name: str
    """Of their group; empty: all clients of the step."""
    read: str
    scripts: tuple[str, ...]

    @property
    def described(self) -> str:
        who = f"the clients of group {self.name}" if self.name else "the clients"
        return f'{who} (read = "{self.read}")'


def refuse_reads(state: RunState) -> None:
    """Raises `SystemRefused` with what the run would do there, and the fix."""
    if state.pooled is None:
        return
    deployment = state.up().deployment
    for readers in _readers(state):
        _insist_on_replicas(deployment, readers)
        _refuse_native_clients(readers)
        _refuse_writes(state, deployment, readers)


def _readers(state: RunState) -> Iterator[_Readers]:
    for drive in drives(state.workload, state.planned):
        for group in drive.groups:
            if group.driving.read != READ_PRIMARY:
                yield _Readers(drive, group.name, group.driving.read, group.scripts)
        read = drive.run.cell.driving.read
        if not drive.groups and read != READ_PRIMARY:
            yield _Readers(drive, "", read, drive.scripts)


def _insist_on_replicas(deployment: Deployment, readers: _Readers) -> None:
    if readers.read != READ_REPLICA:
        return
    known = [one.role for one in deployment.members]
    if deployment.role is not None:
        known.append(deployment.role)
    if not any(role.is_replica for role in known):
        raise SystemRefused(
            f"{deployment.label} has no replica, at which {readers.described} would read",
            hint=phrase("name {}, or {--read any}", _SEVERAL),
        )


def _refuse_native_clients(readers: _Readers) -> None:
    if readers.drive.run.cell.level(CLIENT_PROGRAM) == NATIVE:
        raise SystemRefused(
            f"the system's own client programs work at one server, and {readers.described} at "
            "others",
            hint=phrase("leave {--client-program} out, or name one replica as the only host"),
        )


def _refuse_writes(state: RunState, deployment: Deployment, readers: _Readers) -> None:
    dialect = state.up().system.dialect
    if not deployment.members or session_statements(state.workload, state.planned, dialect):
        return
    writing = state.context.compiled.writing_types(readers.drive, dialect)
    found = [name for name in readers.scripts if name in writing]
    if found:
        raise SystemRefused(
            f"{readers.described} would write at replicas, which take no writes: {found[0]}",
            hint="of the scripts that write make a group of its own, which works at the primary: "
            '[[tests.NAME.steps.groups]], and read = "replica" in that of the others',
        )
