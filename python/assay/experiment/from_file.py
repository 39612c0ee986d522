"""Takes an experiment file (TOML); returns its `Experiment`, or raises an error with the line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from assay import registry
from assay.contracts.experiment import (
    Experiment,
    ExperimentChanges,
    OfTest,
    ScriptFile,
    StorageChoice,
    StoragePrice,
    SystemChoice,
)
from assay.contracts.factors import LOG_STORAGE
from assay.errors import ArgumentError, ExperimentError
from assay.experiment import file_keys, quick
from assay.experiment.choices import checked_choices, identity, prices, server_limits, storage_words
from assay.experiment.choices.prices import Prices
from assay.experiment.file_keys import ErrorPlace, read_parts, read_words
from assay.experiment.settings_catalogue import Words
from assay.experiment.settings_validation import (
    first_repeated,
    refuse_repeated,
    refuse_unused,
    tests_named,
)
from assay.text import paths, quantities, toml_file
from assay.text.phrases import did_you_mean, nearest
from assay.text.toml_file import TomlTable
from assay.workload import ad_hoc_script
from assay.workload.values import Workload

_IN_PLACE = {
    "test": 'write above: tests = ["NAME"]',
    "systems": "write [system.NAME]",
    "storages": "write [storage.NAME]",
}
"""Of a key that has a value, what is written in place of a table of the same name."""
_MOST_MISTAKES = 10
"""That are said at once."""
_JUDGED_BY = {
    "workload": ("*",),
    "script": ("*",),
    "systems": ("system", "optional", "price"),
    "system": ("optional", "price"),
    "storages": ("storage", "quick", "optional", "price"),
    "storage": ("storages", "log_storage", "quick", "optional", "price"),
    "test": ("quick",),
    "tests": ("test", "quick"),
}
"""Of a key in which a mistake is left out, what may be wrong only without it."""


def read(
    file: Path, *, is_quick: bool = False, on: Sequence[str] = (), said: Collection[str] = ()
) -> tuple[Experiment, Workload]:
    """Reads the file; every name in it is checked. Paths in it are relative to its folder.
    ``is_quick``: the quick version of what it says. ``on``: systems in place of those of the file,
    with its settings, except for those that are ``said``, ``SYSTEM.KEY``.

    Raises `ExperimentError` with the line, `ArgumentError` where the workload is not known; with
    what else is wrong in the file.
    """

    def reading() -> tuple[Experiment, Workload]:
        return _read(file, on, said, is_quick=is_quick)

    from assay.text.left_out_keys import further_mistakes

    try:
        return reading()
    except ExperimentError as error:
        error.further = further_mistakes(reading, _MOST_MISTAKES, _JUDGED_BY)
        raise


def _read(
    file: Path, on: Sequence[str], said: Collection[str], *, is_quick: bool
) -> tuple[Experiment, Workload]:
    from assay.experiment.file_keys import EXPERIMENT

    top = toml_file.read(file, EXPERIMENT, _IN_PLACE)
    scripts, is_mix = _scripts(top)
    is_ad_hoc = bool(scripts) and "workload" not in top
    if not scripts and "workload" not in top:
        top.done(file_keys.keys_elsewhere(""), is_begun=True)  # it may be one of them, misspelt
    if is_ad_hoc:
        workload = _ad_hoc_workload(top, scripts, is_mix=is_mix)
        of_each = ad_hoc_script.experiment_of(scripts, workload, is_mix=is_mix)["of_tests"]
    else:
        workload, of_each = _workload(top, scripts), {}
    storages = _storages(top, is_quick=is_quick)
    systems = _systems(top, workload, on)
    costs = _prices(top, storages, systems)
    experiment = Experiment(
        workload=workload.name if is_ad_hoc else _workload_name(top),
        tests=_tests(top, workload),
        series=workload.series_among(_named_tests(top, workload)[1]),
        systems=systems,
        storages=storages.of_data,
        levels={LOG_STORAGE.name: storages.of_logs} if storages.of_logs else {},
        prices=costs.of_storages,
        system_prices=costs.of_systems,
        scripts=scripts,
        is_ad_hoc=is_ad_hoc,
        **top.fields(Experiment),
    )
    of_all = file_keys.values_of_settings(top, lambda setting: not setting.is_of_tests)
    experiment = experiment.changed(of_all).changed(file_keys.read_levels(top, workload))
    _refuse_repeated(top, experiment)
    experiment = replace(
        experiment,
        of_tests=_merged(of_each, read_tests(top, experiment, workload)),
        optional=_optional(top, experiment),
    )
    quickly = _quick(top, experiment, workload)
    top.done(file_keys.keys_elsewhere(""))
    if "systems" not in top and not on:
        example = workload.default_system or "scheme://USER@HOST/DATABASE"
        raise top.error(
            "no system under test", hint=f'above the first heading: systems = ["{example}"]'
        )
    if on:
        experiment = replace(experiment, systems=_systems_of_options(top, on, said))
    if is_quick:
        return quick.version_of(experiment, workload, quickly)
    return experiment, workload


def _refuse_repeated(top: TomlTable, experiment: Experiment) -> None:
    """Raises `ExperimentError` at the key that has a value twice."""
    if not (found := first_repeated(experiment)):
        return
    path = (found.setting and found.setting.path) or f"parameters.{found.name}"
    *tables, key = path.split(".", 1)
    section = top
    for table in tables:
        section = section.section(table)
    with ErrorPlace(section, key):
        refuse_repeated(experiment)


def _quick(top: TomlTable, experiment: Experiment, workload: Workload) -> ExperimentChanges:
    """``[quick]``: what the quick version has in place of what the file says elsewhere;
    ``[quick.test.NAME]``: of single tests."""
    section = top.section("quick")
    said = file_keys.read_levels(section, workload)
    section.section("storage")  # read with the storages of the file
    if alone := read_tests(section, experiment, workload):
        said["of_tests"] = alone
    section.done()
    return said


def _optional(top: TomlTable, experiment: Experiment) -> tuple[str, ...]:
    """``optional = ["mydb", "memory"]``: systems and storages without which the others are run,
    and factors of the server's machine whose levels are left out."""
    systems = [name for one in experiment.systems for name in one.names]
    # A storage by the name that the file gives it, without the note behind it.
    storages = {one.name.partition(" (")[0]: one.name for one in experiment.storages}
    known = list(dict.fromkeys([*systems, *storages, *server_limits.FACTORS]))
    found = tuple(
        name
        if name in (*systems, *server_limits.FACTORS)
        else storages.get(name.partition(" (")[0], name)
        for name in top.texts("optional", ())
    )
    for number, name in enumerate(found):
        if name not in (*systems, *storages.values(), *server_limits.FACTORS):
            raise top.error(
                f"{name} is neither a system nor a storage of this file, nor one of "
                f"{', '.join(server_limits.FACTORS)}",
                "optional",
                number,
                hint=did_you_mean(name, known),
            )
    return found


