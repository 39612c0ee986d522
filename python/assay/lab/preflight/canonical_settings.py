"""Takes an experiment; returns it with each setting in the one spelling of its system, and each
version as the programs that it means, as far as they are here: what equals another level, or the
default, is then seen before anything starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay import registry
from assay.contracts.systems.abilities import Spelled, SpellsSettings
from assay.errors import ArgumentError, SystemUnderTestError
from assay.experiment import Experiment, SystemChoice
from assay.experiment.choices import profiles, system_names
from assay.experiment.settings.repeated_levels import refuse_repeated
from assay.provision.install import versions
from assay.text.mentions import Mention, phrase


def spelled(experiment: Experiment) -> Experiment:
    """Raises `ArgumentError` for a system or a setting that is thus given twice."""
    systems = tuple(map(_spelled, _with_programs(experiment.systems)))
    if systems == experiment.systems and not any(one.at_default or one.programs for one in systems):
        return experiment
    result = replace(experiment, systems=system_names.named(systems))
    refuse_repeated(result)
    return result


def _with_programs(choices: Sequence[SystemChoice]) -> Iterator[SystemChoice]:
    """Beside a version of a system, the same system without one has that which it would use."""
    versioned = {choice.name for choice in choices if choice.version}
    for choice in choices:
        try:
            yield versions.in_its_version(choice) if choice.name in versioned else choice
        except SystemUnderTestError:  # they are not here, which is said elsewhere
            yield choice


def _spelled(choice: SystemChoice) -> SystemChoice:
    system = registry.system(choice.name)
    if not choice.settings or choice.url is not None or not isinstance(system, SpellsSettings):
        return choice
    own = {name: one for name, one in choice.settings.items() if name not in choice.of_profile}
    try:
        found = _asked_of(system, choice, own)
        promised = _asked_of(system, choice, profiles.settings_of(choice))
    except SystemUnderTestError:  # its programs are not here, which is said elsewhere
        return choice
    _refuse_several_names(choice, found)
    of_profile = {one.name: one.value for one in promised}
    asked = [one for one in found if of_profile.get(one.name) != one.value]
    for one in asked:
        of_profile.pop(one.name, None)
    options = {name: one for name, one in choice.of_profile.items() if name in choice.options}
    at_default = [name for name in choice.at_default if name not in own]
    return replace(
        choice,
        settings={**of_profile, **{one.name: one.value for one in asked}},
        of_profile={**options, **of_profile},
        at_default=(*at_default, *(one.name for one in asked if one.is_default)),
    )


def _asked_of(
    system: SpellsSettings, choice: SystemChoice, settings: Mapping[str, str]
) -> Sequence[Spelled]:
    return system.spelled_settings(replace(choice, settings=settings)) if settings else ()


def _refuse_several_names(choice: SystemChoice, spelled: Sequence[Spelled]) -> None:
    names = [one.name for one in spelled]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(
                f"expected {choice.name}.{name} once, found it in several spellings of its name",
                hint=phrase(
                    "all its levels in one: {}", Mention("set", f"{choice.name}.{name}=A,B")
                ),
            )
