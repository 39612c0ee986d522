"""Deletes all rows and inserts them again, several times; keeps the files' size after each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

from assay import registry
from assay.contracts.dialects.protocol import Reclaims
from assay.contracts.observation import SpaceReuseReport
from assay.contracts.systems.abilities import Sized
from assay.errors import Bug
from assay.lab.run_context.context import RunState
from assay.load import reuse
from assay.plan import PlannedRun
from assay.text.files.keys import TEXT, Key
from assay.text.files.toml_file import TomlTable
from assay.workload.steps import Names, Step, common


@dataclass(frozen=True)
class SpaceReuse(Step):
    """All rows deleted and inserted again, and the size on disk after each."""

    do: ClassVar[str] = "space_reuse"
    keys: ClassVar[tuple[Key, ...] | None] = (
        Key("cycles", TEXT, "The parameter that says how often.", is_required=True),
        Key(
            "reclaim",
            TEXT,
            "The parameter, a bool, that says whether the system is asked to give space back.",
            is_required=True,
        ),
    )
    needs: ClassVar[str] = "stored rows"
    changes_data: ClassVar[bool] = True
    cycles: str = field(kw_only=True)
    """The parameter that says how often."""
    reclaim: str = field(kw_only=True)
    """The parameter, a bool, that says whether the system is asked to give space back."""

    @classmethod
    def read(cls, section: TomlTable, names: Names) -> Self:
        cycles = section.choice("cycles", names.parameters)
        reclaim = section.choice("reclaim", names.parameters)
        for key, name, kind in (("cycles", cycles, "int"), ("reclaim", reclaim, "bool")):
            if names.parameters[name].type != kind:
                raise section.error(f"{key} names {name!r}, which is not of type {kind}", key)
        return cls(cycles=cycles, reclaim=reclaim, **common(section, names))

    def why_refused(self, run: PlannedRun) -> str | None:
        choice = run.cell.system
        system = registry.system(choice.name)
        if not isinstance(system, Sized):
            return f"{choice.label} does not report the size of its data"
        if run.cell.parameters[self.reclaim] and not isinstance(system.dialect, Reclaims):
            return f"{choice.label} has no statement that gives the space of deleted rows back"
        return None

    def take(self, state: RunState) -> None:
        """Keeps the sizes. No other run uses the data, whose files are not as a load makes them."""
        pooled, parameters = state.up(), state.planned.cell.parameters
        if state.request is None:
            raise Bug("the step space_reuse needs loaded data")
        pooled.forget()
        state.must_be_discarded = True
        found = reuse.observe(
            pooled.deployment,
            pooled.system,
            state.workload.tables_for(parameters, pooled.system.dialect.language),
            state.request,
            int(parameters[self.cycles]),
            reclaims=bool(parameters[self.reclaim]),
            on_stage=state.context.events.stage,
        )
        last = found.cycles[-1]
        state.observed(
            self.label,
            SpaceReuseReport(
                cycles=len(found.cycles),
                loaded_bytes=found.loaded_bytes,
                deleted_bytes=found.cycles[0].deleted_bytes,
                reinserted_bytes=found.cycles[0].reinserted_bytes,
                last_bytes=last.reinserted_bytes,
                first_ratio=found.cycles[0].reinserted_bytes / max(found.loaded_bytes, 1),
                last_ratio=last.reinserted_bytes / max(found.loaded_bytes, 1),
                equals_load=found.equals_load,
            ),
        )
