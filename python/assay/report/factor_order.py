"""Takes an experiment's record; returns its runs in the order of the factors and levels that were
asked for, whatever the order in which they were executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from assay.contracts.factors import OF_MACHINE, OFFERED_RATE, VARIED_LEVELS, Factor
from assay.experiment import ServerMachine, StorageChoice, SystemChoice
from assay.experiment.choices import identity, server_limits
from assay.record import ExperimentRecord, Run

Place = tuple[int, float]
Levels = Mapping[object, int]
"""Level that was asked for → its place among them."""


def runs_in_order(experiment: ExperimentRecord) -> list[Run]:
    """Tests outermost, then parameters, clients, offered rates, caches and client programs; systems
    and storages innermost, as an interleaved experiment is executed. Levels that were not asked for
    (the defaults of a test) stand behind the others: numbers by size, names as they were run."""
    asked = experiment.experiment
    test, clients = _numbered(asked.tests), _numbered(asked.clients)
    rate = {} if asked.goal else _asked(experiment, OFFERED_RATE)
    varied = {name: _asked(experiment, factor) for name, factor in VARIED_LEVELS.items()}
    parameters = {name: _numbered(one) for name, one in asked.parameters.items()}
    group_clients = {name: _numbered(one) for name, one in asked.group_clients.items()}
    system_of = _systems(experiment)
    storage = _numbered(one.name for one in asked.storages)

    def order(run: Run) -> tuple[Any, ...]:
        rate_per_s = run.driving.offered_rate_per_s
        return (
            _place(run.test, test),
            *(_place(level, parameters.get(name, {})) for name, level in run.parameters.items()),
            _place(run.clients, clients),
            *(
                _place(count, group_clients.get(name, {}))
                for name, count in run.group_clients.items()
            ),
            _place(rate_per_s, rate),
            *(_place(run.levels[name], numbered) for name, numbered in varied.items()),
            system_of(run),
            _place(run.storage, storage),
        )

    return sorted(experiment.runs, key=order)


def _asked(experiment: ExperimentRecord, factor: Factor) -> Levels:
    """Of a storage its name."""
    found = experiment.experiment.asked(factor.asked)
    return _numbered(one.name if isinstance(one, StorageChoice) else one for one in found)


def _systems(experiment: ExperimentRecord) -> Callable[[Run], tuple[Place, ...]]:
    """A system, and what it was given of the machine."""
    systems = _numbered(map(_system, experiment.experiment.systems))
    of_machine = {name: _asked(experiment, factor) for name, factor in OF_MACHINE.items()}

    def place(run: Run) -> tuple[Place, ...]:
        return (
            _place(_system(run.cell.system), systems),
            *(
                _place(server_limits.plain(run.server_machine, name), levels)
                for name, levels in of_machine.items()
            ),
        )

    return place


def _system(asked: SystemChoice) -> str:
    """As it was asked for, without its machine."""
    return identity.identity_of_choice(replace(asked, machine=ServerMachine()))


def _numbered(levels: Iterable[object]) -> Levels:
    return {level: number for number, level in enumerate(dict.fromkeys(levels))}


def _place(level: object, asked: Levels) -> Place:
    if level in asked:
        return asked[level], 0.0
    return len(asked), float(level) if isinstance(level, int | float) else 0.0
