"""A setting of an experiment, as `assay.experiment.settings.catalogue` declares each once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from assay.contracts.factors import Factor
from assay.errors import ArgumentError
from assay.experiment.settings.applies import Applies, WhyNot
from assay.experiment.settings.value_kinds import Flag, Kind, Levels, NameList, NumberOf, Text
from assay.text.mentions import Mention, phrase

_UNIT: Final = re.compile(r"(?:_per)?_s$")


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
    kind: Kind
    heading: Heading
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
    read: Callable[[Any], Any] | None = None
    """From the value of the option to that of the field; of `Levels`, from its words. None: as its
    kind says."""
    show: Callable[[Any], str] = str
    """A level of `Levels`, as it is written."""
    applies: Applies | None = None
    """None: to every test."""
    factor: Factor | None = None
    """Whose levels it sets."""
    why_not: WhyNot | None = None
    """Of a factor of the server's machine."""
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

    def value(self, given: Any) -> Any:
        """That of the field, from that of the option."""
        return (
            self.levels(self.kind.split(given))
            if isinstance(self.kind, Levels)
            else self._of(given)
        )

    def levels(self, words: Sequence[str]) -> Any:
        """That of the field, from each word of `Levels`."""
        if self.read is not None or not isinstance(self.kind, Levels):
            return self._of(words)
        return self.kind.read(self.word, words)

    def _of(self, given: Any) -> Any:
        # A text of clients (`--think-time`) is refused where it is read.
        if isinstance(self.kind, Text) and self.experiment_field and not given.strip():
            expected = f"a {(self.metavar or 'text').lower()}"
            raise ArgumentError(
                phrase("{}: expected {}, found {!r}", Mention(self.word), expected, given)
            )
        return given if self.read is None else self.read(given)

    @property
    def is_flag(self) -> bool:
        return isinstance(self.kind, Flag)

    @property
    def is_listed(self) -> bool:
        """Whether commas separate values of the option."""
        return isinstance(self.kind, NameList | Levels)

    @property
    def per_second(self) -> int:
        """How many of the option's unit the unit of `argument` has."""
        of_option = self.kind.of_option if isinstance(self.kind, NumberOf) else None
        return of_option.per_second if of_option else 1
