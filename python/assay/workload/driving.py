"""Takes a section with keys of `Driving`; returns the fields that it sets, checked.

Workload files and experiment files use the same keys. In a test, a number or a pause may be the
name of a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from assay import _engine, registry
from assay.contracts.driving import (
    ISOLATION_LEVELS,
    NUMBERS,
    OF_FILES,
    READS,
    RECONNECT_TIMEOUT_S,
    RETRY_CLASSES,
    SETTINGS,
    DrivingChanges,
)
from assay.contracts.setting import Choice, Flag, Levels, NumberOf, Pause, Route, Setting
from assay.errors import ArgumentError, ExperimentError
from assay.text import pattern, quantities
from assay.text.keys import FLAG, TEXT, Key, Keys, Kind, Listed, NumberWithin, OneOf, named
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload.parameters import Parameter

PAUSE_FORMS = "constant:1s, uniform:1s..3s, exponential:1s, exponential:12s,120s, lognormal:1s,0.5"
NO_PAUSE = "none"
_NUMERAL = frozenset("0123456789.+-")
"""The characters that begin a number with its unit, and never a name."""


def read(
    section: TomlTable,
    parameters: Mapping[str, Parameter] | None,
    *,
    passed_over: Collection[str] = (),
) -> DrivingChanges:
    """The fields of `Driving` that the section sets; raises `ExperimentError` with the line.

    ``parameters``: those that a workload may name; None: the section is of no workload.
    ``passed_over``: those that are read elsewhere.
    """
    given = DrivingChanges()
    for field, setting in OF_FILES.items():
        is_read = setting.workloads_say or parameters is None
        if is_read and setting.name in section and field not in passed_over:
            of_field = _TABLES.get(field)
            if of_field is not None and section.is_table(setting.name):
                given.update(of_field(section.section(setting.name), section))
            else:
                given[field] = _value(section, setting, parameters)
    return given


def _value(section: TomlTable, setting: Setting, parameters: Mapping[str, Parameter] | None) -> Any:
    key = setting.name
    match setting.kind:
        case NumberOf() | Levels():
            return _number(section, key, parameters)
        case Choice(levels=levels) | Route(words=levels):
            return section.choice(key, levels)
        case Pause():
            return _pause(section, key, parameters or {})
        case Flag() if setting.read is not None:
            return setting.read(True) if section.boolean(key) else None
    return section.boolean(key)


def is_pause(text: str) -> bool:
    """Whether the text is a distribution of pauses, or ``none``."""
    return text == NO_PAUSE or _engine.is_distribution(text)


def pause(text: str) -> str | None:
    """The pause as `Driving` holds it, in one spelling: ``constant:1000us`` is ``constant:1ms``."""
    return None if text == NO_PAUSE else _LENGTH.sub(_in_largest_unit, text)


_LENGTH = pattern(
    r"(?<![0-9])([0-9]+(?:\.[0-9]+)?|(?<!\.)\.[0-9]+) ?"
    rf"({'|'.join(sorted(quantities.NS_PER, key=len, reverse=True))})\b"
)
"""Not the ``.3s`` of ``1s..3s``."""
_SPELLED = ("s", "ms", "us", "ns")


def _in_largest_unit(match: re.Match[str]) -> str:
    """In the largest unit of which it is one at least."""
    length_ns = Fraction(match[1]) * quantities.NS_PER[match[2]]
    fitting = (unit for unit in _SPELLED if length_ns >= quantities.NS_PER[unit])
    unit = next(fitting, _SPELLED[-1] if length_ns else "s")
    return f"{float(length_ns / quantities.NS_PER[unit]):.15g}{unit}"


def _number(
    section: TomlTable, key: str, parameters: Mapping[str, Parameter] | None
) -> int | float | str:
    quantity = NUMBERS[key]
    if section.is_text(key):
        value = section.text(key)
        if parameters and value in parameters and parameters[value].type in ("int", "float"):
            return value
        if not isinstance(quantity, quantities.Whole) and value[:1] in _NUMERAL:
            try:
                return quantity.of_word(value)
            except ValueError as error:
                raise section.error(f"{key}: {error}", key) from None
        if parameters is None:
            raise section.error(f"{key} = {value!r}: expected {quantity.expected}", key)
        raise no_number(section, key, value, parameters, ("int", "float"))
    if isinstance(quantity, quantities.Whole):
        return section.whole(key, quantity)
    return section.number(key, quantity)


def no_number(
    section: TomlTable,
    key: str,
    value: str,
    parameters: Mapping[str, Parameter],
    types: tuple[str, ...],
) -> ExperimentError:
    """The error for a text that is neither a number nor a parameter of one of these types."""
    if value in parameters:
        found = parameters[value].type
        return section.error(
            f"{key} = {value!r}: the parameter {value} is of type {found}; expected "
            f"{' or '.join(types)}",
            key,
            hint=f'[parameters.{value}] type = "{types[0]}"',
        )
    fitting = [one.name for one in parameters.values() if one.type in types]
    return section.error(
        f"{key} = {value!r} is neither a number nor a parameter",
        key,
        hint=did_you_mean(value, fitting)
        if fitting
        else f'{key} = 4, or add [parameters.{value}] with type = "{types[0]}"',
    )


def _pause(section: TomlTable, key: str, parameters: Mapping[str, Parameter]) -> str | None:
    value = section.text(key)
    if value not in parameters and not is_pause(value):
        raise section.error(
            f"{key} = {value!r} is not a distribution of pauses", key, hint=PAUSE_FORMS
        )
    return pause(value)


def _retries(inner: TomlTable, _section: TomlTable) -> DrivingChanges:
    """``retries = { most = 3, classes = ["deadlock"] }``."""
    given = DrivingChanges(retries=inner.whole("most", quantities.RETRIES))
    if "classes" in inner:
        given["retry_classes"] = inner.choices("classes", RETRY_CLASSES)
    inner.done()
    return given


def _isolation(inner: TomlTable, section: TomlTable) -> DrivingChanges:
    """A level for each system by its name: ``isolation = { SYSTEM = "serializable" }``."""
    for name in inner.names():
        try:
            registry.system(name)
        except ArgumentError as error:
            raise inner.error(error.message, name, hint=error.hint) from error
    found = {name: inner.choice(name, ISOLATION_LEVELS) for name in inner.names()}
    if not found:
        raise section.error(
            "isolation names no system", "isolation", hint=f'isolation = "{ISOLATION_LEVELS[-1]}"'
        )
    return DrivingChanges(isolation=found)


def _read(inner: TomlTable, section: TomlTable) -> DrivingChanges:
    """A word for each script that does not go to the primary: ``read = { look = "replica" }``."""
    found = {name: inner.choice(name, READS) for name in inner.names()}
    if not found:
        raise section.error("read names no script", "read", hint=f'read = "{READS[1]}"')
    routes = ",".join(f"{name}={read}" for name, read in sorted(found.items()))
    return DrivingChanges(read=routes)


def _reconnect(inner: TomlTable, _section: TomlTable) -> DrivingChanges:
    """``reconnect = { timeout_s = 60 }``."""
    timeout_s = inner.number("timeout_s", quantities.WAIT_S, RECONNECT_TIMEOUT_S)
    inner.done()
    return DrivingChanges(reconnect_timeout_s=timeout_s)


_TABLES = {
    "retries": _retries,
    "isolation": _isolation,
    "read": _read,
    "reconnect_timeout_s": _reconnect,
}
"""How those are read that may be a table as well; each takes it, and the one in which it is."""

_TABLE_KEYS = {
    "retries": Keys(
        (
            Key("most", NumberWithin(quantities.RETRIES), "Retries of a transaction, at most.",
                is_required=True),
            Key("classes", Listed(OneOf(RETRY_CLASSES)), SETTINGS["retry_classes"].help),
        )
    ),
    "reconnect_timeout_s": Keys(
        (
            Key("timeout_s", NumberWithin(quantities.WAIT_S),
                "Seconds for which a client that has lost its connection tries to reconnect."),
        )
    ),
    "isolation": named(OneOf(ISOLATION_LEVELS)),
    "read": named(OneOf(READS)),
}  # fmt: skip
"""Of those that may be a table as well."""


def driving_keys(*, is_of_workload: bool) -> tuple[Key, ...]:
    """``is_of_workload``: then a number may be the name of a parameter."""
    return tuple(
        Key(
            setting.name,
            _kinds(setting, is_of_workload),
            "" if setting.heading else setting.help,
            below=_TABLE_KEYS.get(field),
        )
        for field, setting in OF_FILES.items()
        if setting.workloads_say or not is_of_workload
    )


def _kinds(setting: Setting, names_parameters: bool) -> Kind | tuple[Kind, ...]:
    if setting.quantity is not None:
        kind = NumberWithin(setting.quantity)
        return (TEXT, kind) if names_parameters else kind
    match setting.kind:
        case Choice(levels=words) | Route(words=words):
            return OneOf(words)
        case Flag():
            return FLAG
    return TEXT


IN_WORKLOADS = driving_keys(is_of_workload=True)
