"""Has the system bring the statistics of the tables up to date, as its planner uses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay import registry
from assay.contracts.dialects.protocol import KeepsStatistics
from assay.lab.driving.table_statements import execute
from assay.lab.run_context.context import RunState
from assay.plan import PlannedRun
from assay.text.files.keys import Key
from assay.workload.steps import Step


@dataclass(frozen=True)
class Analyze(Step):
    """The statistics of all tables, brought up to date by the system's own statements."""

    do: ClassVar[str] = "analyze"
    keys: ClassVar[tuple[Key, ...] | None] = ()
    needs: ClassVar[str] = "tables"
    changes_data: ClassVar[bool] = True
    """A later run would find other statistics than its load made."""

    def why_refused(self, run: PlannedRun) -> str | None:
        choice = run.cell.system
        dialect = registry.system(choice.name).dialect
        if not isinstance(dialect, KeepsStatistics) or not dialect.keeps_statistics:
            return f"{choice.label} has no statement that brings statistics up to date"
        return None

    def take(self, state: RunState) -> None:
        """Raises `SystemRefused` with the statement's error."""
        dialect = state.up().system.dialect
        assert isinstance(dialect, KeepsStatistics), "why_refused has said so"
        execute(state, self, dialect.update_statistics)
