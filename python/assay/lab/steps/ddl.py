"""Runs the statements of a script once, outside any measurement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

from assay.contracts.systems.abilities import SpreadsSchema
from assay.drive import query
from assay.lab.run_context.context import RunState
from assay.plan.drives import parameters_of
from assay.text.files.keys import TEXT, Key
from assay.text.files.toml_file import TomlTable
from assay.workload.steps import Names, Step, common
from assay.workload.tests import step_keys


@dataclass(frozen=True)
class Ddl(Step):
    """The statements of a script, once, outside any measurement."""

    do: ClassVar[str] = "ddl"
    keys: ClassVar[tuple[Key, ...] | None] = (
        Key("script", TEXT, "The script file that is run.", is_required=True),
    )
    changes_data: ClassVar[bool] = True
    script: str = field(kw_only=True)

    @property
    def scripts_run_once(self) -> tuple[str, ...]:
        return (self.script,)

    @classmethod
    def read(cls, section: TomlTable, names: Names) -> Self:
        script = step_keys.script(section, "script", names.scripts)
        return cls(script=script, **common(section, names))

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
