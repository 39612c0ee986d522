"""The factors by which cells are distinguished, each declared once: its names, the part of a cell
that has its level, the level where nothing is said, and how it is shown; and a storage as it is
chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from assay.contracts.driving import AS_IS, CACHES, CLIENT_PROGRAMS, ENGINE
from assay.text import units

Scalar = str | int | float | bool
Levels = Mapping[str, Scalar]
"""Factor → level."""


class Part(StrEnum):
    """What has the level of a factor."""

    CELL = "cell"
    """A field of the cell, with fields of its own or a meaning of its own."""
    LEVELS = "levels"
    """The levels of the cell (`assay.plan.values.Cell.levels`)."""
    MACHINE = "machine"
    """What a server is given (`ServerMachine`)."""
    DRIVING = "driving"
    """How clients are driven (`assay.contracts.driving.Driving`)."""
    FOUND = "found"
    """What is known only when it was run, or is no level of one cell."""


def level_text(level: object) -> str:
    """As it is written where it is asked for: ``800`` also where a rate is kept as 800.0."""
    return f"{level:.15g}" if isinstance(level, float) else units.level(level)


_PLACED = "with"


class Factor(Struct, frozen=True):
    name: str
    """Of its option and key with ``_``; in ``--between`` and in the names of cells."""
    part: Part
    field: str = ""
    """In its part, and its column in tables for programs, with its unit; empty: `name`."""
    asked: str = ""
    """How `assay.contracts.experiment.Experiment` is asked for its levels, and the record keeps
    them: a field, or one of its `levels`. Empty: it has one level in an experiment, or is not asked
    for by that name."""
    default: Any = None
    """The value of a cell for which nothing was said; None: every cell says it."""
    kind: str = "string"
    """Of its column: a type of JSON Schema."""
    meaning: str = ""
    """Of its column, for people who read it."""
    named: Callable[[Any], str] | None = None
    """A level as names of cells have it; None: behind the factor's name."""
    level: Callable[[Any], Scalar] | None = None
    """The level that a value is shown as, in tables; None: the value itself."""
    heading: str = ""
    """Of its column in tables; empty: `name`."""
    brief_heading: str = ""
    """The same, where there is little room; empty: `heading`."""
    word: str = ""
    """What it is called in a sentence; empty: `name`."""
    placed: str = _PLACED
    """Before the name of a level, where a sentence says at which level something holds."""
    is_always_named: bool = False
    """Also where all cells have one level."""
    is_other_work: bool = False
    """Clients do other work at another level: beside the number of clients and the parameters it is
    part of the seed, where it is not at its default."""

    @property
    def column(self) -> str:
        return self.field or self.name

    def shown(self, value: Any) -> Scalar:
        shown: Scalar = value if self.level is None else self.level(value)
        return shown

    def name_of(self, level: Scalar) -> str:
        """The level in the name of a cell."""
        return f"{self.name} {level_text(level)}" if self.named is None else self.named(level)


NOT_LIMITED: Final = "none"
"""The word for a level of the server's machine where it has all of this one."""

TEST = Factor("test", Part.CELL, asked="tests")
SCRIPT = Factor("script", Part.FOUND, named=str)
"""Of an experiment of scripts alone, of which each is measured."""
SYSTEM = Factor("system", Part.CELL, asked="systems", named=str, placed="on", is_always_named=True)
PROFILE = Factor("profile", Part.FOUND)
STORAGE = Factor(
    "storage", Part.CELL, asked="storages", named=str, placed="on", is_always_named=True
)
STORAGE_ROLE = Factor("storage_role", Part.FOUND)
DURABILITY = Factor("durability", Part.FOUND)
CLIENTS = Factor(
    "clients", Part.CELL, asked="clients", kind="integer", meaning="concurrent clients",
    named=lambda level: units.counted(int(level), "client"), placed="at", is_always_named=True,
)  # fmt: skip
PROTOCOL = Factor("protocol", Part.LEVELS, meaning="simple, extended, prepared")
THREADS = Factor(
    "threads", Part.LEVELS, kind="integer", meaning="of the client; 0: one per processor"
)
MACHINE = Factor("machine", Part.FOUND, named=str)
"""Where runs of several machines are shown together."""
MEMORY = Factor(
    "memory", Part.MACHINE, "memory_bytes", asked="memory_bytes", kind="integer",
    meaning="of the server, page cache included; null: none",
    level=lambda value: NOT_LIMITED if value is None else units.size_word(value),
)  # fmt: skip
CPUS = Factor(
    "cpus", Part.MACHINE, asked="cpus", kind="number",
    meaning="processors of the server; null: all",
    level=lambda value: "all" if value is None else value,
)  # fmt: skip
RTT = Factor(
    "rtt", Part.MACHINE, "rtt_s", asked="rtts_s", default=0.0, kind="number",
    meaning="round-trip time added between clients and server",
    level=lambda value: units.exact_duration(value) if value else "0",
)  # fmt: skip
LOG_STORAGE = Factor(
    "log_storage", Part.MACHINE, asked="log_storages",
    meaning="of the server's log; null: that of its data",
    level=lambda value: NOT_LIMITED if value is None else value.name,
)  # fmt: skip
CACHE = Factor("cache", Part.LEVELS, asked="caches", default=AS_IS, meaning=", ".join(CACHES))
CLIENT_PROGRAM = Factor(
    "client_program", Part.LEVELS, asked="client_programs", default=ENGINE,
    meaning=", ".join(CLIENT_PROGRAMS), named="{} clients".format,
    heading="client program", brief_heading="program", word="program",
)  # fmt: skip
GENERATORS = Factor(
    "generators", Part.LEVELS, asked="generators", default=1, kind="integer",
    meaning="load generators that drive the clients; 1: the process of Assay itself",
    named=lambda level: units.counted(int(level), "generator"), placed="from",
)  # fmt: skip
REPETITION = Factor("repetition", Part.FOUND)
OFFERED_RATE = Factor(
    "offered_rate_per_s", Part.DRIVING, asked="offered_rates_per_s", kind="number",
    meaning="of all clients; null: closed loop",
    named=lambda level: f"{level_text(level)} offered/s", heading="offered/s", word="rate",
    placed="at",
    is_other_work=True,
)  # fmt: skip

