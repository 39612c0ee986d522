"""Runs the statements of a script once, outside any measurement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from assay.contracts.systems.abilities import SpreadsSchema
from assay.drive import query
from assay.lab.run_context.context import RunState
from assay.plan.drives import parameters_of
from assay.text.files.keys import TEXT, in_file
from assay.workload.steps import Step
from assay.workload.tests import step_keys


@dataclass(frozen=True)
class Ddl(Step):
    """The statements of a script, once, outside any measurement."""

    do: ClassVar[str] = "ddl"
    changes_data: ClassVar[bool] = True
    script: Annotated[str, in_file(TEXT, "The script file that is run.", step_keys.script)] = field(
        kw_only=True
    )

    @property
    def scripts_run_once(self) -> tuple[str, ...]:
        return (self.script,)

    def take(self, state: RunState) -> None:
        """Raises `SystemRefused` with the statement's error. No other run uses the system, because
        the changes of the script remain."""
        workload, pooled = state.workload, state.up()
        script = workload.script_for(self.script, pooled.system.dialect)
        parameters = parameters_of(workload, state.planned, self)
        state.context.events.stage(f"ddl {script.path}")
        pooled.forget()
        state.must_be_discarded = True
        query.ask(
            pooled.deployment,
            script,
            workload.with_defaults(parameters),
            workload.identifiers_for(parameters),
        )
        if isinstance(pooled.system, SpreadsSchema):
            pooled.system.wait_for_schema(pooled.deployment)
