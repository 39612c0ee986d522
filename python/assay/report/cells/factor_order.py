"""Takes an experiment's record; returns its runs in the order of the factors and levels that were
asked for, whatever the order in which they were executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from assay.contracts.recorded import ExperimentDocument, SystemDocument
from assay.experiment.choices import system_identity
from assay.record import ExperimentRecord, RunRecord

Place = tuple[int, float]
Levels = Mapping[object, int]
"""Level that was asked for → its place among them."""


def in_order(experiment: ExperimentRecord) -> list[RunRecord]:
    """Tests outermost, then parameters, clients, offered rates, caches and client programs; systems
    and storages innermost, as an interleaved experiment is executed. Levels that were not asked for
    (the defaults of a test) stand behind the others: numbers by size, names as they were run."""
    asked = experiment.experiment
    test, clients = _numbered(asked.get("tests", ())), _numbered(asked.get("clients", ()))
    rate = _numbered(asked.get("offered_rates_per_s", ()))
    cache = _numbered(asked.get("caches", ()))
    client_program = _numbered(asked.get("client_programs", ()))
    parameters = {name: _numbered(one) for name, one in asked.get("parameters", {}).items()}
    group_clients = {name: _numbered(one) for name, one in asked.get("group_clients", {}).items()}
    system_of = _systems(asked)
    storage = _numbered(one["name"] for one in asked.get("storages", ()))

    def order(run: RunRecord) -> tuple[Any, ...]:
        rate_per_s = run.driving.offered_rate_per_s if run.driving else None
        return (
            _place(run.test, test),
            *(_place(level, parameters.get(name, {})) for name, level in run.parameters.items()),
            _place(run.clients, clients),
            *(
                _place(count, group_clients.get(name, {}))
                for name, count in run.group_clients.items()
            ),
            _place(rate_per_s, rate),
            _place(run.cache, cache),
            _place(run.client_program, client_program),
            system_of(run),
            _place(run.storage, storage),
        )

    return sorted(experiment.runs, key=order)


def _systems(asked: ExperimentDocument) -> Callable[[RunRecord], tuple[Place, ...]]:
    """A system, and what it was given of the machine."""
    systems = _numbered(map(_system, asked.get("systems", ())))
    memory = _numbered(asked.get("memory_bytes", ()))
    cpus, rtt = _numbered(asked.get("cpus", ())), _numbered(asked.get("rtts_s", ()))
    log = _numbered(one and one.get("name") for one in asked.get("log_storages", ()))

    def place(run: RunRecord) -> tuple[Place, ...]:
        machine = run.server_machine
        return (
            _place(_system(run.cell.get("system") or {}), systems),
            _place(machine.memory_bytes, memory),
            _place(machine.cpus, cpus),
            _place(machine.rtt_s, rtt),
            _place(machine.log_storage and machine.log_storage.name, log),
        )

    return place


def _system(asked: SystemDocument) -> str:
    """As it was asked for, without its machine."""
    return system_identity.of_system({**asked, "machine": {}})


def _numbered(levels: Iterable[object]) -> Levels:
    return {level: number for number, level in enumerate(dict.fromkeys(levels))}


def _place(level: object, asked: Levels) -> Place:
    if level in asked:
        return asked[level], 0.0
    return len(asked), float(level) if isinstance(level, int | float) else 0.0