FACTORS: Final = (
    TEST, SCRIPT, SYSTEM, PROFILE, STORAGE, STORAGE_ROLE, DURABILITY, CLIENTS, PROTOCOL, THREADS,
    MACHINE, MEMORY, CPUS, RTT, LOG_STORAGE, CACHE, CLIENT_PROGRAM, GENERATORS, REPETITION,
    OFFERED_RATE,
)  # fmt: skip
BY_NAME: Final[Mapping[str, Factor]] = {one.name: one for one in FACTORS}
NAMES: Final = tuple(dict.fromkeys(name for one in FACTORS for name in (one.name, one.column)))
"""By these names cells are distinguished: no parameter of a workload or script has one."""
COLUMNS: Final = tuple(one.column for one in FACTORS)
ALWAYS_NAMED: Final = tuple(one.name for one in FACTORS if one.is_always_named)


def of_part(part: Part) -> Mapping[str, Factor]:
    """By their names, in the order of the list."""
    return {one.name: one for one in FACTORS if one.part is part}


OF_LEVELS: Final = of_part(Part.LEVELS)
OF_MACHINE: Final = of_part(Part.MACHINE)
VARIED_LEVELS: Final = {name: one for name, one in OF_LEVELS.items() if one.asked}
"""Those of the levels of a cell of which an experiment may have several."""
VARIED: Final = {**OF_MACHINE, **VARIED_LEVELS}
"""Those whose levels are in `assay.contracts.experiment.Experiment.levels`."""


@dataclass(frozen=True, slots=True)
class ServerMachine:
    """The machine that a server is given: a part of this one, its distance from the clients, and a
    storage for its log beside that of its data."""

    memory_bytes: int | None = None
    """Of all its processes together, page cache included; None: not limited."""
    cpus: float | None = None
    """CPU time per second that all its processes together may use; None: not limited."""
    rtt_s: float = 0.0
    """Round-trip time that is added between clients and server; 0: they are connected directly."""
    log_storage: StorageChoice | None = None
    """Of its log (write-ahead log, redo log, binary log); None: that of its data."""

    @property
    def words(self) -> tuple[str, ...]:
        """``memory=64MB``, ``cpus=2``, ``rtt=1ms``, ``log_storage=hdd``: what differs from a server
        beside the clients with all of this machine."""
        return tuple(
            f"{name}={f'{level:.12g}' if isinstance(level, float) else level}"
            for name, factor in OF_MACHINE.items()
            if (value := getattr(self, factor.column)) != factor.default
            for level in [factor.shown(value)]
        )


def name_of(factor: str, level: Scalar) -> str:
    """A level in text: a name alone, a number with what it counts."""
    declared = BY_NAME.get(factor)
    return f"{factor} {level_text(level)}" if declared is None else declared.name_of(level)


def heading(factor: str) -> str:
    """Of its column in tables."""
    declared = BY_NAME.get(factor)
    return declared.heading if declared and declared.heading else factor


def brief_heading(factor: str) -> str:
    """The same, where there is little room."""
    declared = BY_NAME.get(factor)
    return declared.brief_heading if declared and declared.brief_heading else heading(factor)


def word(factor: str) -> str:
    """In a sentence."""
    declared = BY_NAME.get(factor)
    return declared.word if declared and declared.word else factor


def placed(factor: str) -> str:
    """Before the name of a level, in a sentence."""
    return BY_NAME[factor].placed if factor in BY_NAME else _PLACED


def is_ordinary(factor: str, level: Scalar | None) -> bool:
    """Whether a level is worth no word where no cell has another."""
    declared = OF_LEVELS.get(factor)
    return declared is None or declared.default is None or level == declared.default


def levels(known: Mapping[str, Any], asked: Iterable[str] = OF_LEVELS) -> dict[str, Scalar]:
    """Those of the levels of a cell, with the default of each that is not known."""
    return {name: known.get(name, OF_LEVELS[name].default) for name in asked}


BY_URL = "url"
"""The kind of a storage on which a server by URL is, by the word of the person who named it."""


@dataclass(frozen=True, slots=True)
class StorageChoice:
    """Where data directories are made: ``kind`` is a name of the registry, or `BY_URL`."""

    name: str = "here"
    kind: str = "here"
    directory: str | None = None
    """Or the device of a kind that takes one."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Those of its kind."""
    may_erase: bool = field(default=False, compare=False)
    """Whether what is on the device may be destroyed (``--erase``)."""
    rtt_s: float = 0.0
    """Round-trip time that is added between clients and a server on it, in place of the levels of
    ``--rtt``; 0: none of its own."""
    role: str = ""
    """What it is by the word of the person who chose it (``disk``, ``solid-state``, ``memory``);
    empty: what its model or the kernel says."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def name_alone(self) -> str:
        """Without the note behind it: ``disk`` of ``disk (modelled)``."""
        return self.name.partition(" (")[0]
