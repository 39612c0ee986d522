"""Takes a run on a server or file that Assay did not fill; keeps what the tables that its scripts
name hold, before and after."""

from __future__ import annotations

from assay.drive.prepare import statements_of
from assay.lab.run_context import outcome_of_run
from assay.lab.run_context.context import RunState
from assay.load.existing_data import look, unflushed
from assay.plan.drives import drives


def keep_before(state: RunState) -> None:
    if _is_foreign(state):
        _keep(state, is_after=False)
        _note_unflushed(state)


def keep_after(state: RunState) -> None:
    """Not of a system that is lost."""
    if _is_foreign(state) and state.report is not None and not outcome_of_run.is_over(state):
        _keep(state, is_after=True)


def _is_foreign(state: RunState) -> bool:
    """Whether others decide what it holds."""
    if state.pooled is None or not state.test.drives or state.test.loads:
        return False
    return not state.pooled.deployment.is_private


def _keep(state: RunState, *, is_after: bool) -> None:
    pooled, context = state.up(), state.context
    context.events.stage(f"count the rows {'after' if is_after else 'before'} the run")
    tables = look(pooled.deployment, pooled.system.dialect, statements_of_run(state))
    context.store.existing_data(tables, is_after=is_after)


def _note_unflushed(state: RunState) -> None:
    """Tables whose commits are not flushed lower the durability of the run as settings do."""
    pooled = state.up()
    lowered = unflushed(pooled.deployment, pooled.system.dialect, statements_of_run(state))
    if lowered:
        pooled.note_lowered_durability(lowered)
        state.context.store.deployment_changed(pooled.deployment)


def statements_of_run(state: RunState) -> tuple[str, ...]:
    """Of all scripts of the run; looked up once for each cell, as a fed file may be long."""
    known, cell = state.context.known.statements, state.planned.cell
    if cell.fingerprint not in known:
        dialect = state.up().system.dialect
        known[cell.fingerprint] = tuple(
            text
            for drive in drives(state.workload, state.planned)
            for _, text in statements_of(state.workload, drive, dialect)
        )
    return known[cell.fingerprint]
