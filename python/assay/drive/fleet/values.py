"""What a drive of several programs is made of: the part of each, on which terms several machines
drive, and what is known of each part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from assay.contracts.driving import END, OnLost
from assay.contracts.engine.drive import DriveDocument
from assay.contracts.observation import Observation
from assay.drive.fleet import clocks
from assay.drive.fleet.clocks import Clock, ClockOffset

if TYPE_CHECKING:
    from assay.drive.fleet.losses import GeneratorAccount


class Terms(Struct, frozen=True):
    """On which several machines drive."""

    lease_s: float = 5.0
    """Where a generator hears nothing for so long, its clients end."""
    silence_s: float = 3.0
    """A generator that says nothing for so long is lost."""
    on_lost: OnLost = END
    run: int = 0
    """Its number in the record."""
    kept_in: Path | None = None
    """The folder, on its own machine, in which a generator keeps what it measured where the process
    that coordinates is lost; None: it keeps nothing."""


class PartOfDrive(Struct, frozen=True):
    machine: int
    """Its place in the fleet's machines."""
    document: DriveDocument


class DrivenPart(Struct):
    """What is known of it."""

    account: GeneratorAccount
    observation: Observation | None = None
    """None: its machine was lost."""
    lost_after_s: float | None = None
    unknown: int = 0
    before: ClockOffset = clocks.SAME_CLOCK
    after: ClockOffset | None = None
    clock: Clock = field(default_factory=Clock)
    load_1min: float | None = None
