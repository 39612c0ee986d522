"""Takes the words of a command line; returns their `Experiment`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from assay import registry
from assay.contracts.driving import NATIVE, STOPS, DrivingChanges
from assay.contracts.driving import without as driving_without
from assay.contracts.experiment import (
    Experiment,
    ExperimentChanges,
    OfTest,
    StorageChoice,
    SystemChoice,
)
from assay.contracts.factors import CLIENT_PROGRAM, LOG_STORAGE, RTT, Scalar
from assay.contracts.systems.abilities import ChecksSettings
from assay.errors import ArgumentError, AssayError, ScriptError
from assay.experiment import origin, quick, setting_values, settings_validation
from assay.experiment.choices import (
    checked_choices,
    identity,
    prices,
    profiles,
    server_limits,
    storage_words,
)
from assay.experiment.settings_catalogue import SETTINGS, Words
from assay.experiment.settings_validation import refuse_repeated, refuse_unused, tests_named
from assay.text import paths
from assay.text.phrases import Mention, nearest, phrase
from assay.workload import ad_hoc_script
from assay.workload.ad_hoc_script import refuse_other_languages
from assay.workload.values import Workload

__all__ = ["Words", "asked", "experiment"]
_OF_NO_SYSTEM = "assay_has_no_such_setting"


def experiment(words: Words) -> quick.Asked:
    """As `asked`. Raises `NotOnThisMachine`, too, where a storage has no room or no place here."""
    result, workload = asked(words)
    if any(system.url is None for system in result.systems):
        storage_words.refuse_absent(result.all_storages, result.optional)
        storage_words.refuse_without_room(result)
    return result, workload


def asked(words: Words) -> quick.Asked:
    """The experiment that these words describe, and its workload, whatever this machine has.

    Words override the experiment file. Raises `ArgumentError` or `ExperimentError`.
    """
    if words.scale is not None:
        words = structs.replace(words, set=(*words.set, f"scale={words.scale}"), scale=None)
    full, quickly = _start(words)
    start, workload = quickly
    systems = start.systems
    if not words.on:  # a setting may replace a list of the file
        systems = checked_choices.each_once(systems, _keys(words))

    try:
        systems, parameters = checked_choices.apply(words.set, systems, workload)
    except checked_choices.UnknownParameter as error:
        raise settings_validation.corrected(error, workload, words.set) from None
    systems = identity.named_systems(systems)
    given = _given(words, start, systems)
    options = set(given) - {"driving"} | ({"systems"} if words.on else set())
    result = replace(
        start.changed(given),
        systems=systems,
        parameters={**start.parameters, **parameters},
        optional=tuple(name for name in start.optional if name not in _typed_machines(words)),
        of_tests=_without_tests(start.of_tests, options, parameters, _driving(words)),
    )
    refuse_repeated(result)
    check_groups(result, workload)
    check_parameters_are_used(result, workload)
    result = ad_hoc_script.with_contents(check_feed(result, workload), workload)
    refuse_other_languages(result)
    refuse_unused(result, workload, words)
    _check_log(result, words)
    if words.erase:
        result = _erasing(result)
    if not result.is_ad_hoc and (result.is_quick or result.reproduces):
        result = replace(result, scaled=quick.scaled(full, quickly, (result, workload)))
    if not words.trust and origin.is_of_capsule(start, words.target):
        _refuse_programs(result, words)
        result = replace(result, is_confined=True)
    result = replace(result, profiles=tuple(profiles.used(result.systems)))
    storage_words.refuse_shared_devices(result)
    storage_words.check_choices(result.systems, result.storages)
    storage_words.unavailable(result.all_storages)
    if result.levels.get(RTT.name) and all(storage.rtt_s for storage in result.storages):
        raise ArgumentError(
            phrase("{--rtt} has no effect: each storage has a round-trip time of its own"),
            hint=phrase("leave out {--rtt}, or the rtt of a storage"),
        )
    return result, workload


def proposed_system(words: Words) -> str | None:
    """None where the words or an experiment file name systems; else the one to propose, which is
    empty for a script."""
    if words.on or words.target.endswith(".toml"):
        return None
    _, workload = _from_target(words)
    return workload.default_system


def insist_on_systems(words: Words) -> None:
    """Raises `ArgumentError` where neither the words nor an experiment file name a system."""
    if proposed_system(words) is not None:
        checked_choices.system_choices(())


def _refuse_programs(experiment: Experiment, words: Words) -> None:
    """Raises `ArgumentError` where a capsule alone names a directory of programs."""
    named = [one.programs for one in experiment.systems if one.build]
    if named and not words.on:
        raise ArgumentError(
            f"the capsule names a directory of programs, {named[0]}: Assay starts only programs "
            "that you name",
            hint=phrase(
                "name all its systems: {}; or {--trust}, and it starts what is there",
                Mention("on", "SYSTEM:DIRECTORY,…"),
            ),
        )


def _start(words: Words) -> tuple[quick.Asked, quick.Asked]:
    """What the file, the workload or the scripts alone ask for: in full, and as it is taken here,
    which may be the quick version."""
    if not words.target.endswith(".toml"):
        asked, workload = _from_target(words)
        on = words.on or (workload.default_system,)
        full = replace(asked, systems=checked_choices.system_choices(on)), workload
        return full, quick.version_of(*full) if words.quick else full
    file = registry.experiment_file(words.target)
    said = _keys(words)
    from assay.experiment import from_file

    full = start, workload = from_file.read(file, on=words.on, said=said)
    if words.quick:
        start, workload = from_file.read(file, is_quick=True, on=words.on, said=said)
    if words.script:
        if start.is_ad_hoc:
            scripts, is_mix = ad_hoc_script.levels_and_mix(words.script)
            workload = ad_hoc_script.workload(scripts, start.parameters, is_mix=is_mix)
            fields = ad_hoc_script.experiment_of(scripts, workload, is_mix=is_mix)
            start = replace(start, **fields)
        else:
            start = replace(start, scripts=ad_hoc_script.mix_in_place(words.script))
            workload = ad_hoc_script.workload_of(start)
    return full, (start, workload)


def _keys(words: Words) -> list[str]:
    return [checked_choices.key_and_values(word)[0] for word in words.set]


def _given(words: Words, start: Experiment, systems: Sequence[SystemChoice]) -> ExperimentChanges:
    """The fields of `Experiment` that the words set, without systems and parameters. ``systems``:
    those of the experiment."""
    found = {
        setting.experiment_field: setting_values.value(setting, getattr(words, name))
        for name, setting in SETTINGS.items()
        if setting.experiment_field and words.has(name)
    }
    given = ExperimentChanges({key: one for key, one in found.items() if one is not None})
    given.update(_clients(words.clients))
    if words.log_storage:
        given[LOG_STORAGE.asked] = _log_storages(words, start)
    given.update(_prices(words, start, systems))
    given["driving"] = {**start.driving, **_driving(words)}
    return given


def _from_target(words: Words) -> tuple[Experiment, Workload]:
    """``WORKLOAD`` or ``WORKLOAD.TEST,…``, the workload by name or by path; or an ad hoc script."""
    if not words.target or ad_hoc_script.is_script(words.target):
        return _from_scripts(words)
    scripts = ad_hoc_script.mix_in_place(words.script)
    name, test = words.target, ""
    head, _, tail = _with_one_name(words.target).rpartition(".")
    path = Path(words.target)
    is_path = paths.is_folder(path) or paths.is_file(path)
    is_whole = is_path or words.target in registry.workloads()
    if not is_whole and head and tail and "/" not in tail:
        name, test = head, tail
        if not registry.is_workload(head) and (meant := _script_like(path)):
            raise ArgumentError(f"there is no {words.target}", hint=f"did you mean {meant}?")
    from assay.workload import reader

    workload = reader.read(name)
    asked = Experiment(
        workload=paths.with_name(name),
        tests=_test_names(workload, test),
        systems=(),
        scripts=scripts,
        series=workload.series_among(checked_choices.split(test)),
    )
    return asked, ad_hoc_script.with_scripts(workload, scripts, asked.tests)


def _script_like(path: Path) -> Path | None:
    """The script file beside it whose name is nearly that."""
    with suppress(OSError):
        files = (one.name for one in path.parent.iterdir())
        if found := nearest(path.name, filter(ad_hoc_script.is_script, files)):
            return path.with_name(found)
    return None


def _with_one_name(target: str) -> str:
    """``tpcb.select-only,tpcb.simple-update`` as ``tpcb.select-only,simple-update``."""
    first, *rest = target.split(",")
    name = first.rpartition(".")[0]
    return ",".join((first, *(word.removeprefix(f"{name}.") for word in rest)))


def _test_names(workload: Workload, words: str) -> tuple[str, ...]:
    """``load``, ``load,update``, the name of a series, or ``*`` for all tests; nothing for the
    default one."""
    if words == "*":
        return tuple(workload.tests)
    named = checked_choices.split(words) or [workload.default_test]
    return tests_named(workload, named)


def _with_systems(words: Words, name: str, levels: tuple[Scalar, ...]) -> str:
    """How to spell it as a setting of the systems that have one of this name; empty: none has."""
    value = ",".join(map(str, levels))
    choices = checked_choices.system_choices(words.on) if words.on else ()
    found = dict.fromkeys(
        f"{choice.name}.{name}={value}"
        for choice in choices
        if _takes(choice, name, value) and not _takes(choice, _OF_NO_SYSTEM, value)
    )
    if not found:
        return ""
    settings_said = " ".join("{}" for _ in found)
    return phrase(
        f"as a setting of a system: {settings_said}", *(Mention("set", one) for one in found)
    )


def _takes(choice: SystemChoice, name: str, value: str) -> bool:
    """Whether the system has such a setting, or takes any. Starts no server."""
    system = registry.system(choice.name)
    asked = replace(choice, settings={name: value})
    try:
        system.check(asked)
        if choice.url is None and isinstance(system, ChecksSettings):
            system.refuse_settings(asked)
    except AssayError:
        return False
    return True


def _from_scripts(words: Words) -> tuple[Experiment, Workload]:
    """An ad hoc script: every ``--set NAME=VALUE`` without a system's name is a variable of it."""
    named = (words.target, *words.script) if words.target else words.script
    scripts, is_mix = ad_hoc_script.levels_and_mix(named)
    variables: dict[str, tuple[Scalar, ...]] = {}
    for word in words.set:
        name, values = checked_choices.key_and_values(word)
        if "." not in name:
            variables[name] = ad_hoc_script.inferred(values)
    workload = ad_hoc_script.workload(scripts, variables, is_mix=is_mix)
    for name in variables:
        try:
            ad_hoc_script.refuse_variable(name, workload)
        except ArgumentError as error:
            error.hint = _with_systems(words, name, variables[name]) or error.hint
            raise
    fields = ad_hoc_script.experiment_of(scripts, workload, is_mix=is_mix)
    asked = Experiment(systems=(), **fields)
    return asked, workload


