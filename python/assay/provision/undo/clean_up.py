"""Takes resources as they are created; removes them in reverse order at the end, also after an
error or a signal.

After a kill the next start removes them (`leftovers`), since each is recorded in the ledger. A
resource that cannot be removed is reported and stays in the ledger for the next start.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from assay.errors import NotRemoved, SystemUnderTestError
from assay.provision.machine.signals import after_teardown
from assay.provision.undo import ledger
from assay.provision.undo.ledger import Entry, HeldEntry
from assay.provision.undo.resources import CannotUndo
from assay.text.units import counted


@dataclass
class Cleared:
    """The resources of a process's entries that were removed, and those that could not be."""

    entries: tuple[str, ...]
    owner_pid: int
    """Of the process that made them."""
    was_killed: bool = True
    """Else it ended by itself, and could not remove them."""
    processes: int = 0
    removed: list[str] = field(default_factory=list)
    remaining: list[str] = field(default_factory=list)
    """Each with the reason."""

    def with_other(self, other: Cleared) -> Cleared:
        """Both, of the same process."""
        return replace(
            self,
            entries=(*self.entries, *other.entries),
            processes=self.processes + other.processes,
            removed=[*self.removed, *other.removed],
            remaining=[*self.remaining, *other.remaining],
        )

    def sentence(self) -> str:
        done = []
        if self.processes:
            done.append(f"ended {counted(self.processes, 'server process', 'server processes')}")
        if self.removed:
            done.append(f"removed {', '.join(self.removed)}")
        if self.remaining:
            done.append(
                f"could not remove {', '.join(self.remaining)}, which may affect the "
                "measurements of this command; the next one tries again"
            )
        else:
            done.append("nothing is left that could affect the measurements of this command")
        how = (
            "was killed and left servers or files behind"
            if self.was_killed
            else "could not remove at its end what it had made"
        )
        return f"process {self.owner_pid} of an earlier assay command {how}: {'; '.join(done)}"


@contextlib.contextmanager
def undone_at_end(identity: str) -> Iterator[HeldEntry]:
    """An entry of the ledger; everything in it is undone at the end of the block. Add each resource
    before it is made.

    Raises `NotRemoved` if a resource cannot be removed; it then stays in the ledger.
    """
    remaining: list[str] = []
    try:
        yield ledger.new_entry(identity)
    finally:
        with after_teardown():
            if held := ledger.held(identity):
                remaining = undo(held.entry).remaining
                if remaining:
                    with contextlib.suppress(SystemUnderTestError):  # it stays as it was
                        held.leave()
                else:
                    held.remove()
        if remaining:
            raise NotRemoved(
                f"could not remove {', '.join(remaining)}",
                hint="the next assay command tries again",
            )


def undo(entry: Entry) -> Cleared:
    """Removes the resources of an entry, the last created first. A failure does not stop the
    others: each checks what depends on it."""
    outcome = Cleared((entry.id,), entry.owner_pid, not entry.is_left)
    for resource in reversed(entry.resources):
        try:
            done = resource.undo(entry.id)
        except CannotUndo as reason:
            outcome.remaining.append(f"{resource}: {reason}")
            continue
        outcome.processes += done.processes
        if done.removed and done.removed not in outcome.removed:
            outcome.removed.append(done.removed)
    return outcome
