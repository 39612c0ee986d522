"""Takes a word that is being typed; returns the names with which it could go on.

Each function completes one kind of argument (``shell_complete`` of an option). Only what the word
needs is imported: a list of names comes from the registry, which imports nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from assay import registry
from assay.contracts import capabilities
from assay.contracts.plugins import OptionSpec
from assay.contracts.storages.protocol import SHARED_OPTIONS
from assay.errors import AssayError

if TYPE_CHECKING:
    from assay.dialects.limits import Limited
    from assay.load.row_sources.protocol import Download

Items = list[CompletionItem[str]]
Completer = Callable[[click.Context, click.Parameter, str], Items]


def in_a_list(completer: Completer) -> Completer:
    """Completes the last of several words that are separated by commas."""

    def complete(ctx: click.Context, parameter: click.Parameter, typed: str) -> Items:
        at = _last_comma(typed) + 1
        taken = set(typed[:at].split(","))
        return [
            CompletionItem(typed[:at] + item.value, help=item.help)
            for item in completer(ctx, parameter, typed[at:])
            if item.value not in taken
        ]

    return complete


def _last_comma(typed: str) -> int:
    """The place of the last comma that is outside brackets; -1: there is none."""
    depth, found = 0, -1
    for at, letter in enumerate(typed):
        depth += {"[": 1, "]": -1}.get(letter, 0)
        found = at if letter == "," and depth == 0 else found
    return found


def system(_ctx: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """``NAME``, ``NAME@VERSION`` of those that are here, ``FAMILY:MEMBER``, or an option in
    brackets: ``NAME[key=value``."""
    name, bracket, _ = typed.partition("[")
    if bracket:
        return _in_brackets(typed, _options_of_system(name))
    if "@" in name:
        return _beginning(typed, _versions(name.partition("@")[0]))
    family, colon, _ = typed.partition(":")
    if colon and family in registry.families():
        return _beginning(
            typed, (f"{family}:{one}" for one in registry.family(family).known_members)
        )
    return _beginning(typed, [*registry.systems(), *(f"{one}:" for one in registry.families())])


def installable(ctx: click.Context, parameter: click.Parameter, typed: str) -> Items:
    """A system, or a data set."""
    return [
        *system(ctx, parameter, typed),
        *_beginning(typed, {name: one.help for name, one in data_sets().items()}),
    ]


def storage(_ctx: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """``KIND``, or an option in brackets: ``KIND[key=value``."""
    kind, bracket, _ = typed.partition("[")
    if bracket:
        return _in_brackets(typed, _options_of_storage(kind.rpartition("=")[2]))
    return _beginning(typed, registry.storages())


def workload(_ctx: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """The names of the built-in workloads."""
    return _beginning(typed, registry.workloads())


def target(ctx: click.Context, parameter: click.Parameter, typed: str) -> Items:
    """``WORKLOAD``, ``WORKLOAD.TEST,TEST``, or a file that says what to run: one that is
    there, or a built-in experiment."""
    name, dot, tests = typed.partition(".")
    if not dot or name not in registry.workloads():
        files = _files(typed, (".toml", *capabilities.ENDINGS))
        there = {item.value for item in files}
        built_in = (f"{one}.toml" for one in registry.experiments())
        named = [item for item in _beginning(typed, built_in) if item.value not in there]
        return [*workload(ctx, parameter, typed), *named, *files]
    from assay.workload import reader

    try:
        read = reader.read(name)
    except AssayError:
        return []
    titles = {test.name: test.title for test in read.tests.values()}
    titles |= {name: str(declared["title"]) for name, declared in read.series.items()}
    earlier, comma, last = tests.rpartition(",")
    begun = f"{name}.{earlier}{comma}"
    return [
        CompletionItem(begun + test, help=title)
        for test, title in titles.items()
        if test.startswith(last) and test not in earlier.split(",")
    ]


def setting(ctx: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """``PARAMETER=VALUE`` of the workload that is run, or ``SYSTEM.OPTION=VALUE``."""
    from assay.experiment.choices.written_systems import split_systems

    words = [word for on in ctx.params.get("on") or () for word in split_systems(on) if word]
    chosen = [word.partition("[")[0].partition("@")[0] for word in words]
    for name in chosen:
        if typed.startswith(f"{name}."):
            options = _options_of_system(name)
            return _key_and_value(typed, {f"{name}.{one.name}": one for one in options})
    specs = _parameters(ctx)
    systems = [f"{name}." for name in dict.fromkeys(chosen)]
    return [
        *_key_and_value(typed, {spec.name: spec for spec in specs}),
        *_beginning(typed, systems),
    ]


def limited_dialect(_ctx: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """The names of the dialects that declare limits."""

    return _beginning(typed, [*limited_dialects()])


def dialect(_ctx: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    return _beginning(typed, sorted({one.dialect.name for _, one in registry.usable_systems()}))


def metric(_ctx: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """The names of metrics that are compared."""
    from assay.record.metrics.catalogue import COMPARED

    return _beginning(typed, {one.name: one.meaning for one in COMPARED.values()})


def factor(ctx: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """``FACTOR``, or ``FACTOR=LEVEL,LEVEL``: of the sides that are named before, what has several
    levels."""
    from assay.cli.options import experiment_references
    from assay.comparison import factors

    path = next(iter(_records(ctx)))
    words = [str(one) for one in (ctx.params.get("a"), ctx.params.get("b"), *ctx.args) if one]
    try:
        found = [one for word in words for one in experiment_references.experiments(word, path)]
    except AssayError:
        return []
    runs = [run for one in found for run in one.runs]
    levels = {name: factors.levels_of(runs, name) for name in factors.known_factors(runs)}
    several = {name: several for name, several in levels.items() if len(several) > 1}
    name, equals, _ = typed.partition("=")
    if equals:
        return _key_and_value(typed, {name: OptionSpec(name, "", tuple(several.get(name, ())), "")})
    return _beginning(typed, {name: ", ".join(known) for name, known in several.items()})


def recorded_test(ctx: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """The workloads and tests of the record files."""
    from assay.record import Store

    found: dict[str, None] = {}
    for path in _records(ctx):
        try:
            with Store(path, must_exist=True) as store:
                runs = store.runs()
        except AssayError:
            continue
        found |= dict.fromkeys(Path(run.workload).name for run in runs)
        found |= dict.fromkeys(run.full_test_name for run in runs)
    return _beginning(typed, found)


def _records(ctx: click.Context) -> Iterable[Path]:
    """The record files of the words before."""
    from assay.experiment.settings_catalogue import DEFAULT_FILE_NAME

    given = ctx.params.get("records") or (DEFAULT_FILE_NAME,)
    return [Path(one) for one in (given if isinstance(given, list | tuple) else [given])]


def _parameters(ctx: click.Context) -> list[OptionSpec]:
    """Those of the workload in the words before, in its chosen test."""
    # In ``ctx.args`` where the option that is typed has no value yet: the words end there.
    given = (ctx.params.get("target"), ctx.params.get("workload"), *ctx.args)
    word = next((str(one) for one in given if one), "")
    if not word:
        return []
    from assay.workload import reader

    name, _, test = word.partition(".")
    if name not in registry.workloads() and (Path(word) / registry.WORKLOAD_FILE).is_file():
        name, test = word, ""
    try:
        read = reader.read(name)
    except AssayError:
        return []
    chosen = {one for one in test.split(",") if one}
    return [
        OptionSpec(one.name, str(one.default), one.levels, one.help)
        for one in read.parameters.values()
        if not chosen or not one.tests or chosen & set(one.tests)
    ]


def _options_of_system(name: str) -> Iterable[OptionSpec]:
    from assay.experiment.choices import profiles

    name = name.partition("@")[0]
    try:
        profile = profiles.option(name)
        return [*registry.system(name).option_specs, *([profile] if profile else [])]
    except AssayError:
        return ()


def _versions(name: str) -> Iterable[str]:
    from assay.provision.install import cache
    from assay.text.versions import version_numbers

    try:
        known = cache.programs_here(registry.system(name))
    except AssayError:
        return ()
    return [f"{name}@{version_numbers(one.version)}" for one in known]


def _options_of_storage(kind: str) -> Iterable[OptionSpec]:
    try:
        return (*registry.storage(kind).option_specs, *SHARED_OPTIONS)
    except AssayError:
        return ()


def _in_brackets(typed: str, options: Iterable[OptionSpec]) -> Items:
    """The last option of ``NAME[key=value,key=value``."""
    at = max(typed.rfind("["), typed.rfind(",")) + 1
    items = _key_and_value(typed[at:], {one.name: one for one in options})
    return [CompletionItem(typed[:at] + item.value, help=item.help) for item in items]


def _key_and_value(typed: str, known: dict[str, OptionSpec]) -> Items:
    """``key=``, or behind the equals sign the last of its levels."""
    key, equals, values = typed.partition("=")
    if not equals:
        return _beginning(typed, {f"{name}=": spec.help for name, spec in known.items()})
    spec = known.get(key)
    earlier, comma, last = values.rpartition(",")
    levels = () if spec is None else spec.levels or (spec.default,)
    return [
        CompletionItem(f"{key}={earlier}{comma}{level}")
        for level in levels
        if level and level.startswith(last) and level not in earlier.split(",")
    ]


def _beginning(typed: str, names: Iterable[str]) -> Items:
    """``names``: those of a mapping have a help."""
    helps = names if isinstance(names, Mapping) else {}
    return [CompletionItem(one, help=helps.get(one)) for one in names if one.startswith(typed)]


def _files(typed: str, endings: tuple[str, ...]) -> Items:
    """Files that have one of these endings, and folders, which go on; none whose name has letters
    that a terminal cannot show."""
    folder, slash, begun = typed.rpartition("/")
    try:
        entries = sorted(os.scandir((folder or slash) or "."), key=lambda entry: entry.name)
    except OSError:
        return []
    found = []
    for entry in entries:
        is_hidden = entry.name.startswith(".") and not begun
        if is_hidden or not entry.name.startswith(begun) or not entry.name.isprintable():
            continue
        if entry.is_dir():
            found.append(f"{folder}{slash}{entry.name}/")
        elif entry.name.endswith(endings):
            found.append(f"{folder}{slash}{entry.name}")
    return [CompletionItem(name) for name in found]


def limited_dialects() -> Mapping[str, Limited]:
    """Those of systems, and those that a DB-API module can speak."""
    from assay.dialects.limits import Limited

    return {name: one for name, one in registry.dialects().items() if isinstance(one, Limited)}


def data_sets() -> Mapping[str, Download]:
    """Those that can be downloaded, by their names."""
    sources = map(registry.row_source, registry.row_sources())
    return {one.name: one for source in sources for one in source.downloads}
