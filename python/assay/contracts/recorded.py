"""The machine, the program and the command of an experiment, as a record keeps them, by keys.

A key may be missing: an earlier Assay kept fewer. Further keys are kept, and only shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

MachineFact = str | int | float | None
OptionValue = str | int | float | bool | Sequence[str]
Command = Mapping[str, OptionValue | Mapping[str, OptionValue]]
"""A command line, by which the experiments of an experiment file are found again: ``file``,
``folder``, ``only``, ``ways`` (how data are loaded), and the options that were given, by name."""


class Machine(TypedDict, total=False):
    """What decides on a machine how fast a database can be, with the limits under which Assay ran
    there. None: not known."""

    name: str
    """As it was given in `ASSAY_MACHINE`."""
    host: str
    """A digest of its own identity: it distinguishes two machines of equal hardware, and names
    none. Left out where the machine has no identity."""
    cpu_model: str | None
    architecture: str
    cores: int | None
    processors: int | None
    processors_usable: int | None
    """By its affinity."""
    affinity: str
    """``0-3,8``, as ``taskset --cpu-list`` takes them."""
    processors_limit: float | None
    """What the control groups around Assay allow."""
    memory_bytes: int | None
    memory_limit_bytes: int | None
    cpu_governor: str | None
    kernel: str
    operating_system: str
    python: str


HardwareFact = Literal[
    "cpu_model", "architecture", "cores", "processors", "processors_usable", "affinity",
    "processors_limit", "memory_bytes", "memory_limit_bytes",
]  # fmt: skip


class Build(TypedDict, total=False):
    """The program that executed the runs."""

    assay: str
    """Its version."""
    version: str
    """Of the engine."""
    profile: str
    """With which the engine was compiled."""
    drivers: list[str]


class SheetRecord(TypedDict):
    """A table that reports show as it stands."""

    title: str
    columns: list[str]
    rows: list[list[str]]


class KeptDrive(TypedDict, total=False):
    """A `DriveDocument` without the deployment and scripts, as JSON."""

    is_result: bool
    """Its step was declared to be the result of the test."""
    seed: int
    clients: int
    order: str
