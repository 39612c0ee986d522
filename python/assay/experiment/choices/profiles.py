"""Takes a system choice and the name of a profile of settings; returns the choice with the options
and settings of the profile, which anything else that is asked for wins over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from assay import registry
from assay.contracts.experiment import SystemChoice, UsedProfile
from assay.contracts.plugins import OptionSpec
from assay.contracts.systems.abilities import HasProfiles, Profile
from assay.errors import ArgumentError
from assay.text.phrases import Mention, nearest, phrase

PROFILE = "profile"
"""The key of ``--set SYSTEM.profile=NAME``."""
NONE = "none"
"""The name of no profile, as one level among others."""


def option(name: str) -> OptionSpec | None:
    """The profile as an option of the system; None where it has none."""
    known = _known(name)
    if not known:
        return None
    return OptionSpec(PROFILE, NONE, (NONE, *known), "Profile of settings; none: no profile.")


_NAME_IS_KNOWN = ("expected", "did you mean", "is set by Assay")
"""Words of a message about a setting that the system has, or has guessed."""


@contextmanager
def guessing_options(choice: SystemChoice) -> Iterator[None]:
    """Of a setting that the system refuses because it has none of that name: the hint names the
    option that may be meant."""
    try:
        yield
    except ArgumentError as error:
        profile = option(choice.name)
        specs = (*registry.system(choice.name).option_specs, *([profile] if profile else []))
        hint, names = error.hint or "", [one.name for one in specs]
        said = [name for name in choice.settings if name in error.message]
        meant = next(filter(None, (nearest(name, names) for name in said)), None)
        if meant and not any(word in error.message + hint for word in _NAME_IS_KNOWN):
            error.hint = f"did you mean {meant!r}? {hint}".strip()
        raise


def applied(choice: SystemChoice, name: str) -> SystemChoice:
    """``none``: without one. Raises `ArgumentError` where the system has no such profile, or is not
    Assay's to configure."""
    known = _known(choice.name)
    if not known:
        raise ArgumentError(
            f"{choice.name} has no profiles of settings",
            hint=phrase(
                "{} for each of its settings", Mention("set", f"{choice.name}.SETTING=VALUE")
            ),
        )
    if name == NONE:
        return _plain(choice)
    if name not in known:
        raise registry.unknown(f"profile of {choice.name}", name, [*known, NONE])
    if choice.url is not None:
        raise ArgumentError(
            f"{choice.label}: a profile is for a server that Assay starts",
            hint=phrase("{}, or leave the profile out", Mention("on", choice.name)),
        )
    choice = _plain(choice)
    found = known[name]
    options = {
        key: value
        for key, value in found.options.items()
        if found.option_settings.get(key) not in choice.settings
    }
    own = {*choice.options, *choice.settings}
    given = {**options, **found.settings}
    return replace(
        choice,
        options={**options, **choice.options},
        settings={**found.settings, **choice.settings},
        profile=name,
        of_profile={key: value for key, value in given.items() if key not in own},
    )


def settings_of(choice: SystemChoice) -> Mapping[str, str]:
    """Of the settings of a choice those of its profile, as the profile has them."""
    if not choice.profile:
        return {}
    promised = _known(choice.name)[choice.profile].settings
    return {name: value for name, value in promised.items() if name in choice.settings}


def without(choice: SystemChoice, given: Iterable[str]) -> SystemChoice:
    """Without the profile's values for ``given``, and without its options whose setting is among
    them."""
    if not choice.profile:
        return choice
    own = {*given}
    settings = _known(choice.name)[choice.profile].option_settings
    gone = {option for option, setting in settings.items() if setting in own}
    return replace(
        choice,
        options={key: value for key, value in choice.options.items() if key not in gone},
        of_profile={
            key: value for key, value in choice.of_profile.items() if key not in own | gone
        },
    )


def used(choices: Iterable[SystemChoice]) -> Iterator[UsedProfile]:
    """Each profile once."""
    for name, profile in dict.fromkeys((choice.name, choice.profile) for choice in choices):
        if profile:
            found = _known(name)[profile]
            yield UsedProfile(name, profile, found.title, found.printed)


def durability(choice: SystemChoice, lowered_by: Iterable[str]) -> str:
    """The class that the profile of a choice promises; empty: none does, or the durability is also
    lowered by a setting that is not the profile's (``fsync = off``)."""
    if not choice.profile:
        return ""
    of_profile = {name.lower() for name in choice.of_profile}
    is_of_profile = all(word.partition(" = ")[0].lower() in of_profile for word in lowered_by)
    return _known(choice.name)[choice.profile].durability if is_of_profile else ""


def _plain(choice: SystemChoice) -> SystemChoice:
    """Without the profile that it had before."""
    old = choice.of_profile
    return replace(
        choice,
        options={key: value for key, value in choice.options.items() if key not in old},
        settings={key: value for key, value in choice.settings.items() if key not in old},
        profile="",
        of_profile={},
    )


def _known(name: str) -> Mapping[str, Profile]:
    system = registry.system(name)
    return system.profiles() if isinstance(system, HasProfiles) else {}
