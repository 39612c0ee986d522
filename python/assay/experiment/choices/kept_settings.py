"""Takes systems that options name, and what an experiment file says of systems; returns the choices
with the settings of the file that no option replaces."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from assay import registry
from assay.contracts.experiment import SystemChoice
from assay.experiment.choices import checked_choices, profiles, url_storages
from assay.experiment.choices.checked_choices import Levels
from assay.experiment.choices.profiles import PROFILE
from assay.experiment.choices.system_identity import of_choice


def with_settings_of_file(
    choices: Iterable[SystemChoice],
    of_file: Mapping[str, Levels],
    said: Collection[str],
) -> tuple[SystemChoice, ...]:
    """Each choice with every combination of the levels that the file has for its system. Those of
    ``said``, ``SYSTEM.KEY``, and what a choice says itself go before. A server by URL has the
    settings that it has."""
    result: list[SystemChoice] = []
    for choice in choices:
        several = [choice]
        for name in choice.names if _is_configured(choice) else ():
            own = {*_own(choice), *_own_of_names(choice, said), *_of_urls(choice)}
            levels = of_file.get(name, {})
            left = {key: values for key, values in levels.items() if key not in own}
            several = checked_choices.varied(several, name, left)
        result += several
    return tuple(result)


def each_once(choices: Sequence[SystemChoice], said: Collection[str]) -> tuple[SystemChoice, ...]:
    """Without those that differ from an earlier one in keys alone that are ``said``, which are
    replaced."""
    return tuple({_without(one, said): one for one in reversed(choices)}.values())[::-1]


def _without(choice: SystemChoice, said: Iterable[str]) -> str:
    own = _own_of_names(choice, said)
    if PROFILE in own and choice.profile:
        choice = profiles.applied(choice, profiles.NONE)
    options, settings = (
        {key: value for key, value in given.items() if key not in own}
        for given in (choice.options, choice.settings)
    )
    return of_choice(replace(choice, options=options, settings=settings))


def _is_configured(choice: SystemChoice) -> bool:
    return choice.url is None or choice.name.partition(":")[0] in registry.families()


def _own(choice: SystemChoice) -> set[str]:
    profile = {PROFILE} if choice.profile else set()
    return {*choice.options, *choice.settings, *choice.at_default, *profile}


def _own_of_names(choice: SystemChoice, said: Iterable[str]) -> set[str]:
    """The keys of this system among ``SYSTEM.KEY``."""
    return {
        key.removeprefix(f"{name}.")
        for key in said
        for name in choice.names
        if key.startswith(f"{name}.")
    }


def _of_urls(choice: SystemChoice) -> set[str]:
    """What is said of a server by URL alone."""
    specs = {spec.name for spec in registry.system(choice.name).option_specs}
    return {*url_storages.OPTIONS} - specs
