"""Declares every key of experiment files: those of settings are made of their catalogue. Takes a
table of one; returns the levels and settings that it gives, as fields of `Experiment`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from assay import registry
from assay.contracts.driving import DrivingChanges
from assay.contracts.experiment import Experiment, ExperimentChanges
from assay.contracts.factors import OF_MACHINE, Scalar
from assay.contracts.setting import Choice, Flag, Levels, NumberOf, Setting, Text
from assay.errors import ArgumentError
from assay.experiment import setting_values, settings_validation
from assay.experiment.choices import checked_choices
from assay.experiment.settings_catalogue import OPTIONS, SETTINGS
from assay.experiment.settings_validation import spelled_in_file
from assay.text import keys, quantities
from assay.text.keys import (
    FLAG,
    SCALAR,
    TEXT,
    TEXTS,
    Key,
    Keys,
    Listed,
    NumberWithin,
    NumberWord,
    OneOf,
    OneOfNames,
    named,
    of_fields,
)
from assay.text.quantities import Real, Whole
from assay.text.toml_file import TomlTable
from assay.workload import driving
from assay.workload.values import Workload

Parts = TypeVar("Parts")
Found = TypeVar("Found")


def read_levels(section: TomlTable, workload: Workload) -> ExperimentChanges:
    """Only what is given. The names of the file are checked, and the types and ranges of values;
    raises `ExperimentError` with the line."""
    given = values_of_settings(section, lambda setting: setting.is_of_tests)
    if section.is_table("clients"):
        given["group_clients"] = _group_clients(section)
    elif "clients" in section:
        given["clients"] = section.wholes("clients", quantities.CLIENTS)
    if found := read_parameters(section.section("parameters"), workload):
        given["parameters"] = found
    drive = section.section("drive")
    given |= values_of_settings(drive, lambda setting: setting.is_of_tests, "drive.")
    if driven := _driving(drive):
        given["driving"] = driven
    return given


def values_of_settings(
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
                return setting_values.value(setting, section.text(key))
            case Levels(of=Whole() | Real()):
                return setting_values.levels(setting, section.words(key))
        return section.value(key_of(setting, key))


def read_parameters(section: TomlTable, workload: Workload) -> dict[str, tuple[Scalar, ...]]:
    levels = {}
    for name in section.names():
        words = section.words(name)
        with ErrorPlace(section, name):
            try:
                levels[name] = checked_choices.parameter_levels(workload, name, words)
            except checked_choices.UnknownParameter as error:
                given = [f"{name}={','.join(words)}"]
                raise settings_validation.corrected(error, workload, given) from None
    return levels


def _group_clients(top: TomlTable) -> dict[str, tuple[int, ...]]:
    """``clients = { readers = [4, 8], writers = 2 }``: client counts by group."""
    section = top.section("clients")
    return {name: section.wholes(name, quantities.CLIENTS) for name in section.names()}


def _driving(section: TomlTable) -> DrivingChanges:
    """``[drive]``, with the keys of a test; the levels of the offered rate are read elsewhere."""
    given = driving.read(section, None, passed_over=("offered_rate_per_s",))
    section.done(keys_elsewhere("drive"))
    return given


def keys_elsewhere(here: str) -> dict[str, str]:
    """What people write in this table (empty: at the top), and how it is written elsewhere."""
    found: dict[str, str] = {}
    for option in OPTIONS.values():
        table, dot, key = (option.path or "").rpartition(".")
        if option.path and table != here:
            place = f"below the heading [{table}]" if dot else "above the first heading"
            found |= dict.fromkeys((option.word, option.argument, key), f"{key} = … {place}")
    return found


class ErrorPlace:
    """Gives an `ArgumentError` raised inside the block the location of a key in the file, or of an
    element of the list there, and makes it name keys in place of options."""

    def __init__(self, section: TomlTable, key: str, *at: int) -> None:
        self._section = section
        self._key = key
        self._at = at

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: Any, error: BaseException | None, _trace: Any) -> None:
        if isinstance(error, ArgumentError):
            error.respell(spelled_in_file)
            found = self._section.error(error.message, self._key, *self._at, hint=error.hint)
            raise found from error


def read_parts(
    read: Callable[[Parts], Found],
    whole: Parts,
    parts: Iterable[tuple[Parts, ErrorPlace]],
    place: ErrorPlace,
) -> Found:
    """What is read of the whole. An `ArgumentError` that a part alone raises, too, has the location
    of that part."""
    try:
        return read(whole)
    except ArgumentError:
        for part, place_of_part in parts:
            with place_of_part:
                read(part)
        with place:
            raise


def read_words(
    read: Callable[[Sequence[str]], Found], words: Sequence[str], section: TomlTable, key: str
) -> Found:
    """`read_parts` of the elements of a list."""
    each = (([word], ErrorPlace(section, key, number)) for number, word in enumerate(words))
    return read_parts(read, words, each, ErrorPlace(section, key))


def _settings(table: str, is_asked: Callable[[Setting], bool]) -> Iterator[Key]:
    """The keys of that table, empty or ``drive.``; each has the help of its setting."""
    for setting in SETTINGS.values():
        before, dot, name = (setting.path or "").rpartition(".")
        if (
            setting.path
            and before + dot == table
            and is_read_by_kind(setting)
            and is_asked(setting)
        ):
            yield key_of(setting, name)


def _is_of_tests(setting: Setting) -> bool:
    return setting.is_of_tests


def _levels(help_of_drive: str) -> tuple[Key, ...]:
    """What the file, [quick] and [test.NAME] may say."""
    return (
        *_settings("", _is_of_tests),
        Key("clients", _CLIENTS, below=named(_CLIENTS)),
        Key("parameters", below=_PARAMETERS),
        Key("drive", help=help_of_drive, below=_DRIVE),
    )


_CLIENTS = Listed(keys.NumberWithin(quantities.CLIENTS))
_PARAMETERS = named(Listed(SCALAR))
_OFFERED = [*_settings("drive.", _is_of_tests)]
_DRIVE = Keys(
    (
        *_OFFERED,
        *(
            key
            for key in driving.driving_keys(is_of_workload=False)
            if key.name not in {levels.name for levels in _OFFERED}
        ),
    )
)
_DRIVEN = "How clients are driven, in place of what the test says."
_OPTIONS = (SCALAR, Listed(SCALAR))
_OF_A_TEST = Keys(
    (
        *_levels("How clients are driven in this test."),
        Key("systems", TEXTS),
        Key("storages", TEXTS),
    )
)
_TEST = "The test of the workload, or several."
_TESTS = named(_OF_A_TEST)
_STORAGE = Keys(
    (
        Key("kind", OneOfNames(registry.storages), "The kind of storage (`assay list storages`).",
            is_required=True),
        Key("directory", TEXT, "Where the storage is made."),
        Key("currency", TEXT, "The currency of the price."),
        Key("price_per_gb", keys.NumberWithin(quantities.PRICE_PER_GB),
            "What 1,000,000,000 bytes of it cost: reports divide its speed-up by that."),
    ),
    Key("", _OPTIONS),
)  # fmt: skip
_STORAGES = "[storage.NAME]: a storage with a name, its kind, directory and options."
_QUICK = Keys(
    (
        Key("storage", help=_STORAGES,
            below=named(named(_OPTIONS))),
        *_levels(_DRIVEN),
        Key("test", help=_TEST, below=_TESTS),
    )
)  # fmt: skip
EXPERIMENT = Keys(
    (
        Key("script", TEXTS),
        Key("workload", TEXT, "A built-in workload (`assay list workloads`), or a folder with a "
            "workload.toml, relative to this file."),
        Key("test", TEXTS, _TEST, below=_TESTS),
        Key("tests", TEXTS, "The tests of the workload."),
        Key("storage", help=_STORAGES, below=named(_STORAGE)),
        Key("quick", help="What `--quick` has in place of what the file says elsewhere.",
            below=_QUICK),
        Key("storages", TEXTS),
        Key("log_storage", TEXTS),
        Key("price", TEXTS),
        Key("systems", TEXTS),
        Key("system", help="[system.NAME]: options and settings of a system; a list gives the "
            "levels of a factor.", below=named(_PARAMETERS)),
        *of_fields(Experiment),
        *_settings("", lambda setting: not setting.is_of_tests),
        *_levels(_DRIVEN),
        Key("optional", TEXTS, "Systems and storages without which the others are run, and factors "
            f"({', '.join(OF_MACHINE)}) whose levels are left out where they cannot be had."),
    ),
    exclusive=(("test", "tests"),),
)  # fmt: skip
"""In the order in which they are read."""
