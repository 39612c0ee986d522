"""Keeps the rows that a query answers, to be compared with those of another dump."""

from __future__ import annotations

from collections.abc import Mapping

from assay.drive import query
from assay.drive.query import Answer
from assay.experiment import Scalar
from assay.plan.drives import parameters_of
from assay.steps.context import Dumps, RunState
from assay.workload.steps import Dump


def take(state: RunState, step: Dump) -> None:
    """One answer for each client, or a single one. Raises as `query.ask` does."""
    parameters = parameters_of(state.workload, state.planned, step)
    own = _answers(state, step, step.own, parameters) if step.own else ()
    state.dumps[step.label] = Dumps(_answers(state, step, step.script, parameters), own)


def _answers(
    state: RunState, step: Dump, name: str, parameters: Mapping[str, Scalar]
) -> tuple[Answer, ...]:
    workload, pooled = state.workload, state.up()
    script = workload.script_for(name, pooled.system.dialect.name)
    variables = workload.with_defaults(parameters)
    numbers = range(state.planned.cell.clients if step.each else 1)
    return tuple(
        query.ask(
            pooled.deployment,
            script,
            {**variables, **({step.each: number} if step.each else {})},
            workload.identifiers_for(parameters),
        )
        for number in numbers
    )
