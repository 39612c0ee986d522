"""Takes a planned run and executes the steps of its test in order; returns the reason why the run
failed, or None. Results go to the record.

Each kind of step is a module here: a class with its fields, ``read`` (from a workload file) and
``take`` (execute); `assay.registry` lists them.
"""

from __future__ import annotations

import contextlib

from assay import registry
from assay.lab.run_context import (
    existing_data,
    outcome_of_run,
    read_only_server,
    session_durability,
)
from assay.lab.run_context.context import Context, RunState
from assay.plan import PlannedRun


def take_all(context: Context, planned: PlannedRun) -> str | None:
    """Executes the steps of the run's test until its system is lost. Raises `SystemUnderTestError`
    or `RunFailed` where a step cannot be executed."""
    state = RunState(context, planned)
    if any(step.needs_system for step in state.test.steps):
        state.bring_up()
    with contextlib.ExitStack() as limited:
        if state.pooled is not None:
            limited.enter_context(state.pooled.in_its_memory(planned.cell.clients))
        read_only_server.refuse_writes(state)
        existing_data.keep_before(state)
        session_durability.note_before(state)
        _take(state)
        session_durability.note_after(state)
        existing_data.keep_after(state)
    return outcome_of_run.reason(state)


def _take(state: RunState) -> None:
    """The steps, and the consistency checks after them."""
    context, store = state.context, state.context.store
    position = 0
    for position, step in enumerate(state.test.steps, 1):
        context.stop.check()
        store.begin_step(position - 1, step.do, step.name)
        checks, state.new_report, state.seconds_measured = len(state.checks), None, 0
        registry.step(step.do).take(step, state)
        failed = outcome_of_run.why_step_failed(state, state.new_report, state.checks[checks:])
        _end(context, failed)
        if outcome_of_run.is_over(state):
            break
    context.stop.check()
    if outcome_of_run.has_rules(state):
        store.begin_step(position, "check")
        checks = len(state.checks)
        outcome_of_run.ask_rules(state)
        _end(context, outcome_of_run.why_step_failed(state, None, state.checks[checks:]))


def _end(context: Context, reason: str | None) -> None:
    context.store.end_step("failed" if reason else "done", reason or "")
