"""Has the system give the space of deleted rows back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay import registry
from assay.contracts.dialects.protocol import Reclaims
from assay.lab.driving.table_statements import execute
from assay.lab.run_context.context import RunState
from assay.plan import PlannedRun
from assay.text.files.keys import Key
from assay.workload.steps import Step


@dataclass(frozen=True)
class Vacuum(Step):
    """The space of deleted rows of all tables, given back by the system's own statements."""

    do: ClassVar[str] = "vacuum"
    keys: ClassVar[tuple[Key, ...] | None] = ()
    needs: ClassVar[str] = "tables"
    changes_data: ClassVar[bool] = True
    """The rows stay, and a later run would find files that no load makes."""

    def why_refused(self, run: PlannedRun) -> str | None:
        choice = run.cell.system
        if not isinstance(registry.system(choice.name).dialect, Reclaims):
            return f"{choice.label} has no statement that gives the space of deleted rows back"
        return None

    def take(self, state: RunState) -> None:
        """Raises `SystemRefused` with the statement's error."""
        dialect = state.up().system.dialect
        assert isinstance(dialect, Reclaims), "why_refused has said so"
        execute(state, self, dialect.reclaim)
