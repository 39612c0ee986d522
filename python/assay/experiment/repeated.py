"""Takes an experiment; refuses a level that is given twice: it would be measured again, or silently
dropped."""

from __future__ import annotations

from collections.abc import Iterable

from assay.errors import ArgumentError
from assay.experiment.machines import NOT_LIMITED
from assay.experiment.values import Experiment
from assay.text.sizes import size_word


def refuse_repeated(experiment: Experiment) -> None:
    """Raises `ArgumentError` for the first value that is given twice."""
    varied: list[tuple[str, list[tuple[object, object]]]] = [
        ("--on", [(value, value.label) for value in experiment.systems]),
        ("--storage", [(value.name, value.name) for value in experiment.storages]),
        ("--clients", _plain(experiment.clients)),
        *(
            (f"--clients: group {name}", _plain(value))
            for name, value in experiment.group_clients.items()
        ),
        ("--memory", [(one, _memory_shown(one)) for one in experiment.memory_bytes]),
        ("--cpus", _plain(experiment.cpus)),
        ("--rtt", _plain(experiment.rtts_s)),
        ("--offered-rate", [(value, f"{value:g}") for value in experiment.offered_rates_per_s]),
        ("--cache", _plain(experiment.caches)),
        *((name, _plain(levels)) for name, levels in experiment.parameters.items()),
    ]
    for name, levels in varied:
        seen: list[object] = []
        for level, shown in levels:
            if level in seen:
                raise ArgumentError(
                    f"{name}: {shown} is given twice",
                    hint="give it once; --repetitions 2 measures every cell twice",
                )
            seen.append(level)


def _memory_shown(memory_bytes: int | None) -> str:
    return NOT_LIMITED if memory_bytes is None else size_word(memory_bytes)


def _plain(levels: Iterable[object]) -> list[tuple[object, object]]:
    """The levels with their types: 1, 1.0 and true are different values to a script."""
    return [((type(level), level), level) for level in levels]
