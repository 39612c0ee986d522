"""Takes an experiment that is on record; returns the tables of the experiment file that asks for
the same.

Keys are those of the catalogue of settings, so a new setting needs no line here. Where the files
lie that it names is the caller's matter: see `Places`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from typing import Any, Final

from msgspec import Struct

from assay.contracts import server_url
from assay.contracts.driving import SETTINGS as SETTINGS_OF_DRIVING
from assay.contracts.driving import reads_of_scripts
from assay.contracts.experiment import (
    Experiment,
    ScriptFile,
    StorageChoice,
    StoragePrice,
    SystemChoice,
)
from assay.contracts.factors import NOT_LIMITED
from assay.contracts.setting import Levels, Pause, Route, Setting
from assay.contracts.storages.protocol import asked_options_of
from assay.experiment.choices.identity import written_storage
from assay.experiment.choices.profiles import PROFILE
from assay.experiment.choices.server_limits import FACTORS
from assay.experiment.choices.written_systems import STORAGE, written_directory
from assay.experiment.file_keys import is_read_by_kind
from assay.experiment.settings_catalogue import SETTINGS
from assay.text.output_file import Value
from assay.text.secrets import HIDDEN_PARAMETER
from assay.text.toml_file import TomlData
from assay.workload.driving import NO_PAUSE

Tables = dict[str, Value]
"""As a TOML file has them."""
Fields = Mapping[str, Any]
"""Of `Experiment`, or of one of its tests."""


class Places(Struct, frozen=True):
    """What the file names for that which the experiment read: each relative to its folder."""

    workload: str
    """Its name, or its folder; empty: ad hoc scripts have none."""
    script: Callable[[str], str]
    """Of a script by its path."""
    feed: str = ""
    input: Sequence[str] = ()


def tables_of(asked: Experiment, places: Places, quick: TomlData) -> Tables:
    """``quick``: the table of that name, of the file that was run; that of a quick version says
    itself what it has, which `--quick` then leaves as it is."""
    document = asked.for_record()
    of_all = _levels(document, _is_said)
    of_tests = {name: said for name, own in asked.of_tests.items() if (said := _of_test(own))}
    found: Tables = {
        **({"title": asked.title} if asked.title else {}),
        **({"reproduces": asked.reproduces} if asked.reproduces else {}),
        **_what(asked, places),
        "systems": [system_word(one) for one in asked.systems],
        **_storages(asked),
        **_system_prices(asked),
        **({"feed": places.feed} if asked.feed else {}),
        **({"input": list(places.input)} if places.input else {}),
        **_optional(asked),
        **_settings(document, "", lambda setting: not setting.is_of_tests, _is_said),
        **of_all,
        **({"test": of_tests} if of_tests else {}),
    }
    if asked.is_quick:
        as_it_was = {**of_all, **({"test": of_tests} if of_tests else {})}
        return {**found, "quick": as_it_was} if as_it_was else found
    return {**found, "quick": dict(quick)} if quick else found


def _optional(asked: Experiment) -> Tables:
    """Without those that an option of the command line has replaced."""
    chosen = {*FACTORS, *(name for one in asked.systems for name in one.names)}
    chosen |= {one.name for one in asked.storages}
    found = [name for name in asked.optional if name in chosen]
    return {"optional": found} if found else {}


def _what(asked: Experiment, places: Places) -> Tables:
    words = [_script(one, places) for one in asked.scripts]
    found: Tables = {}
    if asked.is_ad_hoc:
        is_mix = not any("scripts" in one for one in asked.of_tests.values())
        return {"script": words if is_mix else ",".join(words)}
    if words:
        found["script"] = words
    tests = dict.fromkeys([*asked.series, *asked.tests])
    return {"workload": places.workload, "tests": list(tests), **found}


def _script(script: ScriptFile, places: Places) -> str:
    weight = script.weight
    return places.script(script.path) + ("" if weight == 1 else f"@{weight}")


def _of_test(own: Fields) -> Tables:
    found = _levels(own, lambda name, _: name in own)
    places = {key: list(own[key]) for key in ("systems", "storages") if key in own}
    if "storages" in places:  # a storage is named without the note behind it
        places["storages"] = [one.partition(" (")[0] for one in places["storages"]]
    return {**found, **places}


def _is_said(name: str, value: Any) -> bool:
    """Whether a field of `Experiment` has another value than where nothing is said."""
    return value not in (_DEFAULTS.get(name), None, "", [], {}, ())


_DEFAULTS: Final = {
    one.name: one.default for one in fields(Experiment) if one.default is not MISSING
}


def _levels(own: Fields, is_said: Callable[[str, Any], bool]) -> Tables:
    """What the file, ``[quick]`` and ``[test.NAME]`` may say."""
    found = _settings(own, "", lambda setting: setting.is_of_tests, is_said)
    if own.get("clients"):
        found["clients"] = list(own["clients"])
    elif own.get("group_clients"):
        found["clients"] = {name: list(one) for name, one in own["group_clients"].items()}
    if own.get("parameters"):
        found["parameters"] = {name: list(one) for name, one in own["parameters"].items()}
    of_drive = _settings(own, "drive.", lambda setting: setting.is_of_tests, is_said)
    if drive := {**of_drive, **_driving(own.get("driving", {}))}:
        found["drive"] = drive
    return found


def _settings(
    own: Fields,
    table: str,
    is_asked: Callable[[Setting], bool],
    is_said: Callable[[str, Any], bool],
) -> Tables:
    """The keys of that table, of the settings whose kind says how they are read."""
    found: Tables = {}
    for setting in SETTINGS.values():
        field = setting.experiment_field
        before, dot, key = (setting.path or "").rpartition(".")
        is_here = bool(setting.path) and before + dot == table and is_read_by_kind(setting)
        if is_here and is_asked(setting) and field in own and is_said(field, own[field]):
            found[key] = _shown(setting, own[field])
    return found


def _shown(setting: Setting, value: Any) -> Any:
    if not isinstance(setting.kind, Levels):
        return list(value) if isinstance(value, tuple) else value
    return [NOT_LIMITED if one is None else setting.show(one) for one in value]


def _driving(own: Fields) -> Tables:
    found: Tables = {}
    for field, value in own.items():
        setting = SETTINGS_OF_DRIVING.get(field)
        if setting is None:
            continue  # of another version
        if isinstance(setting.kind, Pause):
            found[field] = NO_PAUSE if value is None else value
        elif field == "reconnect_timeout_s":
            found[setting.name] = False if value is None else {"timeout_s": value}
        elif isinstance(setting.kind, Route):
            found[field] = reads_of_scripts(value) or value
        elif setting.path is not None and field != "retries" and value is not None:
            found[field] = value
    if "retry_classes" in own:
        found["retries"] = {"most": own.get("retries", 0), "classes": list(own["retry_classes"])}
    elif "retries" in own:
        found["retries"] = own["retries"]
    return found


def system_word(choice: SystemChoice) -> str:
    """As `--on` takes it."""
    given = {**choice.options, **choice.settings}
    own = {key: one for key, one in given.items() if choice.of_profile.get(key) != one}
    if choice.profile:
        own = {PROFILE: choice.profile, **own}
    name, url = choice.name, choice.url
    if url and ":" in name:  # of a family, whose brackets say where it is
        place = server_url.parts(url).parameters.items()
        shown = {key: one for key, one in place if not key.startswith(HIDDEN_PARAMETER)}
        own = {**shown, **own}
    elif url:
        stands_on = choice.stands_on
        name, own = url, {}
        if stands_on is not None:
            own = {STORAGE.name: stands_on.name, **asked_options_of(stands_on)}
    elif choice.build:
        name = f"{name}:{written_directory(choice.programs)}"
    called = choice.called
    bracket = ",".join(f"{key}={_quoted(one)}" for key, one in own.items())
    return (f"{called}=" if called else "") + (f"{name}[{bracket}]" if bracket else name)


def _quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"' if set(value) & set(', "') else value


def _storages(asked: Experiment) -> Tables:
    """Those with a name of their own, or a price, have a table each."""
    prices = asked.prices
    chosen, logs = asked.storages, asked.log_storages
    declared = {
        one.name_alone: one
        for one in (*chosen, *logs)
        if one is not None and (one.name in prices or not _is_called_as_written(one))
    }
    found: Tables = {"storages": [one.name_alone for one in chosen]}
    if logs:
        found["log_storage"] = [NOT_LIMITED if one is None else one.name_alone for one in logs]
    if declared:
        found["storage"] = {
            name: {
                "kind": one.kind,
                **({"directory": one.directory} if one.directory else {}),
                **asked_options_of(one),
                **_price(prices.get(one.name)),
            }
            for name, one in declared.items()
        }
    return found


def _system_prices(asked: Experiment) -> Tables:
    found = [
        f"{label}={price.amount:.15g}{price.currency}"
        for label, price in asked.system_prices.items()
    ]
    return {"price": found} if found else {}


def _price(price: StoragePrice | None) -> Tables:
    if price is None:
        return {}
    currency = {"currency": price.currency} if price.currency else {}
    return {"price_per_gb": price.per_gb, **currency}


def _is_called_as_written(choice: StorageChoice) -> bool:
    """Whether it has no name of its own."""
    return choice.name_alone in (
        written_storage(choice),
        written_storage(replace(choice, directory=None)),
    )
