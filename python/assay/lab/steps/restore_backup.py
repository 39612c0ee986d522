"""Restores the backup of an earlier step, and compares every table with what it was then."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

from assay.contracts.observation import RestoredBackupReport
from assay.lab.run_context.context import RunState
from assay.text.files.keys import TEXT, Key
from assay.text.files.toml_file import TomlTable
from assay.workload.steps import Names, Step, common


@dataclass(frozen=True)
class RestoreBackup(Step):
    """Brings back what the system held when the backup was made."""

    do: ClassVar[str] = "restore_backup"
    keys: ClassVar[tuple[Key, ...] | None] = (
        Key("backup", TEXT, "The name of the step that made it.", is_required=True),
    )
    needs: ClassVar[str] = "restart"
    changes_data: ClassVar[bool] = True
    backup: str = field(kw_only=True)

    @classmethod
    def read(cls, section: TomlTable, names: Names) -> Self:
        made = [step.label for step in names.before if step.found_as == "backup"]
        return cls(backup=section.choice("backup", made), **common(section, names))

    def take(self, state: RunState) -> None:
        backup = state.backups.pop(self.backup)
        state.context.events.stage(f"restore ({backup.way_name})")
        state.up().forget()  # its data are restored, which is for this step to judge
        took_ns, is_equal = backup.restore()
        state.observed(self.label, RestoredBackupReport(backup.way_name, took_ns, is_equal))