def _clients(words: str | None) -> ExperimentChanges:
    """The value of ``--clients``, which replaces all clients of an experiment file."""
    if words is None:
        return ExperimentChanges()
    if setting_values.are_client_counts_of_groups(words):
        return ExperimentChanges(
            clients=(), group_clients=setting_values.client_counts_of_groups(words)
        )
    return ExperimentChanges(clients=setting_values.client_counts(words), group_clients={})


def _typed_machines(words: Words) -> set[str]:
    """What was typed is not optional."""
    return {name for name in server_limits.FACTORS if words.has(name)}


def _log_storages(words: Words, start: Experiment) -> tuple[StorageChoice | None, ...]:
    storages = storage_words.storage_choices(words.storage) or start.storages
    return storage_words.log_storages(words.log_storage, storages)


def _erasing(asked: Experiment) -> Experiment:
    """What is on the devices of its storages may be destroyed."""
    logs = tuple(storage and replace(storage, may_erase=True) for storage in asked.log_storages)
    return replace(
        asked,
        storages=tuple(replace(storage, may_erase=True) for storage in asked.storages),
        levels={**asked.levels, LOG_STORAGE.name: logs},
    )


def _prices(words: Words, start: Experiment, systems: Sequence[SystemChoice]) -> ExperimentChanges:
    """Those of the file, of storages and systems that are used, with the words' in their place."""
    storages = storage_words.storage_choices(words.storage) or start.storages
    given = prices.of_words(words.price, storages, systems)
    names = [storage.name for storage in storages]
    labels = [system.label for system in systems]
    of_storages = {name: price for name, price in start.prices.items() if name in names}
    of_systems = {label: price for label, price in start.system_prices.items() if label in labels}
    of_storages |= given.of_storages
    of_systems |= given.of_systems
    prices.refuse_several_currencies({**of_storages, **of_systems})
    return ExperimentChanges(prices=of_storages, system_prices=of_systems)


