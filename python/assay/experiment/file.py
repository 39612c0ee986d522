"""Takes an experiment file (TOML); returns its `Experiment`, or raises an error with the line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from assay import registry
from assay.errors import ArgumentError
from assay.experiment import machines, quick, settings, storage_words
from assay.experiment.spelling import of_file, respell
from assay.experiment.values import (
    PROTOCOLS,
    Experiment,
    Scalar,
    ScriptFile,
    StorageChoice,
    SystemChoice,
)
from assay.files import paths, toml_file
from assay.files.toml_file import Section
from assay.text import quantities
from assay.text.nearest import did_you_mean, nearest
from assay.workload import ad_hoc_script, driving, reader
from assay.workload.values import Workload

OFFERED_RATE = "offered_rate_per_s"


def read(file: Path, *, is_quick: bool = False) -> tuple[Experiment, Workload]:
    """Reads the file; every name in it is checked. Paths in it are relative to its folder.
    ``is_quick``: the quick version of what it says.

    Raises `ExperimentError` with the line, `ArgumentError` where the workload is not known.
    """
    top = toml_file.read(file)
    scripts = _scripts(top)
    is_ad_hoc = bool(scripts) and "workload" not in top
    workload = _ad_hoc_workload(top, scripts) if is_ad_hoc else _workload(top, scripts)
    drive = top.section("drive")
    rates = _offered_rates(drive)
    experiment = Experiment(
        workload=workload.name if is_ad_hoc else _workload_name(top),
        tests=_tests(top, workload),
        systems=_systems(top, workload),
        storages=_storages(top),
        clients=() if top.is_table("clients") else top.wholes("clients", quantities.CLIENTS, ()),
        group_clients=_group_clients(top),
        parameters=_parameters(top.section("parameters"), workload),
        repetitions=top.whole("repetitions", quantities.REPETITIONS, 1),
        order=top.choice("order", settings.ORDERS, "interleaved"),
        seed=top.whole("seed", quantities.SEED, 1),
        threads=top.whole("threads", quantities.THREADS, 0),
        **_machines(top),
        protocol=top.choice("protocol", PROTOCOLS) if "protocol" in top else None,
        input_paths=tuple(str(file.parent / path) for path in _input(top)),
        encoding=top.text("encoding", "utf-8"),
        keep_going=top.boolean("keep_going", False),
        feed=str(file.parent / top.text("feed")) if "feed" in top else None,
        scripts=scripts,
        is_ad_hoc=is_ad_hoc,
        driving=_driving(drive),
        offered_rates_per_s=rates,
        caches=_caches(top),
        title=top.text("title", ""),
        reproduces=top.text("reproduces", ""),
    )
    quickly = _quick(top, workload)
    top.done()
    if is_quick:
        return quick.version_of(experiment, workload, quickly)
    return experiment, workload


def _caches(top: Section) -> tuple[str, ...]:
    """``cache = ["cold", "warm"]``; empty: not said."""
    if "cache" not in top:
        return ()
    with _placed(top, "cache"):
        return settings.caches(top.texts("cache"))


def _machines(top: Section) -> dict[str, Any]:
    """``memory = ["8GB", "none"]``, ``cpus = [2, 1]``, ``rtt = [0, "1ms"]``: the levels of each."""
    found = {}
    for name, (field, read) in machines.FACTORS.items():
        if name in top:
            with _placed(top, name):
                found[field] = read(top.words(name))
    return found


def _quick(top: Section, workload: Workload) -> dict[str, Any]:
    """``[quick]``: what the quick version has in place of what the file says elsewhere."""
    section = top.section("quick")
    said: dict[str, Any] = {}
    if "repetitions" in section:
        said["repetitions"] = section.whole("repetitions", quantities.REPETITIONS)
    if section.is_table("clients"):
        said["group_clients"] = _group_clients(section)
    elif "clients" in section:
        said["clients"] = section.wholes("clients", quantities.CLIENTS)
    if parameters := _parameters(section.section("parameters"), workload):
        said["parameters"] = parameters
    drive = section.section("drive")
    if rates := _offered_rates(drive):
        said["offered_rates_per_s"] = rates
    if given := _driving(drive):
        said["driving"] = given
    section.done()
    return said


def _group_clients(top: Section) -> dict[str, tuple[int, ...]]:
    """``clients = { readers = [4, 8], writers = 2 }``: client counts by group."""
    if not top.is_table("clients"):
        return {}
    section = top.section("clients")
    return {name: section.wholes(name, quantities.CLIENTS) for name in section.names()}


def _input(top: Section) -> tuple[str, ...]:
    """Files to read; ``bib`` is the key of older files."""
    return (*top.texts("input", ()), *top.texts("bib", ()))


def _workload_name(top: Section) -> str:
    """The name of the workload, or its path where it is relative to the file's folder."""
    name = top.text("workload")
    if name not in registry.workloads() and paths.is_folder(top.file.parent / name):
        return str(top.file.parent / name)
    return name