def _workload_name(top: TomlTable) -> str:
    """The name of the workload, or its path where it is relative to the file's folder."""
    name = top.text("workload")
    if name not in registry.workloads() and paths.is_folder(top.file.parent / name):
        return paths.with_name(str(top.file.parent / name))
    return name


def _workload(top: TomlTable, scripts: tuple[ScriptFile, ...]) -> Workload:
    from assay.workload import reader

    with ErrorPlace(top, "workload"):
        read = reader.read(_workload_name(top))
    with ErrorPlace(top, "script"):
        return ad_hoc_script.with_scripts(read, scripts, _tests(top, read))


def _merged(a: Mapping[str, OfTest], b: Mapping[str, OfTest]) -> dict[str, OfTest]:
    """Of each test both."""
    return {test: OfTest({**a.get(test, {}), **b.get(test, {})}) for test in {**a, **b}}


def _scripts(top: TomlTable) -> tuple[tuple[ScriptFile, ...], bool]:
    """``script = ["a.sql", "b.sql@3"]``, a mix, or ``script = "a.sql,b.sql"``, of which each is
    measured; relative to the file's folder. Whether it is a mix."""
    folder = top.file.parent

    def read(words: Sequence[str]) -> tuple[Sequence[ScriptFile], bool]:
        if "workload" in top:
            return ad_hoc_script.mix_in_place(words, folder), True
        return ad_hoc_script.levels_and_mix(words, folder)

    named, is_mix = read_words(read, top.texts("script", ()), top, "script")
    return tuple(replace(script, path=str(folder / script.path)) for script in named), is_mix


def _ad_hoc_workload(top: TomlTable, scripts: tuple[ScriptFile, ...], *, is_mix: bool) -> Workload:
    """The workload of ad hoc scripts, whose parameters are their variables."""
    variables = top.section("parameters")
    levels = {name: variables.scalars(name) for name in variables.names()}
    with ErrorPlace(top, "script"):
        workload = ad_hoc_script.workload(scripts, levels, is_mix=is_mix)
    for name in levels:
        with ErrorPlace(variables, name):
            ad_hoc_script.refuse_variable(name, workload)
    return workload


