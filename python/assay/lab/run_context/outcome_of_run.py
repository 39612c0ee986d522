"""Takes a run after its last step; runs its consistency checks and returns the reason why the run
failed, or None."""

from __future__ import annotations

import time
from collections.abc import Sequence

from assay import registry
from assay.contracts.observation import Observation, Observed
from assay.drive.read_only import WHY_REFUSED, session_statements
from assay.errors import (
    FULL_DISK_HINT,
    FULL_SHARED_MEMORY_HINT,
    RESOURCES,
    AssayError,
    SystemDied,
    SystemRefused,
    resources_hint,
)
from assay.judge.check.answers import Check, not_run
from assay.judge.check.consistency import chosen
from assay.judge.check.verdict import CONFLICTS, LOSSES, is_out_of_space, why_failed, wrong_answers
from assay.lab.run_context.consistency import broken_rules, not_expressible
from assay.lab.run_context.context import RunState
from assay.provision.disk.full_storage import no_shared_memory_left, no_space_left, with_size
from assay.provision.engine.session import responds
from assay.text.reasons import sentence, with_more

_LOSS_TIMEOUT_S = 3.0
"""How long to wait, after connections are lost, for the server's process to end."""


def is_over(state: RunState) -> bool:
    """Whether the system is lost or still executes earlier transactions, so that no step can
    follow."""
    observation = state.observation
    return observation is not None and (_is_lost(observation) or _is_in_disorder(observation))


def has_rules(state: RunState) -> bool:
    """Whether the test has consistency checks after the last step, and the system can answer."""
    observation = state.observation
    is_deaf = observation is not None and _is_deaf(observation)
    if state.report is None or not state.test.drives or _is_lost(observation) or is_deaf:
        return False
    return bool(chosen(state.workload.checks.values(), state.test.checks))


def ask_rules(state: RunState) -> None:
    """Keeps the result of each consistency check, also in the observation's ``rules``. Where other
    scripts were run than the test's, its checks say nothing: they know what its own leave."""
    if (why := _why_not_applicable(state)) is not None:
        chosen_checks = chosen(state.workload.checks.values(), state.test.checks)
        state.checked([not_run(check.name, check.title, why) for check in chosen_checks])
        return
    rules = broken_rules(state, state.planned.cell.parameters)
    if any(check["found"] is None for check in rules) and (lost := _why_lost(state)) is not None:
        state.lost_in_checks = lost
        rules = [
            not_run(check["id"], check["title"], sentence(lost))
            if check["found"] is None
            else check
            for check in rules
        ]
    known = state.workload.checks.values()
    counted = {one.name for one in chosen(known, state.test.counted_checks)}
    for check in rules:
        if check["id"] in counted and check["found"] is not None:
            check["ok"] = None
    state.checked([*rules, *not_expressible(state)])
    state.add(rules={check["id"]: check["found"] for check in rules})


def _why_not_applicable(state: RunState) -> str | None:
    cell = state.planned.cell
    if cell.scripts:
        return "other scripts were run than the test's"
    return "other statements were run than the test's" if cell.feed else None


def _why_lost(state: RunState) -> str | None:
    """Why the system cannot be asked any more; None: it can."""
    deployment = state.up().deployment
    is_gone = not deployment.is_embedded and not any(map(responds, deployment.endpoints))
    if (died := _why_it_died(state, is_gone)) is not None or not is_gone:
        return died
    return f"{deployment.label} opens no session"


def reason(state: RunState) -> str | None:
    """Why the run failed, or None. A system that is broken or was changed is not used again."""
    context, report = state.context, state.report
    if report is None:
        _discard_if_changed(state)
        return why_step_failed(state, None, state.checks)
    is_lost = _is_lost(state.observation)
    died = _why_it_died(state, is_lost) if state.pooled is not None else None
    is_unreachable = died is None and _is_unreachable(state)
    is_out = is_out_of_space(report, died)
    space = state.pooled.least_space() if state.pooled is not None else None
    has_errors = died is not None or bool(state.observation and state.observation.errors)
    has_full_storage = space is not None and (
        (is_out and space.is_scarce) or (has_errors and space.is_exhausted)
    )
    if died is not None or is_over(state):
        context.pool.discard(state.planned)
    _discard_if_changed(state)
    failed = _why_failed(state, report, died)
    if failed is None and state.lost_in_checks is not None:
        context.pool.discard(state.planned)
        raise SystemDied(with_more(state.lost_in_checks, "checks could not be run"))
    if failed is not None and _is_held_to_reading(state):
        failed = with_more(failed, WHY_REFUSED)
    if failed is not None and (is_out or has_full_storage):
        hint = resources_hint(failed, is_by_url=state.planned.cell.system.url is not None)
        if hint == FULL_SHARED_MEMORY_HINT:
            failed = no_shared_memory_left(failed)
        elif has_full_storage:
            storage_name = (space and space.of_log) or state.planned.cell.storage_name
            failed = no_space_left(storage_name, failed)
            hint = with_size(FULL_DISK_HINT, space)
        raise SystemRefused(failed, error_class=RESOURCES, hint=hint)
    if failed is not None and died is not None:
        raise SystemDied(failed)
    if failed is not None and is_unreachable:
        raise SystemDied(failed, hint="is the server stopped, or the network down?")
    return failed


