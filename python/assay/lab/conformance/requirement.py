"""What a system must do that has certain capabilities and abilities, and what came of trying it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from assay.contracts.capabilities import missing
from assay.contracts.dialects.protocol import LongStatement, SingleRows
from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.abilities import (
    BufferSize,
    CrashReport,
    Restartable,
    Sampled,
    Sized,
    capabilities_of,
)
from assay.contracts.systems.protocol import System
from assay.lab.conformance.subject import Subject

_WITHOUT: Mapping[type, str] = {
    BufferSize: "does not report the size of its buffer",
    CrashReport: "does not report that it has ended",
    Restartable: "cannot be stopped and started again on its data",
    Sampled: "has no processes that can be observed",
    Sized: "does not report the size of its data",
    LongStatement: "has no statement that takes as long as is wanted",
    SingleRows: "has no statements for single rows",
}
"""What is said of a system without an ability."""


class Requirement(Struct, frozen=True):
    """One sentence about every system that has what it needs, and the function that tries it."""

    name: str
    """The sentence."""
    capabilities: tuple[str, ...]
    """Names out of `assay.contracts.capabilities.CAPABILITIES`."""
    abilities: tuple[type, ...]
    """Protocols of `assay.contracts.systems.abilities`, of which the system must have all."""
    spellings: tuple[type, ...]
    """Protocols of `assay.contracts.dialects.protocol`, of which the dialect must have all."""
    isolation_level: str
    """Of `assay.contracts.dialects.protocol.ISOLATION_LEVELS`, one that the dialect must have;
    empty: any."""
    needs_url: bool
    """Whether it is about a server by URL."""
    attempt: Callable[[Subject], None]
    """Returns where the requirement is met. Raises `NotMet`, `CannotBeTried`, or whatever the
    system raises."""

    def why_not_applicable(self, system: System, choice: SystemChoice) -> str | None:
        """Why it is no requirement of this system as it is chosen; None: it is one. Starts
        nothing."""
        if self.needs_url and choice.url is None:
            return "tried only on a server by URL: a private one asks for no password"
        had = capabilities_of(system, choice)
        if lacking := missing(self.capabilities, system.name, had):
            return lacking
        if "transactions" in self.capabilities and not system.dialect.begin():
            return f"{system.name} has no statement that begins a transaction"
        for ability in self.abilities:
            if not isinstance(system, ability):
                return f"{system.name} {_WITHOUT[ability]}"
        for spelling in self.spellings:
            if not isinstance(system.dialect, spelling):
                return f"{system.name} {_WITHOUT[spelling]}"
        levels = system.dialect.isolation_levels
        if self.isolation_level and self.isolation_level not in levels:
            return f"the isolation levels of {system.name} are: {', '.join(levels)}"
        return None


class Finding(Struct, frozen=True):
    """What came of a requirement on a system."""

    requirement: Requirement
    result: Literal["met", "not met", "not applicable"]
    reason: str = ""
    """Why it is not met, or not applicable."""


Attempt = Callable[["Subject"], None]


def requirement(
    *capabilities: str,
    abilities: tuple[type, ...] = (),
    spellings: tuple[type, ...] = (),
    isolation_level: str = "",
    needs_url: bool = False,
) -> Callable[[Attempt], Requirement]:
    """Makes a function a requirement; its name is the sentence."""

    def made(attempt: Attempt) -> Requirement:
        name = attempt.__name__.replace("_", " ")
        return Requirement(
            name, capabilities, abilities, spellings, isolation_level, needs_url, attempt
        )

    return made
