"""Takes what is recorded of a modelled disk; returns how its requests were timed before the runs,
and where that was not the time of its model, with the probable cause."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from assay.contracts.storage_facts import StorageFacts
from assay.text import units

_READ = "read"
NEAR = 0.05
"""Share of the modelled time by which the measured one may differ."""
_PATHS = 2
"""Times the I/O path overhead that it explains."""


class Calibrated(msgspec.Struct, frozen=True):
    """The mean time of one kind of request."""

    depth: int
    path_cost_ns: int
    """Of a request that the disk answers at once: the I/O path overhead."""
    modelled_ns: int
    measured_ns: int
    operation: str = _READ
    """Earlier versions measured reads alone."""

    @property
    def is_kept(self) -> bool:
        """Whether it took what the model says. What a write cache takes is less than the overhead,
        and has no such limit."""
        differs_ns = abs(self.measured_ns - self.modelled_ns)
        return self.operation != _READ or differs_ns <= NEAR * self.modelled_ns

    @property
    def is_by_the_path(self) -> bool:
        """Whether the I/O path overhead, which is a mean as well, explains the difference."""
        beyond_ns = self.measured_ns - self.modelled_ns
        return 0 < beyond_ns <= _PATHS * self.path_cost_ns


def calibrated(storage: StorageFacts) -> tuple[Calibrated, ...]:
    """Empty where the storage is no modelled disk."""
    return msgspec.convert(storage.facts.get("path_cost", ()), tuple[Calibrated, ...])


def missed(storage: StorageFacts) -> Iterator[str]:
    """A sentence for each depth at which the model was not kept."""
    for found in calibrated(storage):
        if found.is_kept:
            continue
        path = units.latency(found.path_cost_ns)
        why = (
            f"the I/O path overhead is {path}"
            if found.is_by_the_path
            else f"more than the I/O path overhead of {path} explains; was the machine busy?"
        )
        yield (
            f"{storage.name} at depth {found.depth}: {units.latency(found.measured_ns)} measured, "
            f"{units.latency(found.modelled_ns)} by its model; {why}"
        )
