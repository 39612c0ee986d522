"""The options of `assay run`, each with its names in the two other places where an experiment may
be written: as an argument of `assay.run` in Python, and as a key of an experiment file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from assay.experiment.given import Words


@dataclass(frozen=True)
class OptionName:
    """An option of the command line."""

    word: str
    """Its name with ``_`` for ``-``."""
    argument: str
    """In Python, and a field of `Words` where it is one: the same name, with the unit at its end
    where there is one."""
    key: str | None
    """In an experiment file, with its table; None: a file does not say it."""
    is_flag: bool = False

    @property
    def per_second(self) -> int:
        """How many of the option's unit the unit of `argument` has."""
        return 1000 if self.word == "latency_limit" else 1  # in ms, as pgbench has it

    @property
    def option(self) -> str:
        return f"--{self.word.replace('_', '-')}"


_WITHOUT_UNIT = {
    "duration_s": "duration", "warm_up_s": "warm_up", "ramp_up_s": "ramp_up", "drain_s": "drain",
    "latency_limit_s": "latency_limit", "offered_rate_per_s": "offered_rate",
    "required_rate_per_s": "required_rate",
    "probe_s": "probe_seconds", "budget_s": "budget",
}  # fmt: skip
_TABLE_DRIVE = (
    "duration", "transactions", "warm_up", "ramp_up", "drain", "arrival", "offered_rate",
    "latency_limit", "think_time", "keying_time", "retries", "reconnect", "isolation", "connection",
    "per_statement", "allow_shell",
)  # fmt: skip
_OTHER_KEYS = {"on": "systems", "storage": "storages", "set": "parameters", "budget": "budget"}
_OF_THE_COMMAND = ("erase", "quick", "only", "log", "log_sample")
"""Options of `Words` that say how an experiment is run now, which no file says."""
_OF_STORAGES = ("price",)
"""What a file says in the table of each storage: ``price_per_gb``."""
_OF_THE_RUN = {
    "new": True, "load_sessions": False, "verify": True, "datasets": False, "probe_s": False,
    "records": False,
}  # fmt: skip
"""Options of `assay run` alone, with whether they are flags."""
_ANOTHER_NAME = ("target", "scale")
"""``scale`` is ``set``, in Python."""


def _named(argument: str, is_flag: bool) -> OptionName:
    word = _WITHOUT_UNIT.get(argument, argument)
    key: str | None = _OTHER_KEYS.get(word, argument)
    if word in _TABLE_DRIVE:
        key = f"drive.{argument}"
    if argument in (*_OF_THE_COMMAND, *_OF_STORAGES, *_OF_THE_RUN):
        key = None
    return OptionName(word, argument, key, is_flag)


OF_WORDS: Final[Mapping[str, OptionName]] = {
    one.name: _named(one.name, one.default is False)
    for one in fields(Words)
    if one.name not in _ANOTHER_NAME
}
"""By the fields of `Words`."""
OPTIONS: Final[Mapping[str, OptionName]] = {
    one.word: one
    for one in (*OF_WORDS.values(), *(_named(*option) for option in _OF_THE_RUN.items()))
}
"""By their own names."""
