"""Makes a backup in the way that a parameter names, for a later step to restore; no client works
meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

from assay import registry
from assay.contracts.observation import MadeBackupReport
from assay.lab.backup import WAYS, kept
from assay.lab.run_context.context import RunState
from assay.lab.steps.backup import way_of
from assay.plan import PlannedRun
from assay.text.files.keys import TEXT, Key
from assay.text.files.toml_file import TomlTable
from assay.workload.steps import Names, Step, common


@dataclass(frozen=True)
class MakeBackup(Step):
    """A backup that a later step restores."""

    do: ClassVar[str] = "make_backup"
    keys: ClassVar[tuple[Key, ...] | None] = (
        Key("way", TEXT, "The parameter that names the way of the backup.", is_required=True),
    )
    needs: ClassVar[str] = "restart"
    found_as: ClassVar[str] = "backup"
    way: str = field(kw_only=True)
    """The parameter that names the way: one of `assay.lab.backup.WAYS`."""

    @classmethod
    def read(cls, section: TomlTable, names: Names) -> Self:
        return cls(way=way_of(section, names), **common(section, names))

    def why_refused(self, run: PlannedRun) -> str | None:
        choice = run.cell.system
        way = WAYS[str(run.cell.parameters[self.way])]
        return way.why_refused(registry.system(choice.name), choice, run.cell.storage)

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
