"""Keeps the rows that a query returns, to be compared with those of another dump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from assay.drive import query
from assay.drive.query import StatementAnswer
from assay.experiment import Scalar
from assay.lab.run_context.context import Dumps, RunState
from assay.plan.drives import parameters_of
from assay.text.files.keys import TEXT, in_file
from assay.workload.steps import Step
from assay.workload.tests import step_keys


@dataclass(frozen=True)
class Dump(Step):
    """Keeps the rows that a query returns, for a `Compare`."""

    do: ClassVar[str] = "dump"
    found_as: ClassVar[str] = "dump"
    script: Annotated[str, in_file(TEXT, "The script file that is run.", step_keys.script)] = field(
        kw_only=True
    )
    own: Annotated[
        str,
        in_file(TEXT, "The script that reads what no other client can change.", step_keys.script),
    ] = ""
    """The script that reads the part of a client's rows that other clients cannot change; empty:
    none. Where dumps differ and this part does not, clients overtook one another and no update was
    lost."""
    each: Annotated[
        str,
        in_file(TEXT, "The variable that numbers the dumps, from 0; otherwise there is one dump."),
    ] = ""
    """Up to the number of clients; empty: one dump."""

    @property
    def scripts_run_once(self) -> tuple[str, ...]:
        return (self.script, self.own) if self.own else (self.script,)

    @property
    def own_variables(self) -> Mapping[str, int]:
        return {self.each: 0} if self.each else {}

    def take(self, state: RunState) -> None:
        """One answer for each client, or a single one. Raises as `query.ask` does."""
        parameters = parameters_of(state.workload, state.planned, self)
        own = _answers(state, self, self.own, parameters) if self.own else ()
        state.dumps[self.label] = Dumps(_answers(state, self, self.script, parameters), own)


def _answers(
    state: RunState, step: Dump, name: str, parameters: Mapping[str, Scalar]
) -> tuple[StatementAnswer, ...]:
    workload, pooled = state.workload, state.up()
    script = workload.script_for(name, pooled.system.dialect)
    variables = workload.with_defaults(parameters)
    numbers = range(state.planned.cell.clients if step.each else 1)
    return tuple(
        query.ask_for_all(
            pooled.deployment,
            script,
            {**variables, **({step.each: number} if step.each else {})},
            workload.identifiers_for(parameters),
        )
        for number in numbers
    )
