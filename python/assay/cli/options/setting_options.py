"""Takes a setting of the catalogue; returns its option of the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from assay.cli.options import completers
from assay.cli.options.grouped_help import Headed
from assay.cli.options.numbers import NumberType
from assay.cli.options.usage_errors import DestroyingOption
from assay.contracts.setting import (
    Assignments,
    Choice,
    FileNames,
    Flag,
    NameList,
    NumberOf,
    Setting,
)

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

_COMPLETERS = {
    "on": completers.in_a_list(completers.system),
    "storage": completers.in_a_list(completers.storage),
    "set": completers.setting,
}


def option(setting: Setting, /, **further: Any) -> Decorator:
    """``further``: what click alone knows of, such as the variable of the environment."""
    names = (setting.short, setting.option, setting.other_option)
    return click.option(
        *(name for name in names if name is not None),
        further.pop("parameter", setting.name),
        **{
            "cls": Headed,
            "heading": setting.heading,
            "metavar": setting.metavar,
            "help": setting.help,
            "shell_complete": _COMPLETERS.get(setting.name),
            **_of_kind(setting),
            **further,
        },
    )


def _of_kind(setting: Setting) -> dict[str, Any]:
    match setting.kind:
        case NumberOf(quantity=quantity, of_option=None):
            return {"type": NumberType(quantity)}
        case NumberOf(of_option=of_option):
            assert of_option is not None
            return {"type": NumberType(of_option), "callback": _in_unit(of_option.per_second)}
        case Choice(levels=levels):
            return {"type": click.Choice(levels)}
        case Flag(destroys=True):
            return {"is_flag": True, "cls": DestroyingOption}
        case Flag():
            return {"is_flag": True}
        case FileNames() if setting.name == "script":
            return {"multiple": True, "is_eager": True}  # the target may be left out beside one
        case NameList() | FileNames() | Assignments():
            return {"multiple": True}
    return {}


def _in_unit(per_second: int) -> Callable[..., float | None]:
    """In seconds, as all others."""

    def in_seconds(
        _context: click.Context, _parameter: click.Parameter, value: float | None
    ) -> float | None:
        return None if value is None else value / per_second

    return in_seconds
