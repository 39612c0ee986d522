"""Takes an `Experiment`; gives a `Plan`: every run, its seed, its order. Touches nothing outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.experiment import Experiment, Scalar, StorageChoice, SystemChoice


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

    fingerprint: str = ""
    """SHA-256 of all of the above in canonical JSON: equal cells have equal fingerprints."""


@dataclass(frozen=True)
class PlannedRun:
    """One execution of one cell."""

    cell: Cell
    repetition: int
    """1-based."""
    seed: int
    """Derived from (experiment seed, cell, repetition): never shared, always the same."""
    position: int
    """0-based place in the order of execution."""


@dataclass(frozen=True)
class Plan:
    experiment: Experiment
    runs: tuple[PlannedRun, ...]

    def connections_needed(self, system: SystemChoice) -> int:
        """The most clients any run asks of this system."""
        return max((run.cell.clients for run in self.runs if run.cell.system == system), default=1)
