"""Takes the script files of an experiment and its systems; refuses a file whose language a system
does not take."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from assay import registry
from assay.contracts import languages
from assay.contracts.experiment import Experiment, SystemChoice
from assay.contracts.languages import SQL
from assay.errors import ArgumentError

ENDINGS = {**languages.ENDINGS, **languages.FURTHER_ENDINGS}


def language_of(path: str) -> str:
    """The language that the ending of the file stands for; empty: none, that of the system."""
    return ENDINGS.get(Path(path).suffix, "")


def refuse_other_languages(experiment: Experiment) -> None:
    """Raises `ArgumentError` for the first script that one of the systems does not take."""
    for script in experiment.scripts:
        _refuse(script.path, language_of(script.path), experiment.systems)
    if experiment.feed is not None:
        _refuse(experiment.feed, SQL, experiment.systems)


def _refuse(path: str, language: str, systems: Iterable[SystemChoice]) -> None:
    for choice in systems:
        taken = registry.system(choice.name).dialect.language
        if language not in ("", taken):
            ending = next((end for end, one in ENDINGS.items() if one == taken), "")
            raise ArgumentError(
                f"{path} is {language.upper()}; {choice.label} takes {taken.upper()}",
                hint=f"a script for {choice.label} ends in {ending}; systems of several languages "
                "are compared by a workload with a script in each",
            )
