"""Backs the system up in the way that a parameter names, while clients work or for a later step;
restores the backup, and compares it with what was there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from assay import registry
from assay.contracts.dialects import SingleRows
from assay.contracts.observation import MadeBackupReport, RestoredBackupReport
from assay.lab import backup
from assay.lab.backup import WAYS, back_up
from assay.lab.run_context.context import RunState
from assay.plan import PlannedRun
from assay.text.keys import TEXT, Key
from assay.text.toml_file import TomlTable
from assay.workload.steps import Names, Step, common


@dataclass(frozen=True)
class StepWithWay(Step):
    """A step that makes a backup in the way that a parameter names."""

    keys = (Key("way", TEXT, "The parameter that names the way of the backup.", is_required=True),)
    needs = "restart"
    way: str = field(kw_only=True)
    """The parameter that names the way: one of `assay.lab.backup.WAYS`."""

    @classmethod
    def read(cls, section: TomlTable, names: Names) -> Self:
        return cls(way=_way_of(section, names), **common(section, names))

    def why_refused(self, run: PlannedRun) -> str | None:
        choice = run.cell.system
        way = WAYS[str(run.cell.parameters[self.way])]
        return way.why_refused(registry.system(choice.name), choice, run.cell.storage)


@dataclass(frozen=True)
class Backup(StepWithWay):
    """A backup while clients work, its restore, and the comparison of the two."""

    do = "backup"
    changes_data = True

    def why_refused(self, run: PlannedRun) -> str | None:
        choice = run.cell.system
        if not isinstance(registry.system(choice.name).dialect, SingleRows):
            return f"{choice.label}: rows are only loaded in bulk, so no client can work meanwhile"
        return super().why_refused(run)

    def take(self, state: RunState) -> None:
        """Keeps what the clients noticed, the times and sizes, and whether the rows came back."""
        pooled, parameters = state.up(), state.planned.cell.parameters
        name = str(parameters[self.way])
        tables = state.workload.tables_for(parameters, pooled.system.dialect.language)
        pooled.forget()  # its data are restored, which is for this step to judge
        report = back_up(name, WAYS[name], pooled, tables, state.context.events.stage)
        state.must_be_discarded = not report.equals_source
        state.observed(self.label, report)


def _way_of(section: TomlTable, names: Names) -> str:
    """The parameter that the key ``way`` names; raises `ExperimentError` where one of its levels is
    no way."""
    way = section.choice("way", names.parameters)
    levels = names.parameters[way].levels
    if not levels or not set(levels) <= set(WAYS):
        raise section.error(
            f"way names {way!r}, whose levels are {', '.join(levels) or 'any'}",
            "way",
            hint=f"a parameter with some of these levels: {', '.join(WAYS)}",
        )
    return way


@dataclass(frozen=True)
class MakeBackup(StepWithWay):
    """A backup that a later step restores."""

    do = "make_backup"
    found_as = "backup"

    def take(self, state: RunState) -> None:
        pooled, parameters = state.up(), state.planned.cell.parameters
        name = str(parameters[self.way])
        tables = state.workload.tables_for(parameters, pooled.system.dialect.language)
        state.must_be_discarded = True  # its folder has the backup
        state.context.events.stage(f"back up ({name})")
        made = backup.make_kept_backup(str(state.steps_taken), name, WAYS[name], pooled, tables)
        state.backups[self.label] = made
        state.observed(
            self.label,
            MadeBackupReport(name, made.made.size_bytes, made.made.shares_blocks, made.made_ns),
        )


@dataclass(frozen=True)
class RestoreBackup(Step):
    """Brings back what the system held when the backup was made."""

    do = "restore_backup"
    keys = (Key("backup", TEXT, "The name of the step that made it.", is_required=True),)
    needs = "restart"
    changes_data = True
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
