"""Changes some of the input, lets the rows follow, and compares with a fresh load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Bug
from assay.row_sources.protocol import UpdatesRows
from assay.steps.context import RunState
from assay.workload.steps import Step


@dataclass(frozen=True)
class Update(Step):
    """Some input files change, the rows follow, and are compared with a fresh load."""

    do: ClassVar[str] = "update"
    changes_data: ClassVar[bool] = True
    loads: ClassVar[bool] = True
    updates_rows: ClassVar[bool] = True

    def take(self, state: RunState) -> None:
        """Keeps what the update took, and whether the rows are those of a fresh load."""
        context, pooled, planned = state.context, state.up(), state.planned
        rows = context.rows
        if not isinstance(rows, UpdatesRows):
            raise Bug(f"the rows of {state.workload.name} were to be updated, and cannot be")
        context.progress.stage("update")
        pooled.forget()  # from here on it holds something else than what was loaded
        observation = rows.update(
            pooled.deployment,
            pooled.system,
            state.workload.tables,
            planned.cell.parameters,
            planned.seed,
        )
        state.observed(self.label, observation)