def _driving(words: Words) -> DrivingChanges:
    """The fields of `Driving` that the words set."""
    found = {
        setting.driving_field: setting_values.value(setting, getattr(words, name))
        for name, setting in SETTINGS.items()
        if setting.driving_field and words.has(name)
    }
    given = DrivingChanges(found)
    if words.log:
        given["log_sample"] = words.log_sample or 1.0
    return given


def check_parameters_are_used(experiment: Experiment, workload: Workload) -> None:
    """Raises `ArgumentError` for a parameter that none of the chosen tests has."""
    for name in experiment.parameters:
        takers = workload.parameters[name].tests
        if takers and not set(takers) & set(experiment.tests):
            raise ArgumentError(
                f"{name} does not apply to {', '.join(experiment.tests)}",
                hint=f"it is a parameter of {workload.name}.{f', {workload.name}.'.join(takers)}",
            )


def check_groups(experiment: Experiment, workload: Workload) -> None:
    """Raises `ArgumentError` for a group of clients that none of the chosen tests has."""
    groups = {group.name for name in experiment.tests for group in workload.test(name).groups}
    for name in experiment.group_clients:
        tests = ", ".join(map(workload.full_name, experiment.tests))
        if not groups:
            raise ArgumentError(
                phrase(
                    "{--clients} names the group {!r}, and {} has no groups of clients", name, tests
                ),
                hint=phrase("{--clients 8}, or a test with groups (`assay list workloads`)"),
            )
        if name not in groups:
            raise registry.unknown(f"group of clients in {tests}", name, sorted(groups))


