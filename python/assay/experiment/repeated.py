"""Takes an experiment; refuses a value that is given twice among those that are varied: it would be
measured again, or silently not."""

from __future__ import annotations

from collections.abc import Iterable

from assay.errors import ArgumentError
from assay.experiment.values import Experiment


def refuse_repeated(experiment: Experiment) -> None:
    """Raises `ArgumentError` for the first value that is there twice."""
    varied: list[tuple[str, list[tuple[object, object]]]] = [
        ("systems", [(one, one.label) for one in experiment.systems]),
        ("storages", [(one.name, one.name) for one in experiment.storages]),
        ("clients", _plain(experiment.clients)),
        *((f"clients of {name}", _plain(one)) for name, one in experiment.group_clients.items()),
        ("offered rate", [(one, f"{one:g}") for one in experiment.offered_rates_per_s]),
        *((name, _plain(levels)) for name, levels in experiment.parameters.items()),
    ]
    for name, levels in varied:
        seen: list[object] = []
        for level, shown in levels:
            if level in seen:
                raise ArgumentError(
                    f"{name}: {shown} is given twice",
                    hint="give each value once; --repetitions 2 measures each of them twice",
                )
            seen.append(level)


def _plain(levels: Iterable[object]) -> list[tuple[object, object]]:
    """1, 1.0 and true are not the same to a script."""
    return [((type(level), level), level) for level in levels]
