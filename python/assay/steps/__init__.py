"""Takes a planned run through the steps of its test, in their order; returns the reason why it
failed, or None. All else is on record.

A step is a class of `assay.workload.steps`, its reader in `declared_steps`, and a module here with
``take(state, step)``, listed below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.plan import PlannedRun
from assay.steps import (
    compare,
    conclusion,
    ddl,
    drive,
    dump,
    limit,
    load,
    overlap,
    restart,
    session_cost,
    update,
    wait,
)
from assay.steps.context import Context, RunState
from assay.workload.steps import Limit

TAKEN_BY: Mapping[str, Callable[[RunState, Any], None]] = {
    "load": load.take,
    "ddl": ddl.take,
    "restart": restart.take,
    "wait": wait.take,
    "drive": drive.take,
    "overlap": overlap.take,
    "dump": dump.take,
    "compare": compare.take,
    "session_cost": session_cost.take,
    "update": update.take,
    "limit": limit.take,
}


def take_all(context: Context, planned: PlannedRun) -> str | None:
    """The steps of the run's test, as far as its system lives through them. Raises
    `SystemUnderTestError` or `RunFailed` where a step cannot be taken."""
    state, store = RunState(context, planned), context.store
    if any(not isinstance(step, Limit) for step in state.test.steps):
        state.bring_up()
    position = 0
    for position, step in enumerate(state.test.steps, 1):
        store.begin_step(position - 1, step.do, step.name)
        checks, state.new_report = len(state.checks), None
        TAKEN_BY[step.do](state, step)
        failed = conclusion.why_step_failed(state, state.new_report, state.checks[checks:])
        _end(context, failed)
        if conclusion.is_over(state):
            break
    if conclusion.has_rules(state):
        store.begin_step(position, "check")
        checks = len(state.checks)
        conclusion.ask_rules(state)
        _end(context, conclusion.why_step_failed(state, None, state.checks[checks:]))
    return conclusion.reason(state)


def _end(context: Context, reason: str | None) -> None:
    context.store.end_step("failed" if reason else "done", reason or "")
