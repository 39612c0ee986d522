"""Takes a word that is no parameter of the workload, or no option; returns the setting or parameter
that is meant by it."""

from __future__ import annotations

from collections.abc import Iterable

from assay.contracts.setting import Setting
from assay.experiment.choices.checked_choices import UnknownParameter
from assay.experiment.settings.catalogue import SETTINGS
from assay.text.mentions import Mention, phrase
from assay.workload.values import Workload


def setting_known_as(word: str) -> Setting | None:
    """The setting that others call so."""
    return next((one for one in SETTINGS.values() if word in one.known_as), None)


def corrected(
    error: UnknownParameter, workload: Workload, given: Iterable[str]
) -> UnknownParameter:
    """The error; its hint begins with what is meant, where that is known. ``given``: the levels of
    parameters, ``NAME=LEVELS``."""
    if meant := _meant(error.name, workload, given):
        hint = phrase("maybe {} is meant; {}", meant, error.hint or "")
        return UnknownParameter(error.message, hint=hint)
    return error


def _meant(name: str, workload: Workload, given: Iterable[str]) -> Mention | None:
    short = SETTINGS.get(name)
    if short is not None and short.is_short_for:
        size = workload.size
        said = next((word for word in given if word.startswith(f"{name}=")), "")
        value = said.partition("=")[2] or "N"
        return Mention(short.is_short_for, f"{size.name}={value}") if size else None
    found = setting_known_as(name) or short
    return Mention(found.name) if found is not None else None
