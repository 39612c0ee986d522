"""Declares every key of experiment files: those of settings are made of their catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assay import registry
from assay.contracts.factors import OF_MACHINE
from assay.contracts.setting import Setting
from assay.experiment.settings.catalogue import SETTINGS
from assay.experiment.settings.levels import is_read_by_kind, key_of
from assay.text import quantities
from assay.text.files import keys
from assay.text.files.keys import (
    SCALAR,
    TEXT,
    TEXTS,
    Key,
    Keys,
    Listed,
    OneOfNames,
)
from assay.workload.driving_keys import driving


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
        Key("clients", _CLIENTS, below=Keys(of_any_name=Key("", _CLIENTS))),
        Key("parameters", below=_PARAMETERS),
        Key("drive", help=help_of_drive, below=_DRIVE),
    )


_CLIENTS = Listed(keys.NumberWithin(quantities.CLIENTS))
_PARAMETERS = Keys(of_any_name=Key("", Listed(SCALAR)))
_OFFERED = [*_settings("drive.", _is_of_tests)]
_DRIVE = Keys(
    (
        *_OFFERED,
        *(
            key
            for key in driving(is_of_workload=False)
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
_TESTS = Keys(of_any_name=Key("", below=_OF_A_TEST))
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
            below=Keys(of_any_name=Key("", below=Keys(of_any_name=Key("", _OPTIONS))))),
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
        Key("storage", help=_STORAGES, below=Keys(of_any_name=Key("", below=_STORAGE))),
        Key("quick", help="What `--quick` has in place of what the file says elsewhere.",
            below=_QUICK),
        Key("storages", TEXTS),
        Key("log_storage", TEXTS),
        Key("price", TEXTS),
        Key("systems", TEXTS),
        Key("system", help="[system.NAME]: options and settings of a system; a list gives the "
            "levels of a factor.", below=Keys(of_any_name=Key("", below=_PARAMETERS))),
        Key("input", TEXTS),
        Key("bib", TEXTS, "Files to read; the older name of `input`."),
        Key("feed", TEXT),
        Key("title", TEXT, "One line, for reports."),
        Key("reproduces", TEXT, "What is repeated, for the report: a paper and its table."),
        *_settings("", lambda setting: not setting.is_of_tests),
        *_levels(_DRIVEN),
        Key("optional", TEXTS, "Systems and storages without which the others are run, and factors "
            f"({', '.join(OF_MACHINE)}) whose levels are left out where they cannot be had."),
    ),
    exclusive=(("test", "tests"),),
)  # fmt: skip
"""In the order in which they are read."""
