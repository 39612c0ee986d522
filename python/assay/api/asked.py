"""Takes the arguments of `assay.run`; returns the words that mean the same on a command line, where
one reader says what they mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Real
from os import PathLike, fsencode, fspath
from typing import Any, TypeVar

from assay import registry
from assay.contracts.factors import NOT_LIMITED
from assay.contracts.setting import (
    Assignments,
    Choice,
    FileName,
    FileNames,
    Flag,
    Levels,
    NameList,
    NumberOf,
    Setting,
    Text,
)
from assay.errors import ArgumentError
from assay.experiment import Scalar
from assay.experiment.settings_catalogue import SETTINGS, Words
from assay.text import table_forms
from assay.text.phrases import did_you_mean
from assay.text.quantities import Quantity, shown

Path = str | PathLike[str]
Numbers = Scalar | Sequence[Scalar]
Limits = Scalar | Sequence[Scalar | None]
T = TypeVar("T")


def words(target: str, given: Mapping[str, Any]) -> Words:
    """``given``: the arguments of `assay.run`, by name; those that are no settings are left out."""
    asked = {
        name: _word(setting, given[name])
        for name, setting in SETTINGS.items()
        if not setting.is_short_for
    }
    return Words(target, **asked)


def _word(setting: Setting, value: Any) -> Any:
    """As the option has it."""
    match setting.kind:
        case NumberOf(quantity=quantity):
            return number(setting.name, value, quantity)
        case Choice(levels=levels):
            return choice(setting.name, value, levels)
        case Flag():
            return flag(setting.name, value)
        case Text():
            return text(setting.name, value)
        case FileName():
            return None if value is None else path(setting.name, value)
        case NameList():
            return names(setting.name, value)
        case FileNames():
            return paths(setting.name, value)
        case Assignments():
            return settings(value)
        case Levels(may_be_of_groups=True):
            return clients(value)
        case Levels(may_be_none=True):
            return limits(setting.name, value)
        case Levels(of=tuple()):
            return listed(setting.name, value)
        case Levels():
            return numbers(setting.name, value)


def number(name: str, value: Any, quantity: Quantity) -> Any:
    """The value, of which a text may say its unit; raises `ArgumentError` for what it cannot be."""
    if value is None or quantity.holds(value):
        return value
    if not isinstance(value, str):
        raise ArgumentError(f"{name}: expected {quantity.expected}, found {shown(value)}")
    try:
        return quantity.of_word(value)
    except ValueError as error:
        raise ArgumentError(f"{name}: {error}") from None


def choice(name: str, value: str | None, levels: Collection[str]) -> str | None:
    """The value, if it is one of the levels, or None."""
    return None if value is None else one_of(name, value, levels)


def one_of(name: str, value: Any, levels: Collection[str]) -> str:
    """The value, if it is one of the levels."""
    if not isinstance(value, str) or value not in levels:
        raise registry.unknown(name, str(value), levels)
    return value


def refuse_unknown(names: Iterable[str], known: Iterable[str]) -> None:
    """Raises `ArgumentError` for an argument that there is not."""
    for name in names:
        near = did_you_mean(name, known)
        raise ArgumentError(f"there is no argument {name!r}", hint=near)


def path(name: str, value: Any) -> str:
    found = fspath(value) if isinstance(value, str | PathLike) else None
    if not found or not isinstance(found, str) or not _can_name_a_file(found):
        raise ArgumentError(f"{name}: expected a path, found {shown(value)}")
    return found


def _can_name_a_file(word: str) -> bool:
    try:
        return b"\0" not in fsencode(word)
    except UnicodeEncodeError:
        return False


def paths(name: str, value: Path | Iterable[Path] | None) -> tuple[str, ...]:
    """One path or several."""
    if value is None:
        return ()
    if isinstance(value, str | PathLike) or not isinstance(value, Iterable):
        return (path(name, value),)
    return tuple(path(name, each) for each in value)


def names(name: str, value: str | Iterable[str] | None) -> tuple[str, ...]:
    """One name or several."""
    if value is None:
        return ()
    listed = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
    for each in listed:
        if not isinstance(each, str) or not each.strip():
            raise ArgumentError(f"{name}: expected a name or several, found {shown(each)}")
    return tuple(listed)


def text(name: str, value: str | None) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ArgumentError(f"{name}: expected a text, found {shown(value)}")
    return value


def flag(name: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise ArgumentError(f"{name}: expected True or False, found {shown(value)}")
    return value


def numbers(name: str, value: Numbers | None) -> str | None:
    """One number or several, as an option lists them; the reader checks them."""
    return None if value is None else ",".join(map(str, _several(name, value)))


def limits(name: str, value: Limits | None) -> str | None:
    """``"8GB"``, ``["8GB", None]``; None: no limit."""
    if value is None:
        return None
    return ",".join(NOT_LIMITED if one is None else str(one) for one in _several(name, value))


def clients(value: Numbers | Mapping[str, Numbers] | None) -> str | None:
    """``8``, ``[1, 8]``, or of each group of clients: ``{"readers": [4, 8], "writers": 2}``."""
    if not isinstance(value, Mapping):
        return numbers("clients", value)
    groups = {name: numbers(f"clients: group {name}", of) for name, of in value.items()}
    return ",".join(f"{name}={levels}" for name, levels in groups.items())


def listed(name: str, value: str | Iterable[str] | None) -> str | None:
    """One word or several, as an option lists them; the reader checks them."""
    return None if value is None else ",".join(names(name, _several(name, value)))


def settings(given: Mapping[str, Numbers] | None) -> tuple[str, ...]:
    """``{"copies": [1, 10]}`` as ``copies=1,10``."""
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise ArgumentError(
            f"set: expected names with their values, found {shown(given)}", hint='set={"scale": 10}'
        )
    for name, levels in given.items():
        if not isinstance(name, str):
            raise ArgumentError(f"set: expected a name, found {shown(name)}")
        for level in _listed(levels):
            if not isinstance(level, str | bool | Real):
                raise ArgumentError(
                    f"set: {name}: expected a number, a text, True or False, found {shown(level)}"
                )
    return tuple(f"{name}={_line(_listed(levels))}" for name, levels in given.items())


def _listed(levels: Any) -> list[Any]:
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        return [levels]
    return list(levels)


def _several(name: str, levels: Any) -> list[Any]:
    """One value or several; raises `ArgumentError` where there is none."""
    listed = _listed(levels)
    if not listed:
        raise ArgumentError(
            f"{name}: expected one value or several, found {shown(levels)}",
            hint=f"leave {name} out for its default",
        )
    return listed


def _line(levels: Iterable[Scalar]) -> str:
    """As `key_and_values` reads it: a value with a comma stands in quotes."""
    return table_forms.csv_line(
        str(level).lower() if isinstance(level, bool) else str(level) for level in levels
    )
