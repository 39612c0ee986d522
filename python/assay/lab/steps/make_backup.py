"""Makes a backup in the way that a parameter names, for a later step to restore; no client works
meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.contracts.observation import MadeBackupReport
from assay.lab.backup import WAYS, kept
from assay.lab.run_context.context import RunState
from assay.lab.steps.backup import StepWithWay


@dataclass(frozen=True)
class MakeBackup(StepWithWay):
    """A backup that a later step restores."""

    do: ClassVar[str] = "make_backup"
    found_as: ClassVar[str] = "backup"

    def take(self, state: RunState) -> None:
        pooled, parameters = state.up(), state.planned.cell.parameters
        name = str(parameters[self.way])
        tables = state.workload.tables_for(parameters, pooled.system.dialect.language)
        state.must_be_discarded = True  # its folder has the backup
        state.context.events.stage(f"back up ({name})")
        made = kept.make(str(state.steps_taken), name, WAYS[name], pooled, tables)
        state.backups[self.label] = made
        state.observed(
            self.label,
            MadeBackupReport(name, made.made.size_bytes, made.made.shares_blocks, made.made_ns),
        )
