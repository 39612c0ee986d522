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

    field: str
    """Of `Words`, where it is one of them: the option's name with ``_`` for ``-``."""
    argument: str
    """In Python: the same name, with the unit at its end where there is one."""
    key: str | None
    """In an experiment file, with its table; None: a file does not say it."""
    is_flag: bool = False

    @property
    def option(self) -> str:
        return f"--{self.field.replace('_', '-')}"


_WITH_A_UNIT = {
    "duration": "duration_s", "warm_up": "warm_up_s", "ramp_up": "ramp_up_s", "drain": "drain_s",
    "latency_limit": "latency_limit_s", "offered_rate": "offered_rate_per_s",
    "probe_seconds": "probe_s", "budget": "budget_s",
}  # fmt: skip
_TABLE_DRIVE = (
    "duration", "transactions", "warm_up", "ramp_up", "drain", "arrival", "offered_rate",
    "latency_limit", "think_time", "keying_time", "retries", "reconnect", "isolation", "connection",
    "per_statement", "allow_shell",
)  # fmt: skip
_OTHER_KEYS = {"on": "systems", "storage": "storages", "set": "parameters", "budget": "budget"}
_OF_THE_COMMAND = ("erase", "quick", "only")
"""Options of `Words` that say how an experiment is run now, which no file says."""
_OF_STORAGES = ("price",)
"""What a file says in the table of each storage: ``price_per_gb``."""
_OF_THE_RUN = {
    "new": True, "load_sessions": False, "verify": True, "datasets": False, "probe_seconds": False,
    "records": False,
}  # fmt: skip
"""Options of `assay run` alone, with whether they are flags."""
_ANOTHER_NAME = ("target", "scale")
"""``scale`` is ``set``, in Python."""


def _of_words(name: str, is_flag: bool) -> OptionName:
    argument = _WITH_A_UNIT.get(name, name)
    key = _OTHER_KEYS.get(name, f"drive.{argument}" if name in _TABLE_DRIVE else argument)
    return OptionName(
        name, argument, None if name in (*_OF_THE_COMMAND, *_OF_STORAGES) else key, is_flag
    )


OPTIONS: Final[Mapping[str, OptionName]] = {
    **{
        one.name: _of_words(one.name, one.default is False)
        for one in fields(Words)
        if one.name not in _ANOTHER_NAME
    },
    **{
        name: OptionName(name, _WITH_A_UNIT.get(name, name), None, is_flag)
        for name, is_flag in _OF_THE_RUN.items()
    },
}
"""By their fields."""