def _check_log(experiment: Experiment, words: Words) -> None:
    """Raises `ArgumentError` where the clients' transactions cannot be written one by one."""
    if words.log_sample is not None and words.log is None:
        raise ArgumentError(
            phrase("{--log-sample} needs {--log}"), hint=phrase("{--log transactions.csv}")
        )
    if words.log is not None and NATIVE in experiment.levels.get(CLIENT_PROGRAM.name, ()):
        raise ArgumentError(
            phrase(
                "{--log}: the system's own client programs ({--client-program native}) say "
                "nothing of single transactions"
            ),
            hint=phrase("leave {--log} out, or {--client-program native}"),
        )


def check_feed(experiment: Experiment, workload: Workload) -> Experiment:
    """With the digest of the file. Raises `ScriptError` where the file cannot be read,
    `ArgumentError` where the test runs no scripts."""
    if experiment.feed is None:
        return experiment
    text = paths.read_text(Path(experiment.feed), ScriptError)
    for name in experiment.tests:
        test = workload.test(name)
        if test.only_drive is None:
            why = "steps have scripts of their own" if test.drives else "clients run no scripts"
            raise ArgumentError(
                phrase("{--feed} does not apply to {}, whose {}", workload.full_name(name), why)
            )
    return replace(experiment, feed_content=paths.text_digest(text))


def _without_tests(
    of_tests: Mapping[str, OfTest],
    fields: Iterable[str],
    parameters: Iterable[str],
    driving: Iterable[str],
) -> dict[str, OfTest]:
    """``of_tests`` where something that is said elsewhere takes the place of these fields, levels
    of these parameters, and these settings of the driving."""
    limits = STOPS if set(driving) & set(STOPS) else ()
    gone_levels = set(parameters)
    dropped = set(fields)
    if dropped & {"clients", "group_clients"}:
        dropped |= {"clients", "group_clients"}
    left: dict[str, OfTest] = {}
    for name, said in of_tests.items():
        kept = {key: value for key, value in said.items() if key not in dropped}
        left[name] = of_test = OfTest(kept)
        if "parameters" in of_test:
            own = of_test["parameters"].items()
            of_test["parameters"] = {one: levels for one, levels in own if one not in gone_levels}
        if "driving" in of_test:
            of_test["driving"] = driving_without(of_test["driving"], {*driving, *limits})
    return left
