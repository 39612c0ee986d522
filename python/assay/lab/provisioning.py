"""Takes a run; provisions its system in four steps: its storage is made and probed, the system is
started on it, and the durability of its commits is measured.

What runs share is done once: where the deployment is up already, it stays as it is.
"""

from __future__ import annotations

from assay.contracts.experiment import brief
from assay.lab.run_context.context import RunState
from assay.probe import probe
from assay.provision.processes.process import pass_over_logs
from assay.text import units

_SLOW_CPUS = 0.5
"""With less it takes tens of seconds until a server is ready."""


def make_storage(state: RunState) -> None:
    choice = state.planned.cell.system
    cpus = choice.machine.cpus
    slow = ""
    if cpus is not None and cpus < _SLOW_CPUS:
        slow = f"; a start with {units.counted(cpus, 'processor')} is slow"
    state.context.events.stage(f"provision {brief(choice.label)}{slow}")
    state.pooled = state.context.pool.made(state.planned)


def probe_storage(state: RunState) -> None:
    """Each of its storages before its first use in the experiment, where that was asked for."""
    context, pooled = state.context, state.up()
    if not context.probe_s or pooled.is_up:
        return
    for on_storage in pooled.plain_directories():
        with on_storage as directory:
            name = directory.storage.name
            if name in context.known.probes:
                continue
            context.events.stage(f"probe {name}")
            context.known.probes[name] = probed = probe(directory, context.probe_s)
            context.store.probed(probed)


def start_system(state: RunState) -> None:
    """Of a server by URL: reads its version and settings again."""
    state.context.pool.start(state.planned)


def measure_durability(state: RunState) -> None:
    """Of the commits of all runs that share the deployment, before the first of them; and keeps
    what was provisioned."""
    context, pooled = state.context, state.up()
    durability = context.durability
    if durability.is_measured:
        runs = context.pool.runs_with(state.planned)
        durability.measure(pooled, runs, context.events.stage)
        pooled.note_durability(durability.of(state.planned, pooled.deployment))
    pass_over_logs(pooled.deployment)
    context.store.provisioned(pooled.deployment)
