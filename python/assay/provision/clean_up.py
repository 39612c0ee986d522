"""Takes what is made, as it is made; undoes it in reverse order at the end, also after an error or
a signal.

After success, failure and Ctrl-C here; after a kill at the next start (`leftovers`), which finds in
the ledger what was noted. What cannot be undone stays in the ledger for the next time, and is said.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.errors import SystemUnderTestError
from assay.provision import ledger
from assay.provision.ledger import Entry, HeldEntry
from assay.provision.resources import CannotUndo
from assay.provision.signals import after_teardown


@dataclass
class Cleared:
    """What was there of one entry, and what could not be removed."""

    entry: str
    processes: int = 0
    removed: list[str] = field(default_factory=list)
    remaining: list[str] = field(default_factory=list)
    """Each with the reason."""

    def sentence(self) -> str:
        words = "an earlier run was killed"
        if self.processes:
            words += f"; ended {self.processes} of its server processes"
        if self.removed:
            words += f"; removed {', '.join(self.removed)}"
        if self.remaining:
            words += f"; could not remove {', '.join(self.remaining)}"
        return words


@contextlib.contextmanager
def undone_at_end(identity: str) -> Iterator[HeldEntry]:
    """An entry of the ledger; everything in it is undone at the end of the block. Add each resource
    before it is made.

    Raises `SystemUnderTestError` if something cannot be undone; it then stays noted.
    """
    held = ledger.new_entry(identity)
    try:
        yield held
    finally:
        with after_teardown():
            outcome = undo(held.entry)
            if not outcome.remaining:
                held.remove()
        if outcome.remaining:
            raise SystemUnderTestError(
                f"could not remove {', '.join(outcome.remaining)}",
                hint="the next start of assay tries again",
            )


def undo(entry: Entry) -> Cleared:
    """Undoes the resources of an entry, the last made first. One that cannot be undone does not
    keep the others: each knows what must not lie on it."""
    outcome = Cleared(entry.id)
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
