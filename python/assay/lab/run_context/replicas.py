"""Takes a run whose clients read at replicas; refuses it before its first step where there are
none, and where they would write there."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from assay.contracts.deployment import Deployment
from assay.contracts.driving import READ_ANY, READ_REPLICA, read_of
from assay.contracts.factors import CLIENT_PROGRAM
from assay.drive.read_only import session_statements
from assay.errors import RefusedRun
from assay.experiment import NATIVE
from assay.lab.run_context.context import RunState
from assay.plan import PlannedRun
from assay.plan.drives import PlannedDrive, drives
from assay.text.mentions import Mention, phrase
from assay.workload.values import Workload

_NAME_THEM = phrase(
    "name {}, or {--read any}",
    "the hosts of its cluster in the URL: SCHEME://HOST,HOST,HOST/DATABASE",
)


class _Readers(Struct, frozen=True):
    """Clients that read elsewhere than at the primary."""

    drive: PlannedDrive
    name: str
    """Of their group; empty: all clients of the step."""
    read: str
    scripts: tuple[str, ...]
    """Those that they send there."""
    are_all: bool
    """Whether these are all scripts of the group."""

    @property
    def described(self) -> str:
        who = f"the clients of group {self.name}" if self.name else "the clients"
        if self.are_all:
            return f'{who} (read = "{self.read}")'
        return f"{who} with {', '.join(self.scripts)} ({self.read})"


def why_not(workload: Workload, run: PlannedRun) -> str | None:
    """Why its clients cannot read where they are to, as far as that is known from the plan; None:
    they may. A server by URL says itself what it is."""
    if run.cell.system.url is not None:
        return None
    for readers in _readers(workload, run):
        if readers.read == READ_REPLICA:
            return f"{_has_none(run.cell.system.label, readers)}; {_NAME_THEM}"
    return None


def refuse_reads(state: RunState) -> None:
    """Raises `RefusedRun` with what the run would do there, and the fix: a server that has no
    replica, or takes no writes, is as it was named."""
    if state.pooled is None:
        return
    deployment = state.up().deployment
    for readers in _readers(state.workload, state.planned):
        _insist_on_replicas(deployment, readers)
        _refuse_native_clients(readers)
        _refuse_writes(state, deployment, readers)


def _readers(workload: Workload, run: PlannedRun) -> Iterator[_Readers]:
    for drive in drives(workload, run):
        for group in drive.groups:
            yield from _readers_of(drive, group.name, group.driving.read, group.scripts)
        if not drive.groups:
            yield from _readers_of(drive, "", drive.run.cell.driving.read, drive.scripts)


def _readers_of(
    drive: PlannedDrive, group: str, read: str, scripts: tuple[str, ...]
) -> Iterator[_Readers]:
    for word in (READ_REPLICA, READ_ANY):
        sent = tuple(script for script in scripts if read_of(read, script) == word)
        # A feed of statements has no script with a name.
        if sent or read == word:
            yield _Readers(drive, group, word, sent, are_all=len(sent) == len(scripts))


def _insist_on_replicas(deployment: Deployment, readers: _Readers) -> None:
    if readers.read != READ_REPLICA:
        return
    known = [one.role for one in deployment.members]
    if deployment.role is not None:
        known.append(deployment.role)
    if not any(role.is_replica for role in known):
        raise RefusedRun(_has_none(deployment.label, readers), hint=_NAME_THEM)


def _has_none(label: str, readers: _Readers) -> str:
    return f"{label} has no replica, at which {readers.described} would read"


def _refuse_native_clients(readers: _Readers) -> None:
    if readers.drive.run.cell.level(CLIENT_PROGRAM) == NATIVE:
        raise RefusedRun(
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
        raise RefusedRun(
            f"{readers.described} would write at replicas, which take no writes: {found[0]}",
            hint=phrase(
                "send there only the scripts that read: {} or, in the workload, "
                "{} (SCRIPT, each that reads)",
                Mention("read", "SCRIPT=replica"),
                'read = { SCRIPT = "replica" }',
            ),
        )
