"""Takes a run whose system is up; executes the steps of its test in order, and its consistency
checks after them. Results go to the record.

Each kind of step is a module here: a class with its fields, ``read`` (from a workload file) and
``take`` (execute); `assay.registry` lists them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from assay import registry
from assay.lab.run_context import outcome
from assay.lab.run_context.context import Context, RunState


def need_a_system(state: RunState) -> bool:
    """Whether the run's steps work on a system that is up; others bring up their own."""
    return any(step.needs_system for step in state.test.steps)


@contextlib.contextmanager
def within_its_limits(state: RunState) -> Iterator[None]:
    """A block for the steps: in the memory that the system is given, with what it holds and how
    its sessions commit looked at before and after."""
    with contextlib.ExitStack() as limited:
        if state.pooled is not None:
            limited.enter_context(state.pooled.in_its_memory(state.planned.cell.clients))
        outcome.refuse_writes(state)
        outcome.refuse_reads_at_replicas(state)
        outcome.keep_tables_before(state)
        outcome.note_durability_before(state)
        yield
        outcome.note_durability_after(state)
        outcome.keep_tables_after(state)


def take_steps(state: RunState) -> None:
    """The steps, until the system is lost. Raises `SystemUnderTestError` or `RunFailed` where one
    cannot be executed."""
    context, store = state.context, state.context.store
    for position, step in enumerate(state.test.steps):
        context.stop.check()
        store.begin_step(position, step.do, step.name)
        state.steps_taken = position + 1
        checks, state.new_report, state.seconds_measured = len(state.checks), None, 0
        registry.step(step.do).take(step, state)
        failed = outcome.why_step_failed(state, state.new_report, state.checks[checks:])
        _end(context, failed)
        if outcome.is_over(state):
            break
    context.stop.check()


def check(state: RunState) -> None:
    """The consistency checks after the last step; answers are compared by the steps that get
    them."""
    if outcome.has_rules(state):
        state.context.events.stage("check")
        state.context.store.begin_step(state.steps_taken, "check")
        checks = len(state.checks)
        outcome.ask_rules(state)
        failed = outcome.why_step_failed(state, None, state.checks[checks:])
        _end(state.context, failed)


def _end(context: Context, reason: str | None) -> None:
    context.store.end_step("failed" if reason else "done", reason or "")