def _tests(top: TomlTable, workload: Workload) -> tuple[str, ...]:
    """``tests = ["load", "select"]``, or one as ``test = "load"``; a series is all of its tests."""
    key, named = _named_tests(top, workload)

    return read_words(partial(tests_named, workload), named, top, key)


def _named_tests(top: TomlTable, workload: Workload) -> tuple[str, tuple[str, ...]]:
    """The key, and the tests and series that it names."""
    top.refuse_both("test", "tests")
    key = "tests" if "tests" in top else "test"
    default = tuple(workload.tests) if workload.is_ad_hoc else (workload.default_test,)
    is_of_values = key == "test" and top.is_table(key)
    return key, default if is_of_values else top.texts(key, default)


def _systems(top: TomlTable, workload: Workload, on: Sequence[str]) -> tuple[SystemChoice, ...]:
    """``on``: those with which the rest of a file is read that names none."""
    default = tuple(on) or tuple(filter(None, [workload.default_system]))
    named = top.texts("systems", None if "systems" in top else default)
    read = partial(checked_choices.system_choices, folder=top.file.parent)
    choices = list(read_words(read, named, top, "systems")) if named else []
    if "system" in top and not top.is_table("system"):
        raise top.error(
            "system: expected tables [system.NAME] with settings",
            "system",
            hint="did you mean 'systems'?",
        )
    given, written = top.section("system"), choices
    for name in given.names():
        section = given.section(name)
        chosen = {own for choice in choices for own in choice.names}
        of_brackets = [checked_choices.own_settings(one) for one in written if name in one.names]
        for key in section.names():
            if any(key in own for own in of_brackets):
                raise section.error(
                    f"{key} of {name} stands in brackets in systems, too",
                    key,
                    hint="leave one of them out",
                )
        if name not in chosen:
            raise given.error(
                f"settings of {name}, which is not among the systems",
                name,
                hint=did_you_mean(name, chosen),
            )
        levels = {key: section.words(key) for key in section.names()}
        each = (({key: levels[key]}, ErrorPlace(section, key)) for key in levels)
        varied = partial(checked_choices.varied, choices, name)
        choices = read_parts(varied, levels, each, ErrorPlace(given, name))
    return identity.named_systems(choices)


def _systems_of_options(
    top: TomlTable, on: Sequence[str], said: Collection[str]
) -> tuple[SystemChoice, ...]:
    given = top.section("system")
    of_file = {
        name: {key: section.words(key) for key in section.names()}
        for name in given.names()
        for section in [given.section(name)]
    }
    choices = checked_choices.system_choices(on)
    return identity.named_systems(checked_choices.with_settings_of_file(choices, of_file, said))


class _Storages(NamedTuple):
    of_data: tuple[StorageChoice, ...]
    of_logs: tuple[StorageChoice | None, ...]
    prices: dict[str, StoragePrice]
    """Of those that have one."""


def _storages(top: TomlTable, *, is_quick: bool) -> _Storages:
    """``[quick.storage.NAME]`` has what the quick version has otherwise."""
    declared = top.section("storage")
    quickly = top.section("quick").section("storage")
    for name in quickly.names():
        if name not in declared:
            raise quickly.error(f"storage {name} is not declared in this file", name)
    found: dict[str, StorageChoice] = {}
    """By the names of the file."""
    costs: dict[str, StoragePrice] = {}
    of_data = top.texts("storages", ("here",))
    of_logs = [
        (name, number)
        for number, words in enumerate(top.texts("log_storage", ()))
        for name in checked_choices.split(words)
    ]
    named = {*of_data, *(name for name, _ in of_logs)}
    used = [name for name in declared.names() if name in named]
    for name in used:
        section = declared.section(name)
        changed = [quickly.section(name)] if name in quickly else []
        own = _declared_storage(name, [section])
        quick_one = _declared_storage(name, [section, *changed])
        found[name] = quick_one if is_quick else own
        if price := _price(section):
            costs[found[name].name] = price
        section.done()

    def chosen(name: str, key: str, number: int) -> tuple[StorageChoice | None, ...]:
        if name in found:
            return (found[name],)
        with ErrorPlace(top, key, number):
            try:
                if key == "log_storage":
                    return storage_words.log_storages([name], found.values())
                return storage_words.storage_choices([name])
            except ArgumentError as error:
                meant = nearest(name, [*registry.storages(), *declared.names()])
                if meant in declared.names():
                    error.hint = f"did you mean {meant!r}, which is declared in this file?"
                raise

    data = [
        one
        for number, name in enumerate(of_data)
        for one in chosen(name, "storages", number)
        if one is not None
    ]
    logs = [one for name, number in of_logs for one in chosen(name, "log_storage", number)]
    for name in declared.names():
        if name not in used:
            raise declared.error(
                f"storage {name} is declared but not among the storages",
                name,
                hint=f'storages = ["{name}"]',
            )
    return _Storages(tuple(data), tuple(logs), costs)


