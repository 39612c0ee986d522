"""What a system must do that has certain capabilities and abilities, and what came of trying it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assay.capabilities import missing
from assay.experiment.values import SystemChoice
from assay.systems.abilities import capabilities_of
from assay.systems.protocol import System

if TYPE_CHECKING:
    from assay.conformance.subject import Subject


class NotMet(Exception):
    """The system does something else than the requirement says: what was expected, what was
    found."""


class CannotBeTried(Exception):
    """This deployment has not what the requirement is about (a server by URL, without a
    restart)."""


@dataclass(frozen=True)
class Requirement:
    """One sentence about every system that has what it needs, and the function that tries it."""

    name: str
    """The sentence."""
    capabilities: tuple[str, ...]
    """Names out of `assay.capabilities.CAPABILITIES`."""
    abilities: tuple[type, ...]
    """Protocols of `assay.systems.abilities`, of which the system must have all."""
    spellings: tuple[type, ...]
    """Protocols of `assay.dialects.protocol`, of which the dialect must have all."""
    isolation_level: str
    """Of `assay.dialects.protocol.ISOLATION_LEVELS`, one that the dialect must have; empty: any."""
    attempt: Callable[[Subject], None]
    """Returns where the requirement is met. Raises `NotMet`, `CannotBeTried`, or whatever the
    system raises."""

    def why_refused(self, system: System, choice: SystemChoice) -> str | None:
        """Why it is no requirement of this system as it is chosen; None: it is one. Starts
        nothing."""
        had = capabilities_of(system, choice)
        if lacking := missing(self.capabilities, system.name, had):
            return lacking
        for ability in self.abilities:
            if not isinstance(system, ability):
                return f"{system.name} has not the ability {ability.__name__}"
        for spelling in self.spellings:
            if not isinstance(system.dialect, spelling):
                return f"the dialect {system.dialect.name} has no {spelling.__name__}"
        levels = system.dialect.isolation_levels
        if self.isolation_level and self.isolation_level not in levels:
            return f"the isolation levels of {system.name} are: {', '.join(levels)}"
        return None


@dataclass(frozen=True)
class Finding:
    """What came of a requirement on a system."""

    requirement: Requirement
    result: Literal["met", "not met", "refused"]
    reason: str = ""
    """Why it is not met, or was refused."""


Attempt = Callable[["Subject"], None]


def requirement(
    *capabilities: str,
    abilities: tuple[type, ...] = (),
    spellings: tuple[type, ...] = (),
    isolation_level: str = "",
) -> Callable[[Attempt], Requirement]:
    """Makes a function a requirement; its name is the sentence."""

    def made(attempt: Attempt) -> Requirement:
        name = attempt.__name__.replace("_", " ")
        return Requirement(name, capabilities, abilities, spellings, isolation_level, attempt)

    return made
