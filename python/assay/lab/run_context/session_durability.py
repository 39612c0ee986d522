"""Takes a run before and after its steps; notes what its scripts set, for their sessions or for the
whole server, that lowers the durability of its commits.

What counts is what the system reads back: before the run in a session that has executed the
settings of the scripts, after it in a new one. So `SET LOCAL`, `set_config` and settings of any
spelling are seen; what a function or a block sets in the clients' sessions alone is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from assay.contracts.durability import SessionSettings
from assay.contracts.systems.abilities import ReadsDurability
from assay.errors import AssayError
from assay.lab.run_context import outcome_of_run
from assay.lab.run_context.context import RunState


def note_before(state: RunState) -> None:
    if state.pooled is None:
        return
    own = state.context.compiled.session_settings(state.planned)
    if own.statements:
        _note(state, _by_sessions(state, own))


def note_after(state: RunState) -> None:
    """Not of a system that is lost, or of a run without clients."""
    if state.pooled is None or state.report is None or outcome_of_run.is_over(state):
        return
    found = {
        f"{setting}, not so at first": "leave what sets it out of the scripts"
        for setting in _asked(state)
        if setting not in state.pooled.deployment.durability_lowered_by
    }
    _note(state, found)


def _note(state: RunState, lowered: dict[str, str]) -> None:
    if lowered:
        pooled = state.up()
        pooled.note_lowered_durability(lowered)
        state.context.store.deployment_changed(pooled.deployment)


def _asked(state: RunState, statements: Sequence[str] = ()) -> tuple[str, ...]:
    """Of a new session that has executed these statements. Empty where the system refuses one: the
    run is refused it as well."""
    pooled = state.up()
    if isinstance(pooled.system, ReadsDurability):
        with suppress(AssayError):
            return pooled.system.durability_lowered_after(pooled.deployment, statements)
    return ()


def _by_sessions(state: RunState, own: SessionSettings) -> dict[str, str]:
    """Setting, with the statement that lowers it → what to do about it."""
    begin = state.up().system.dialect.begin()
    executed = [*own.before_begin, *(begin if own.after_begin else ()), *own.after_begin]
    known = set(state.up().deployment.durability_lowered_by)
    found: dict[str, str] = {}
    for number, statement in enumerate(executed, 1):
        for setting in _asked(state, executed[:number]):
            if setting not in known:
                known.add(setting)
                found[f"{setting} by {statement}"] = f"leave {statement} out of the scripts"
    return found