def _workload(top: Section, scripts: tuple[ScriptFile, ...]) -> Workload:
    with _placed(top, "workload"):
        read = reader.read(_workload_name(top))
    with _placed(top, "script"):
        return ad_hoc_script.with_scripts(read, scripts, _tests(top, read))


def _scripts(top: Section) -> tuple[ScriptFile, ...]:
    """``script = ["a.sql", "b.sql@3"]``, relative to the file's folder."""
    with _placed(top, "script"):
        named = [ad_hoc_script.script_file(script) for script in top.texts("script", ())]
    return tuple(replace(script, path=str(top.file.parent / script.path)) for script in named)


def _ad_hoc_workload(top: Section, scripts: tuple[ScriptFile, ...]) -> Workload:
    """The workload of ad hoc scripts, whose parameters are their variables."""
    variables = top.section("parameters")
    levels = {name: variables.scalars(name) for name in variables.names()}
    with _placed(top, "script"):
        workload = ad_hoc_script.workload(scripts, levels)
    for name in levels:
        with _placed(variables, name):
            ad_hoc_script.refuse_unused(name, workload)
    return workload


def _driving(section: Section) -> dict[str, Any]:
    """``[drive]``, with the keys of a test; the levels of the offered rate are read elsewhere."""
    given = driving.read(section, {}, passed_over=(OFFERED_RATE,))
    if "allow_shell" in section:
        given["allow_shell"] = section.boolean("allow_shell")
    section.done()
    return given


def _offered_rates(section: Section) -> tuple[float, ...]:
    if OFFERED_RATE not in section:
        return ()
    return section.numbers(OFFERED_RATE, quantities.OFFERED_RATE_PER_S)


def _tests(top: Section, workload: Workload) -> tuple[str, ...]:
    with _placed(top, "test"):
        return tuple(
            workload.test(name).name for name in top.texts("test", (workload.default_test,))
        )


def _systems(top: Section, workload: Workload) -> tuple[SystemChoice, ...]:
    with _placed(top, "systems"):
        choices = list(settings.system_choices(top.texts("systems", (workload.default_system,))))
    if "system" in top and not top.is_table("system"):
        raise top.error(
            "system: expected tables [system.NAME] with settings",
            "system",
            hint="did you mean 'systems'?",
        )
    given = top.section("system")
    for name in given.names():
        section = given.section(name)
        chosen = {choice.name for choice in choices}
        if name not in chosen:
            raise given.error(
                f"settings of {name}, which is not among the systems",
                name,
                hint=did_you_mean(name, chosen),
            )
        with _placed(given, name):
            levels = {key: section.words(key) for key in section.names()}
            choices = settings.varied(choices, name, levels)
    return tuple(choices)


def _storages(top: Section) -> tuple[StorageChoice, ...]:
    declared = top.section("storage")
    sections = {name: declared.section(name) for name in declared.names()}
    chosen = []
    for name in top.texts("storages", ("here",)):
        if name in sections:
            chosen.append(_declared_storage(name, sections.pop(name)))
            continue
        with _placed(top, "storages"):
            try:
                chosen += storage_words.storage_choices([name])
            except ArgumentError as error:
                meant = nearest(name, [*registry.storages(), *sections])
                if meant in sections:
                    error.hint = f"did you mean {meant!r}, which is declared in this file?"
                raise
    for name in sections:
        raise declared.error(
            f"storage {name} is declared but not among the storages",
            name,
            hint=f'storages = ["{name}"]',
        )
    return tuple(chosen)


def _declared_storage(name: str, section: Section) -> StorageChoice:
    if "kind" not in section:
        raise section.error(
            f"[storage.{name}] has no kind", hint=f'kind = "here", or another: {_kinds()}'
        )
    kind = section.choice("kind", registry.storages())
    directory = section.text("directory", "") or None
    options = {}
    for key in section.names():
        if key not in ("kind", "directory"):
            section.scalar(key)  # a single value
            with _placed(section, key):
                options[key] = storage_words.option_value(kind, key, section.words(key)[0])
    return storage_words.declared_choice(name, kind, directory, options)


def _kinds() -> str:
    return ", ".join(registry.storages())


def _parameters(section: Section, workload: Workload) -> dict[str, tuple[Scalar, ...]]:
    levels = {}
    for name in section.names():
        with _placed(section, name):
            levels[name] = settings.parameter_levels(workload, name, section.words(name))
    return levels


class _placed:  # noqa: N801  (used as a statement)
    """Gives an `ArgumentError` raised inside the block the location of a key in the file, and makes
    it name keys in place of options."""

    def __init__(self, section: Section, key: str) -> None:
        self._section = section
        self._key = key

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: Any, error: BaseException | None, _trace: Any) -> None:
        if isinstance(error, ArgumentError):
            respell(error, of_file)
            raise self._section.error(error.message, self._key, hint=error.hint) from error
