"""A plan as frozen values: cells, and their runs in order; and the runs that the patterns of
``--only`` choose."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from msgspec import to_builtins

from assay.contracts import factors
from assay.contracts.documents import convert, with_hidden
from assay.contracts.experiment import ClientWork
from assay.contracts.factors import Factor, Levels, Part
from assay.errors import ArgumentError
from assay.experiment import Driving, Experiment, Scalar, StorageChoice, SystemChoice, shown_scripts
from assay.text.phrases import Mention, phrase


@dataclass(frozen=True, slots=True)
class Cell(ClientWork):
    """One combination of levels."""

    test: str
    system: SystemChoice
    storage: StorageChoice
    clients: int
    parameters: Mapping[str, Scalar]
    levels: Levels
    """Of each factor of `assay.contracts.factors.OF_LEVELS`, in its canonical form."""

    driving: Driving = field(default_factory=Driving)
    """As numbers only: names of parameters have been replaced by their values."""
    group_clients: Mapping[str, int] = field(default_factory=dict)
    """Clients of each group; empty: all are as declared by the workload."""
    fingerprint: str = ""
    """Equal cells have equal fingerprints (`assay.plan.fingerprint`)."""

    behind = (
        ("parameters", ("feed", "scripts")),
        ("group_clients", ("feed_content", "workload_content")),
    )

    @classmethod
    def of_record(cls, document: Any, name: str) -> Self:
        """As it was planned; ``name`` stands for the document in messages. Raises `ShapeError`.
        A level of a factor of another version is one of its levels too."""
        plain = with_hidden(document)
        if not isinstance(plain, dict):
            return convert(plain, cls, name)
        known = {one.name for one in fields(cls)}
        levels = {
            key: level
            for key, level in plain.items()
            if key in factors.OF_LEVELS or (key not in known and isinstance(level, Scalar))
        }
        return convert({**plain, "levels": {**factors.levels(levels), **levels}}, cls, name)

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
        document = self.in_order(to_builtins(self))  # its classes have slots: else no defaults
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
    """Of all that determines its result (`assay.plan.fingerprint`); empty: not known."""
    in_place_of: int | None = None
    """The repetition of its cell that it repeats, with the same seed, since other programs
    disturbed that one (`assay.lab.repetitions`); None: it repeats none."""

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


Patterns = Sequence[Sequence[str]]
"""Of each ``--only``, its patterns; none: all runs."""


def chosen_plan(plan: Plan, patterns: Patterns) -> tuple[PlannedRun, ...]:
    """Raises `ArgumentError` where no run is left."""
    runs = plan.runs
    for one_of in patterns:
        fits = re.compile("|".join(map(_expression, one_of)), re.IGNORECASE)
        left = tuple(
            run for run in runs if any(fits.fullmatch(_typed(name)) for name in _names(run.cell))
        )
        known = list(dict.fromkeys(name for run in runs for name in _names(run.cell)))
        for pattern in one_of:
            # Each of them: a misspelt one would silently leave runs out.
            if not any(re.fullmatch(_expression(pattern), _typed(name), re.I) for name in known):
                raise ArgumentError(
                    phrase(
                        "{}: no run has a test, a system or a storage of this name",
                        Mention("only", pattern),
                    ),
                    hint=f"known: {', '.join(known)}",
                )
        runs = left
    return runs


def either_of_patterns(a: Patterns, b: Patterns) -> Patterns:
    """Those that choose what ``a`` or ``b`` chooses."""
    return tuple(tuple(dict.fromkeys((*one, *other))) for one in a for other in b)


def patterns_of_use(plan: Plan, patterns: Patterns) -> Patterns:
    """Those of which each fits a run, as may not be so of another plan than theirs."""
    found: Patterns = ()
    for one_of in patterns:
        with suppress(ArgumentError):
            chosen_plan(plan, (*found, one_of))
            found = (*found, one_of)
    return found


def narrowed_plan(plan: Plan, patterns: Patterns) -> Plan:
    """A plan of these runs alone."""
    runs = chosen_plan(plan, patterns)
    return replace(plan, runs=tuple(replace(run, position=place) for place, run in enumerate(runs)))


def _names(cell: Cell) -> list[str]:
    system = [cell.system_label, cell.system.label, *cell.system.names]
    # A storage is chosen by the name that a file gives it, and by that with the note behind it.
    storage = [cell.storage_name, cell.storage_name.partition(" (")[0]]
    return [name for name in dict.fromkeys([cell.test_name, *system, *storage]) if name]


def _expression(pattern: str) -> str:
    return re.escape(_typed(pattern)).replace(r"\*", ".*")


def _typed(name: str) -> str:
    """With ``us`` for the ``µs`` that labels have, and few keyboards."""
    return name.replace("µs", "us").replace("μs", "us")
