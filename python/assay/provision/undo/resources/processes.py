"""Server processes that carry a tag, and control groups, which hold processes and their limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from assay.provision.machine import process_table
from assay.provision.machine.process_table import ProcessIdentity
from assay.provision.undo.resources.resource import NOTHING, CannotUndo, Resource, Undone, retry


@dataclass(frozen=True)
class TaggedProcesses(Resource):
    """Noted before the first one is started: the tag is known then, a process number is not."""

    kind = "process"
    leader: ProcessIdentity | None = None
    """A server's first process, once it runs: one that has overwritten its environment is found by
    its number and start time."""

    def undo(self, identity: str) -> Undone:
        killed = process_table.kill_tagged(identity, self.leader)
        # Where it found none, all processes have just been looked at.
        if killed and (left := process_table.tagged_processes(identity, self.leader)):
            raise CannotUndo(f"{', '.join(str(process.pid) for process in left)} cannot be killed")
        return Undone(processes=killed)

    @classmethod
    def of_document(cls, document: Any) -> Self:
        leader = document["leader"]
        return cls(None if leader is None else ProcessIdentity(**leader))

    def __str__(self) -> str:
        return "processes" if self.leader is None else f"process {self.leader.pid}"


_TIMEOUT_S = 10.0
_MEMBERS = "cgroup.procs"


@dataclass(frozen=True)
class ControlGroup(Resource):
    """Its name ends in the mark. Its processes are servers started here, which are ended as such:
    they are noted after the group, and so are undone before it."""

    kind = "control group"
    path: str

    def undo(self, identity: str) -> Undone:
        path = Path(self.path)
        if not path.name.endswith(identity) or path.is_symlink():
            raise CannotUndo("it is not a control group that Assay made")
        if not path.exists():
            return NOTHING
        if not (path / _MEMBERS).exists():
            raise CannotUndo("it is not a control group")
        retry(lambda: _remove(path), _TIMEOUT_S)
        return Undone(self.path)

    def __str__(self) -> str:
        return self.path


def _remove(path: Path) -> str | None:
    """Groups within it first. Only the kernel can remove the files of a group, with the group."""
    try:
        groups = sorted(path.rglob("*/"), reverse=True)
        for group in (*[path_within for path_within in groups if path_within.is_dir()], path):
            group.rmdir()
    except FileNotFoundError:
        return None if not path.exists() else "it is being changed"
    except OSError as error:
        held = _members(path)
        return f"it still holds process {held[0]}" if held else str(error)
    return None


def _members(path: Path) -> list[str]:
    try:
        return (path / _MEMBERS).read_text().split()
    except OSError:
        return []
