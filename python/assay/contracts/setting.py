"""A setting of an experiment: what its value can be, its names in the three places where it may be
written, its help, and what it applies to. Each is declared once, at the field that has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from assay.text import pattern
from assay.text.quantities import Duration, Quantity, Real, Whole


class NumberOf(Struct, frozen=True):
    quantity: Quantity
    of_option: Duration | None = None
    """On the command line, where words are read otherwise there."""


class Choice(Struct, frozen=True):
    """One of these words."""

    levels: tuple[str, ...]


class Flag(Struct, frozen=True):
    destroys: bool = False
    """Whether it allows something to be erased or replaced."""


class Text(Struct, frozen=True):
    words: tuple[str, ...] = ()
    """Those that it may be as a whole."""


class Pause(Text, frozen=True):
    """A distribution of pauses, or ``none``."""

    words: tuple[str, ...] = ("none",)


class Route(Text, frozen=True):
    """One of the words, or one for each script: ``SCRIPT=WORD,SCRIPT=WORD``."""


class FileName(Struct, frozen=True):
    pass


class NameList(Struct, frozen=True):
    """One name or several; the option may be repeated, and its commas separate names."""


class FileNames(Struct, frozen=True):
    """One file or several; the option may be repeated."""


class Assignments(Struct, frozen=True):
    """Names with their values: ``KEY=VALUE,…``; the option may be repeated."""


class Levels(Struct, frozen=True):
    """One word or number, or several, each of which is measured."""

    of: Quantity | tuple[str, ...]
    what: str = "value"
    """A level, in a message about one that is not known."""
    may_be_none: bool = False
    """Whether ``none`` is one: not limited."""
    example: str | Callable[[Sequence[str]], str] = ""
    """Some of them, as a hint shows them, or made from the words that were given; empty: no hint
    does."""
    may_be_of_groups: bool = False
    """Whether each group of clients may have its own."""

    def split(self, words: str) -> list[str]:
        """Each of them, of what a command line has in one word."""
        return words.split(",") if isinstance(self.of, tuple) else self.of.split(words)


Kind = NumberOf | Choice | Flag | Text | FileName | NameList | FileNames | Assignments | Levels

_UNIT: Final = pattern(r"(?:_per)?_s$")


class Heading(StrEnum):
    """Of options in `--help`, in this order."""

    WHAT = "What to run"
    MACHINE = "The server's machine"
    CLIENTS = "Clients and time"
    ARRIVALS = "Arrivals and pauses"
    SESSIONS = "Sessions and transactions"
    REPETITIONS = "Repetitions"
    LOADING = "Loading"
    STORAGES = "Storages"
    OUTPUT = "Output"
    OTHERS = "Others"


IN_NO_FILE: Final = None
"""In place of a key: a file does not say it."""


class Setting(Struct, frozen=True):
    """What is known of a setting, said at the field that has it: of `assay.contracts.driving`, or
    of `assay.experiment.settings_catalogue.Words`."""

    kind: Kind
    heading: Heading | None
    """None: it has no option, and Python has no argument for it."""
    help: str
    """A sentence or two, for `--help`, references and editors; the unit in it is the option's."""
    file_help: str = ""
    """Of the key in files, where it is not `help`."""
    metavar: str | None = None
    short: str | None = None
    other_option: str | None = None
    """An older name of the option."""
    option_word: str = ""
    """The option without hyphens, where it is not `name` without its unit."""
    key: str | None = ""
    """In an experiment file, with its table (``drive.``); empty: `name`. None: a file does not say
    it."""
    is_of_tests: bool = False
    """Whether ``[quick]`` and ``[test.NAME]`` may say it, too."""
    experiment_field: str = ""
    """Of `Experiment`, where it has the value; empty: see `driving_field`."""
    driving_field: str = ""
    """Of `assay.contracts.driving.Driving`, which has the value."""
    after: str = ""
    """The setting behind which `--help` has it; empty: the one that is declared before it."""
    key_after: str = ""
    """Of a field of `Driving`: the one behind which files have its key. Empty: keys of numbers are
    before the others, each behind the one that is declared before it."""
    workloads_say: bool = True
    """Of a field of `Driving`: whether files of workloads may say it."""
    is_of_engine: bool = False
    """Of a field of `Driving` in groups: whether the engine has it by its name, as it stands."""
    in_groups: bool = False
    """Of a field of `Driving`: whether each group of clients has its own; else a step has one."""
    read: Callable[[Any], Any] | None = None
    """From the value of the option to that of the field; of `Levels`, from its words. None: as its
    kind says (`assay.experiment.setting_values`)."""
    show: Callable[[Any], str] = str
    """A level of `Levels`, as it is written."""
    applies: Any = None
    """What a test needs for it to mean something (`assay.experiment.setting_values`), or the word
    for that; None: it means something in every test."""
    factor: Any = None
    """The `assay.contracts.factors.Factor` whose levels it sets."""
    why_not: Callable[[Any], str | None] | None = None
    """Of a factor of the server's machine: why a system cannot be given a level."""
    is_short_for: str = ""
    """Another setting, which is the only one that Python and files know."""
    known_as: tuple[str, ...] = ()
    """What others call it: the answer to an option or a parameter of that name, where there is
    none."""
    name: str = ""
    """In Python, and in `Words`: with the unit at its end where there is one."""

    @property
    def word(self) -> str:
        """The option's name with ``_`` for ``-``."""
        return self.option_word or _UNIT.sub("", self.name)

    @property
    def option(self) -> str:
        return f"--{self.word.replace('_', '-')}"

    @property
    def argument(self) -> str:
        """In Python."""
        return self.name

    @property
    def path(self) -> str | None:
        """The key in an experiment file, with its table."""
        if not self.key:
            return None if self.key is None else self.name
        return f"{self.key}{self.name}" if self.key.endswith(".") else self.key

    @property
    def is_flag(self) -> bool:
        return isinstance(self.kind, Flag)

    @property
    def is_listed(self) -> bool:
        """Whether commas separate values of the option."""
        return isinstance(self.kind, NameList | Levels)

    @property
    def needs_unit(self) -> bool:
        """Whether its option takes a number with a unit only."""
        of_option = self.kind.of_option if isinstance(self.kind, NumberOf) else None
        return of_option is not None and of_option.needs_unit

    @property
    def quantity(self) -> Quantity | None:
        """What its number is; None: it is none."""
        match self.kind:
            case NumberOf(quantity=quantity):
                return quantity
            case Levels(of=Whole() | Real() as quantity):
                return quantity
        return None
