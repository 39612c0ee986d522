"""Takes an experiment; refuses a level that is given twice: it would be measured again, or silently
dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from assay.contracts.experiment import Experiment
from assay.errors import ArgumentError
from assay.experiment.identity import of_choice
from assay.experiment.machines import NOT_LIMITED
from assay.text import rates
from assay.text.sizes import size_word
from assay.text.units import exact_duration


def refuse_repeated(experiment: Experiment) -> None:
    """Raises `ArgumentError` for the first value that is given twice."""
    if found := first_repeated(experiment):
        raise ArgumentError(
            f"{': '.join(found)} is given twice",
            hint="give it once; --repetitions 2 measures every cell twice",
        )


def first_repeated(experiment: Experiment) -> tuple[str, str] | None:
    """The option or parameter, and the value that it has twice."""
    varied: list[tuple[str, list[tuple[object, object]]]] = [
        ("--on", [(of_choice(value), value.label) for value in experiment.systems]),
        ("--storage", [(value.name, value.name) for value in experiment.storages]),
        ("--clients", _plain(experiment.clients)),
        *(
            (f"--clients: group {name}", _plain(value))
            for name, value in experiment.group_clients.items()
        ),
        ("--memory", [(one, _shown(one, size_word)) for one in experiment.memory_bytes]),
        ("--cpus", [(one, _shown(one, "{:.12g}".format)) for one in experiment.cpus]),
        ("--rtt", [(one, exact_duration(one)) for one in experiment.rtts_s]),
        ("--offered-rate", [(rate, rates.shown(rate)) for rate in experiment.offered_rates_per_s]),
        ("--cache", _plain(experiment.caches)),
        ("--client-program", _plain(experiment.client_programs)),
        *((name, _plain(levels)) for name, levels in experiment.parameters.items()),
    ]
    for name, levels in varied:
        seen: list[object] = []
        for level, shown in levels:
            if level in seen:
                return name, str(shown)
            seen.append(level)
    return None


def _shown(limit: Any, of_number: Callable[[Any], str]) -> str:
    return NOT_LIMITED if limit is None else of_number(limit)


def _plain(levels: Iterable[object]) -> list[tuple[object, object]]:
    """The levels with their types: 1, 1.0 and true are different values to a script."""
    return [((type(level), level), level) for level in levels]