def why_it_ended(state: RunState, error: AssayError) -> str | None:
    """Why the system died, where a step has lost it: the load, for one."""
    pooled = state.pooled
    if not isinstance(error, SystemDied) or pooled is None or not pooled.is_up:
        return None
    return _why_it_died(state, is_lost=True)


def _discard_if_changed(state: RunState) -> None:
    if state.must_be_discarded:
        state.context.pool.discard(state.planned)


def why_step_failed(
    state: RunState, report: Observed | None, checks: Sequence[Check]
) -> str | None:
    """Why this step failed, from its report and checks; None: it succeeded."""
    if report is not None:
        return _why_report_failed(state, report, checks, None)
    wrong = [check for check in checks if check["ok"] is False]
    return f"wrong answers: {wrong_answers(wrong)}" if wrong else None


def _why_failed(state: RunState, report: Observed, died: str | None) -> str | None:
    """The first failure of all steps; the checks belong to the last step."""
    for earlier in state.reports.values():
        if died is None and earlier is not report:
            failed = _why_report_failed(state, earlier, [], None)
            if failed is not None:
                return failed
    return _why_report_failed(state, report, state.checks, died)


def _why_report_failed(
    state: RunState,
    report: Observed,
    checks: Sequence[Check],
    died: str | None,
) -> str | None:
    return why_failed(
        report,
        checks,
        died,
        counted=_counted(state),
        reconnect_timeout_s=state.planned.cell.driving.reconnect_timeout_s,
        fixes=registry.system(state.planned.cell.system.name).dialect.error_fixes,
    )


def _is_held_to_reading(state: RunState) -> bool:
    """Whether a statement was refused because its session is read-only."""
    dialect = registry.system(state.planned.cell.system.name).dialect
    errors = state.observation.errors if state.observation else ()
    return any(error.code in dialect.read_only_codes for error in errors) and bool(
        session_statements(state.workload, state.planned, dialect)
    )


def _counted(state: RunState) -> set[str]:
    """Error classes that are counted and do not fail the run."""
    counted: set[str] = set()
    if state.planned.cell.driving.reconnect_timeout_s is not None:
        counted |= LOSSES
    if state.workload.is_ad_hoc:
        counted |= CONFLICTS
    return counted


def _is_lost(observation: Observation | None) -> bool:
    return observation is not None and observation.ended_by == "lost"


def _is_unreachable(state: RunState) -> bool:
    """Whether clients were disconnected or refused, and the server opens no session now."""
    if state.observation is None or state.pooled is None:
        return False
    deployment = state.up().deployment
    is_suspect = state.observation.ended_by in ("lost", "refused", "all clients failed")
    return (
        is_suspect and not deployment.is_embedded and not any(map(responds, deployment.endpoints))
    )


def _is_deaf(observation: Observation) -> bool:
    """Whether transactions did not end and the system opened no session after them."""
    return observation.unfinished is not None and observation.unfinished.is_deaf


def _is_in_disorder(observation: Observation) -> bool:
    """Whether the system may still execute transactions that were given up."""
    unfinished = observation.unfinished
    if unfinished is None:
        return False
    return unfinished.is_deaf or unfinished.cancelled < unfinished.transactions


def _why_it_died(state: RunState, is_lost: bool) -> str | None:
    """The crash report of the system or its storage, or None. Connections are lost before the
    server's process has ended, so after a loss it is polled for a while."""
    under_test = state.up()
    can_say = under_test.reports_its_death
    deadline_s = time.monotonic() + (_LOSS_TIMEOUT_S if is_lost and can_say else 0)
    while (died := under_test.why_it_died()) is None and time.monotonic() < deadline_s:
        time.sleep(0.05)
    return died