def _prices(top: TomlTable, storages: _Storages, systems: tuple[SystemChoice, ...]) -> Prices:
    """Those of the tables of storages, and those of ``price``."""
    given = read_words(
        lambda words: prices.of_words(words, storages.of_data, systems),
        top.texts("price", ()),
        top,
        "price",
    )
    with ErrorPlace(top, "price"):
        for name in given.of_storages:
            if name in storages.prices:
                raise ArgumentError(
                    f"{name} has two prices",
                    hint=f"leave out that of [storage.{name}], or this one",
                )
    found = Prices({**storages.prices, **given.of_storages}, given.of_systems)
    with ErrorPlace(top, "price" if "price" in top else "storages"):
        prices.refuse_several_currencies({**found.of_storages, **found.of_systems})
    return found


def _price(section: TomlTable) -> StoragePrice | None:
    """``price_per_gb = 0.60`` and ``currency = "EUR"``."""
    currency = section.text("currency", "")
    if "price_per_gb" not in section:
        if currency:
            raise section.error("currency without a price", "currency", hint="price_per_gb = 0.60")
        return None
    per_gb = section.number("price_per_gb", quantities.PRICE_PER_GB)
    with ErrorPlace(section, "currency"):
        return StoragePrice(per_gb, prices.currency(currency))


def _declared_storage(name: str, sections: list[TomlTable]) -> StorageChoice:
    """Keys of a later section win."""
    section = sections[0]
    if "kind" not in section.names():  # as a required key, which it is in the schema, too
        raise section.error(
            f"[storage.{name}] has no kind", hint=f'kind = "here", or another: {_kinds()}'
        )
    kind = section.choice("kind", registry.storages())
    directory = section.text("directory", "") or None
    options = {}
    for one in sections:
        for key in one.names():
            is_price = one is section and key in ("price_per_gb", "currency")
            if key not in ("kind", "directory") and not is_price:
                one.scalar(key)  # a single value
                with ErrorPlace(one, key):
                    options[key] = storage_words.option_value(kind, key, one.words(key)[0])
    with ErrorPlace(section, "kind"):
        return storage_words.declared_choice(name, kind, directory, options)


def _kinds() -> str:
    return ", ".join(registry.storages())


_PLACES = ("systems", "storages")


def read_tests(top: TomlTable, experiment: Experiment, workload: Workload) -> dict[str, OfTest]:
    """Raises `ExperimentError` with the line: a test that is not among those of the file, a level
    or a setting that does not apply to its test."""
    if "test" not in top or not top.is_table("test"):
        return {}
    declared = top.section("test")
    found = {}
    for name in declared.names():
        section = declared.section(name)
        if name not in experiment.tests:
            raise declared.error(
                f"settings of the test {name}, which is not among the tests",
                name,
                hint=did_you_mean(name, experiment.tests),
            )
        given = file_keys.read_levels(section, workload)
        if "systems" in section:
            given["systems"] = _chosen(section, "systems", experiment.systems)
        if "storages" in section:
            given["storages"] = _chosen(section, "storages", experiment.storages)
        section.done()
        with file_keys.ErrorPlace(declared, name):
            _check(given, name, experiment, workload)
        found[name] = given
    return found


def _chosen(section: TomlTable, key: str, known: Iterable[Any]) -> tuple[str, ...]:
    """Names of systems or storages of the file, for this test alone. A storage that carries a label
    (``disk (modelled)``) is named without it."""
    names = {name.partition(" (")[0]: name for one in known for name in one.names}
    found = section.texts(key)
    for number, name in enumerate(found):
        if name not in names:
            said = f"{name} is not among the {key} of this file"
            raise section.error(said, key, number, hint=did_you_mean(name, names))
    return tuple(names[name] for name in found)


def _check(given: OfTest, name: str, experiment: Experiment, workload: Workload) -> None:
    """Raises `ArgumentError` for what does not apply to the test, or is said twice."""
    own = {key: value for key, value in given.items() if key not in _PLACES}
    bare = Experiment(experiment.workload, (name,), experiment.systems)
    alone = bare.changed(OfTest(own))
    for parameter in alone.parameters:
        takers = workload.parameters[parameter].tests
        if takers and name not in takers:
            raise ArgumentError(f"{parameter} does not apply to {name}")
    refuse_repeated(alone)
    refuse_unused(alone, workload, Words(target=""))
