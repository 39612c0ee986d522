"""Takes an experiment's record; returns its runs in the order of the factors and levels that were
asked for, whatever the order in which they were executed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assay.experiment import SystemChoice
from assay.record import ExperimentRecord, RunRecord

Place = tuple[int, float]


def in_order(experiment: ExperimentRecord) -> list[RunRecord]:
    """Tests outermost, then parameters, clients, offered rates, caches and client programs; systems
    and storages innermost, as an interleaved experiment is executed. Levels that were not asked for
    (the defaults of a test) stand behind the others: numbers by size, names as they were run."""
    asked = experiment.experiment
    system_of = _systems(asked)
    storages = [one["name"] for one in asked.get("storages", ())]

    def order(run: RunRecord) -> tuple[Any, ...]:
        rate_per_s = run.driving.offered_rate_per_s if run.driving else None
        return (
            _place(run.test, asked.get("tests", ())),
            *(
                _place(level, asked.get("parameters", {}).get(name, ()))
                for name, level in run.parameters.items()
            ),
            _place(run.clients, asked.get("clients", ())),
            *(
                _place(count, asked.get("group_clients", {}).get(name, ()))
                for name, count in run.group_clients.items()
            ),
            _place(rate_per_s, asked.get("offered_rates_per_s", ())),
            _place(run.cache, asked.get("caches", ())),
            _place(run.client_program, asked.get("client_programs", ())),
            system_of(run),
            _place(run.storage, storages),
        )

    return sorted(experiment.runs, key=order)


def _systems(asked: Mapping[str, Any]) -> Callable[[RunRecord], tuple[Place, ...]]:
    """A system, and what it was given of the machine."""
    systems = [
        SystemChoice(
            one["name"],
            one.get("url"),
            one.get("options") or {},
            one.get("settings") or {},
            profile=one.get("profile") or "",
            of_profile=one.get("of_profile") or {},
        ).label
        for one in asked.get("systems", ())
    ]

    def place(run: RunRecord) -> tuple[Place, ...]:
        machine = run.server_machine
        given = " ".join(machine.words)
        return (
            _place(run.system_label.removesuffix(given).rstrip(), systems),
            _place(machine.memory_bytes, asked.get("memory_bytes", ())),
            _place(machine.cpus, asked.get("cpus", ())),
            _place(machine.rtt_s, asked.get("rtts_s", ())),
        )

    return place


def _place(level: object, asked: Sequence[object]) -> Place:
    if level in asked:
        return asked.index(level), 0.0
    return len(asked), float(level) if isinstance(level, int | float) else 0.0
