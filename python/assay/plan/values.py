"""A plan as frozen values: cells, and the runs of them in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.experiment import Driving, Experiment, Scalar, ScriptFile, StorageChoice, SystemChoice


@dataclass(frozen=True)
class Cell:
    """One combination of levels."""

    workload: str
    test: str
    system: SystemChoice
    storage: StorageChoice
    clients: int
    parameters: Mapping[str, Scalar]
    protocol: str
    threads: int

    feed: str | None = None
    """A plain file of statements in place of the test's scripts."""
    scripts: tuple[ScriptFile, ...] = ()
    """Script files in place of the test's own."""
    driving: Driving = field(default_factory=Driving)
    """Of numbers alone: no name of a parameter is left in it."""
    group_clients: Mapping[str, int] = field(default_factory=dict)
    """Clients of each group; empty: all are as the workload declares them."""
    fingerprint: str = ""
    """Equal cells have equal fingerprints (`assay.plan.fingerprint`)."""

    @property
    def storage_name(self) -> str:
        """Empty for a server by URL: what it stores its data on is not seen."""
        return "" if self.system.url else self.storage.name


@dataclass(frozen=True)
class PlannedRun:
    """One execution of one cell."""

    cell: Cell
    repetition: int
    """1-based."""
    seed: int
    """Derived from the experiment's seed, the test, its client count and parameters, and the
    repetition: always the same, also on every system and storage, so that they do the same work."""
    position: int
    """0-based place in the order of execution."""
    most_clients: int = 0
    """At once, in any of its steps; at least those of its cell."""


@dataclass(frozen=True)
class Plan:
    experiment: Experiment
    runs: tuple[PlannedRun, ...]

    def connections_needed(self, system: SystemChoice) -> int:
        """The most clients any run asks of this system."""
        clients = (
            max(run.most_clients, run.cell.clients)
            for run in self.runs
            if run.cell.system == system
        )
        return max(clients, default=1)
