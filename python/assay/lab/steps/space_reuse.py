"""Deletes all rows and inserts them again, several times; keeps the files' size after each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from assay import registry
from assay.contracts.dialects.protocol import Reclaims
from assay.contracts.observation import SpaceReuseReport
from assay.contracts.systems.abilities import Sized
from assay.errors import Bug
from assay.lab.run_context.context import RunState
from assay.load import reuse
from assay.plan import PlannedRun
from assay.text.files.keys import TEXT, in_file
from assay.workload.steps import Step
from assay.workload.tests import step_keys


@dataclass(frozen=True)
class SpaceReuse(Step):
    """All rows deleted and inserted again, and the size on disk after each."""

    do: ClassVar[str] = "space_reuse"
    needs: ClassVar[str] = "stored rows"
    changes_data: ClassVar[bool] = True
    cycles: Annotated[
        str, in_file(TEXT, "The parameter that says how often.", step_keys.parameter("int"))
    ] = field(kw_only=True)
    reclaim: Annotated[
        str,
        in_file(
            TEXT,
            "The parameter, a bool, that says whether the system is asked to give space back.",
            step_keys.parameter("bool"),
        ),
    ] = field(kw_only=True)

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
