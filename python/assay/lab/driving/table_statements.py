"""Takes a step and how a dialect does it to tables; executes these statements once, in a session of
their own, outside any measurement."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.contracts.dialects.protocol import Table
from assay.lab.run_context.context import RunState
from assay.plan.drives import parameters_of
from assay.provision.engine.session import session
from assay.workload.steps import Step


def execute(
    state: RunState, step: Step, statements_for: Callable[[Sequence[Table]], list[str]]
) -> None:
    """Those for all tables of the run. No other run uses the system afterwards: its data are not as
    a load leaves them. Raises `SystemRefused` with the first error."""
    pooled = state.up()
    parameters = parameters_of(state.workload, state.planned, step)
    tables = state.workload.tables_for(parameters, pooled.system.dialect.language)
    state.context.events.stage(step.do)
    pooled.forget()
    state.must_be_discarded = True
    with session(pooled.deployment.address) as opened:
        for statement in statements_for(tables):
            opened.execute(statement)
