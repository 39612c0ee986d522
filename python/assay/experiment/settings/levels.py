"""Takes a table of an experiment file: the file itself, ``[quick]``, ``[test.NAME]``; returns the
levels and settings that it gives, as fields of `Experiment`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.contracts.driving import DrivingChanges
from assay.contracts.experiment import ExperimentChanges
from assay.contracts.factors import Scalar
from assay.contracts.setting import Choice, Flag, Levels, NumberOf, Setting, Text
from assay.errors import ArgumentError
from assay.experiment.choices import checked_choices
from assay.experiment.settings import field_values, other_names
from assay.experiment.settings.catalogue import SETTINGS
from assay.experiment.settings.error_spelling import of_file
from assay.text import quantities
from assay.text.files.keys import FLAG, TEXT, Key, Listed, NumberWithin, NumberWord, OneOf
from assay.text.files.toml_file import TomlTable
from assay.text.quantities import Real, Whole
from assay.workload import driving
from assay.workload.values import Workload


def read(section: TomlTable, workload: Workload) -> ExperimentChanges:
    """Only what is given. The names of the file are checked, and the types and ranges of values;
    raises `ExperimentError` with the line."""
    given = of_settings(section, lambda setting: setting.is_of_tests)
    if section.is_table("clients"):
        given["group_clients"] = _group_clients(section)
    elif "clients" in section:
        given["clients"] = section.wholes("clients", quantities.CLIENTS)
    if found := parameters(section.section("parameters"), workload):
        given["parameters"] = found
    drive = section.section("drive")
    given |= of_settings(drive, lambda setting: setting.is_of_tests, "drive.")
    if driven := _driving(drive):
        given["driving"] = driven
    return given


def of_settings(
    section: TomlTable, is_asked: Callable[[Setting], bool], table: str = ""
) -> ExperimentChanges:
    """Of the settings that have a field of `Experiment` and a key in this table, and whose kind
    says how they are read: field → value."""
    found = {
        setting.experiment_field: value_of(section, setting, key)
        for setting in SETTINGS.values()
        if is_read_by_kind(setting) and setting.path is not None and is_asked(setting)
        for before, dot, key in [setting.path.rpartition(".")]
        if before + dot == table and key in section
    }
    return ExperimentChanges(found)


def is_read_by_kind(setting: Setting) -> bool:
    """Whether a file is read as the kind says; others name files, places or clients of groups."""
    kinds = NumberOf | Choice | Flag | Levels | Text
    return bool(setting.experiment_field) and isinstance(setting.kind, kinds)


def key_of(setting: Setting, name: str) -> Key:
    """The key of that name, without its table, which has the kind of the setting."""
    match setting.kind:
        case NumberOf(quantity=quantity):
            return Key(name, NumberWithin(quantity))
        case Choice(levels=levels):
            return Key(name, OneOf(levels))
        case Flag():
            return Key(name, FLAG)
        case Text():
            return Key(name, TEXT)
        case Levels(of=tuple() as levels):
            return Key(name, Listed(OneOf(levels)))
        case Levels():
            return Key(name, Listed(NumberWord()))
    raise AssertionError(f"{setting.name} is not read by its kind")


def value_of(section: TomlTable, setting: Setting, key: str) -> Any:
    with ErrorPlace(section, key):
        match setting.kind:
            case Text():
                return field_values.value(setting, section.text(key))
            case Levels(of=Whole() | Real()):
                return field_values.levels(setting, section.words(key))
        return section.value(key_of(setting, key))


def parameters(section: TomlTable, workload: Workload) -> dict[str, tuple[Scalar, ...]]:
    levels = {}
    for name in section.names():
        words = section.words(name)
        with ErrorPlace(section, name):
            try:
                levels[name] = checked_choices.parameter_levels(workload, name, words)
            except checked_choices.UnknownParameter as error:
                given = [f"{name}={','.join(words)}"]
                raise other_names.corrected(error, workload, given) from None
    return levels


def _group_clients(top: TomlTable) -> dict[str, tuple[int, ...]]:
    """``clients = { readers = [4, 8], writers = 2 }``: client counts by group."""
    section = top.section("clients")
    return {name: section.wholes(name, quantities.CLIENTS) for name in section.names()}


def _driving(section: TomlTable) -> DrivingChanges:
    """``[drive]``, with the keys of a test; the levels of the offered rate are read elsewhere."""
    given = driving.read(section, {}, is_of_workload=False, passed_over=("offered_rate_per_s",))
    section.done()
    return given


class ErrorPlace:
    """Gives an `ArgumentError` raised inside the block the location of a key in the file, and makes
    it name keys in place of options."""

    def __init__(self, section: TomlTable, key: str) -> None:
        self._section = section
        self._key = key

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: Any, error: BaseException | None, _trace: Any) -> None:
        if isinstance(error, ArgumentError):
            error.respell(of_file)
            raise self._section.error(error.message, self._key, hint=error.hint) from error
