"""Changes some of the input, updates the rows to match, and compares them with a fresh load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Bug
from assay.lab.run_context.context import RunState
from assay.load.row_sources.protocol import UpdatesRows
from assay.text.files.keys import Key
from assay.workload.steps import Step


@dataclass(frozen=True)
class Update(Step):
    """Changes some input files, updates the rows to match, and compares them with a fresh load."""

    do: ClassVar[str] = "update"
    keys: ClassVar[tuple[Key, ...] | None] = ()
    changes_data: ClassVar[bool] = True
    loads: ClassVar[bool] = True
    updates_rows: ClassVar[bool] = True

    def take(self, state: RunState) -> None:
        """Keeps the time of the update, and whether the rows equal those of a fresh load."""
        context, pooled, planned = state.context, state.up(), state.planned
        rows = context.rows
        if not isinstance(rows, UpdatesRows):
            raise Bug(f"the rows of {state.workload.name} cannot be updated")
        context.events.stage("update")
        pooled.forget()  # from here on its data differ from what was loaded
        observation = rows.update(
            pooled.deployment,
            pooled.system,
            state.workload.tables,
            planned.cell.parameters,
            planned.seed,
        )
        state.observed(self.label, observation)
