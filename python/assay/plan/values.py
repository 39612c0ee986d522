"""A plan as frozen values: cells, and their runs in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from msgspec import structs

from assay.contracts.factors import Factor, Levels, Part
from assay.experiment import (
    Driving,
    Experiment,
    Scalar,
    ScriptFile,
    StorageChoice,
    SystemChoice,
    shown_scripts,
)


@dataclass(frozen=True)
class Cell:
    """One combination of levels."""

    workload: str
    test: str
    system: SystemChoice
    storage: StorageChoice
    clients: int
    parameters: Mapping[str, Scalar]
    levels: Levels
    """Of each factor of `assay.contracts.factors.OF_LEVELS`, in its canonical form."""

    feed: str | None = None
    """A plain file of statements in place of the test's scripts."""
    scripts: tuple[ScriptFile, ...] = ()
    """Script files in place of the test's own."""
    driving: Driving = field(default_factory=Driving)
    """As numbers only: names of parameters have been replaced by their values."""
    group_clients: Mapping[str, int] = field(default_factory=dict)
    """Clients of each group; empty: all are as declared by the workload."""
    feed_content: str = ""
    """Digest of the fed file; empty: not known, or nothing is fed."""
    workload_content: str = ""
    """Digest of a workload that is named by a path; empty: it is named by a name of the registry,
    or an earlier Assay did not say."""
    fingerprint: str = ""
    """Equal cells have equal fingerprints (`assay.plan.fingerprint`)."""

    def level(self, factor: Factor) -> Any:
        """Its value of a factor, in whichever part of it that is."""
        match factor.part:
            case Part.LEVELS:
                return self.levels.get(factor.name, factor.default)
            case Part.MACHINE:
                return getattr(self.system.machine, factor.column)
            case Part.DRIVING:
                return getattr(self.driving, factor.column)
        return getattr(self, factor.column)

    def for_record(self) -> dict[str, Any]:
        """As it is kept, and identified: its levels beside its parts."""
        document = {**asdict(self), "driving": structs.asdict(self.driving)}
        return {**document.pop("levels"), **document}

    @property
    def test_name(self) -> str:
        """The test, or the scripts that are run in its place."""
        return shown_scripts(self.scripts) or self.test

    @property
    def storage_name(self) -> str:
        """Empty for a server by URL without `storage=`."""
        is_not_known = self.system.url and not self.system.stands_on
        return "" if is_not_known else self.storage.name

    @property
    def system_label(self) -> str:
        """As reports name its system, beside its storage."""
        return self.system.label_on_storage


@dataclass(frozen=True)
class PlannedRun:
    """One execution of one cell."""

    cell: Cell
    repetition: int
    """1-based."""
    seed: int
    """Derived from the experiment's seed, the test, its client count and parameters, and the
    repetition: the same on every system and storage, so that they do the same work."""
    position: int
    """0-based place in the order of execution."""
    most_clients: int = 0
    """The most clients at once in any of its steps; at least those of its cell."""
    drives_s: tuple[float | None, ...] = ()
    """How long each of its drive steps works by the clock; None: counts end the step."""
    content: str = ""
    """Fingerprint of all that determines its result (`assay.plan.content`); empty: not known."""
    in_place_of: int | None = None
    """The repetition of its cell that it repeats, with the same seed, since other programs
    disturbed that one (`assay.lab.added_runs`); None: it repeats none."""

    @property
    def of_repetition(self) -> int:
        """Its repetition, or the one in whose place it is measured."""
        return self.repetition if self.in_place_of is None else self.in_place_of

    @property
    def timed_s(self) -> float:
        """Seconds of all drive steps that end by the clock."""
        return sum(step_s or 0.0 for step_s in self.drives_s)

    @property
    def ends_by_time(self) -> bool:
        """Whether it has drive steps, and all of them end by the clock."""
        return bool(self.drives_s) and None not in self.drives_s


@dataclass(frozen=True)
class Plan:
    experiment: Experiment
    runs: tuple[PlannedRun, ...]

    def connections_needed(self, system: SystemChoice) -> int:
        """The most clients that any run needs on this system."""
        clients = (
            max(run.most_clients, run.cell.clients)
            for run in self.runs
            if run.cell.system == system
        )
        return max(clients, default=1)
