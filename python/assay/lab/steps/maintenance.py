"""Has the system bring the statistics of its tables up to date, or give the space of deleted
rows back; deletes all rows and inserts them again, and keeps the files' size after each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from assay import registry
from assay.contracts.dialects import KeepsStatistics, Reclaims
from assay.contracts.observation import SpaceReuseReport
from assay.contracts.systems.abilities import Sized
from assay.errors import Bug
from assay.lab.measurement import execute_on_tables
from assay.lab.run_context.context import RunState
from assay.load import load
from assay.plan import PlannedRun
from assay.text.keys import TEXT, in_file
from assay.workload import steps
from assay.workload.steps import Step


@dataclass(frozen=True)
class SpaceReuse(Step):
    """All rows deleted and inserted again, and the size on disk after each."""

    do = "space_reuse"
    needs = "stored rows"
    changes_data = True
    cycles: Annotated[
        str, in_file(TEXT, "The parameter that says how often.", steps.parameter_of_key("int"))
    ] = field(kw_only=True)
    reclaim: Annotated[
        str,
        in_file(
            TEXT,
            "The parameter, a bool, that says whether the system is asked to give space back.",
            steps.parameter_of_key("bool"),
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
        found = load.observe_reuse(
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


@dataclass(frozen=True)
class Analyze(Step):
    """The statistics of all tables, brought up to date by the system's own statements."""

    do = "analyze"
    keys = ()
    needs = "tables"
    changes_data = True
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
        execute_on_tables(state, self, dialect.update_statistics)


@dataclass(frozen=True)
class Vacuum(Step):
    """The space of deleted rows of all tables, given back by the system's own statements."""

    do = "vacuum"
    keys = ()
    needs = "tables"
    changes_data = True
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
        execute_on_tables(state, self, dialect.reclaim)
