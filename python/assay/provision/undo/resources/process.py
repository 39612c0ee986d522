"""Server processes: every process that carries a tag in its environment, and their descendants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from assay.provision.machine import process_tags
from assay.provision.machine.identity import ProcessIdentity
from assay.provision.undo.resources.resource import CannotUndo, Resource, Undone


@dataclass(frozen=True)
class TaggedProcesses(Resource):
    """Noted before the first one is started: the tag is known then, a process number is not."""

    kind = "process"
    leader: ProcessIdentity | None = None
    """A server's first process, once it runs: one that has overwritten its environment is found by
    its number and start time."""

    def undo(self, identity: str) -> Undone:
        killed = process_tags.kill(identity, self.leader)
        # Where it found none, all processes have just been looked at.
        if killed and (left := process_tags.processes_of(identity, self.leader)):
            raise CannotUndo(f"{', '.join(str(process.pid) for process in left)} cannot be killed")
        return Undone(processes=killed)

    @classmethod
    def of_document(cls, document: Any) -> Self:
        leader = document["leader"]
        return cls(None if leader is None else ProcessIdentity(**leader))

    def __str__(self) -> str:
        return "processes" if self.leader is None else f"process {self.leader.pid}"
