"""Runs the statements of a script once, outside any measurement."""

from __future__ import annotations

from assay.drive import query
from assay.plan.drives import parameters_of
from assay.steps.context import RunState
from assay.workload.steps import Ddl


def take(state: RunState, step: Ddl) -> None:
    """Raises `SystemRefused` with the statement's error. The system is not used for another run:
    what the script made would still be there."""
    workload, pooled = state.workload, state.up()
    script = workload.script_for(step.script, pooled.system.dialect.name)
    parameters = parameters_of(workload, state.planned, step)
    state.context.progress.stage(f"ddl {script.path}")
    pooled.forget()
    state.must_be_discarded = True
    query.ask(
        pooled.deployment,
        script,
        workload.with_defaults(parameters),
        workload.identifiers_for(parameters),
    )
