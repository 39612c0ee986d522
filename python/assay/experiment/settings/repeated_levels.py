"""Takes an experiment; refuses a level that is given twice: it would be measured again, or silently
dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assay.contracts.experiment import Experiment, SystemChoice
from assay.contracts.factors import NOT_LIMITED
from assay.contracts.setting import Levels, Setting
from assay.errors import ArgumentError
from assay.experiment.choices.system_identity import of_choice, of_storage
from assay.experiment.settings.catalogue import SETTINGS
from assay.text.mentions import Mention, phrase

_Level = tuple[object, object]
"""What makes it the same, and what is shown of it."""


class Repeated(NamedTuple):
    setting: Setting | None
    """None: the parameter ``name``."""
    name: str
    level: str
    before: str
    """What the same was called where it was given first."""


def refuse_repeated(experiment: Experiment) -> None:
    """Raises `ArgumentError` for the first value that is given twice."""
    if found := first_repeated(experiment):
        names = dict.fromkeys((found.before, found.level))
        what = "is given twice" if len(names) == 1 else "are one and the same, which is given twice"
        raise ArgumentError(
            phrase("{}: {} {}", found.name, " and ".join(names), what),
            hint=phrase("give it once; {--repetitions 2} measures every cell twice"),
        )


def first_repeated(experiment: Experiment) -> Repeated | None:
    for setting, name, levels in _varied(experiment):
        seen: list[_Level] = []
        for level, shown in levels:
            if same := [str(other) for before, other in seen if before == level]:
                return Repeated(setting, name, str(shown), same[0])
            seen.append((level, shown))
    return None


def _varied(experiment: Experiment) -> Iterator[tuple[Setting | None, str, Iterable[_Level]]]:
    on, storage, clients = SETTINGS["on"], SETTINGS["storage"], SETTINGS["clients"]
    yield on, phrase("{--on}"), [(of_choice(one), _called(one)) for one in experiment.systems]
    yield storage, phrase("{--storage}"), [(one.name, one.name) for one in experiment.storages]
    yield (
        storage,
        phrase("{--storage}"),
        [(of_storage(one), one.name) for one in experiment.storages],
    )
    log = SETTINGS["log_storage"]
    logs = [one and (of_storage(one), one.name) for one in experiment.log_storages]
    yield log, phrase("{--log-storage}"), [one or (NOT_LIMITED, NOT_LIMITED) for one in logs]
    every = [(one.name, one.name) for one in experiment.all_storages]
    yield log, phrase("{--log-storage}"), every
    yield clients, phrase("{--clients}"), _plain(experiment.clients)
    for group, counts in experiment.group_clients.items():
        yield clients, phrase("{--clients}: group {}", group), _plain(counts)
    for setting in SETTINGS.values():
        if isinstance(setting.kind, Levels) and setting.experiment_field:
            levels = experiment.asked(setting.experiment_field)
            shown = [NOT_LIMITED if one is None else setting.show(one) for one in levels]
            yield setting, phrase("{}", Mention(setting.word)), zip(levels, shown, strict=True)
    for name, levels in experiment.parameters.items():
        yield None, name, _plain(levels)


def _called(choice: SystemChoice) -> str:
    """The name that the user gave it, also where its label is that of an equal system before it."""
    return choice.label if choice.label.startswith(choice.called) else choice.called


def _plain(levels: Iterable[object]) -> list[_Level]:
    """The levels with their types: 1, 1.0 and true are different values to a script."""
    return [((type(level), level), level) for level in levels]
