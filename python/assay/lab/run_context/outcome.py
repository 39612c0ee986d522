"""Takes a run before and after its steps; refuses it where its server takes no writes or has no
replicas; notes what its tables held and what lowers durability; returns why it failed, or None."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from assay import registry
from assay.contracts.deployment import Deployment
from assay.contracts.driving import READ_ANY, READ_REPLICA, read_of
from assay.contracts.durability import SessionSettings
from assay.contracts.factors import CLIENT_PROGRAM
from assay.contracts.observation import Observation, Observed
from assay.contracts.systems.abilities import ReadsDurability
from assay.drive.prepare import (
    WHY_REFUSED,
    first_word,
    may_change_data,
    read_only_statements,
    statements_of,
)
from assay.errors import (
    FULL_DISK_HINT,
    FULL_SHARED_MEMORY_HINT,
    RESOURCES,
    AssayError,
    RefusedRun,
    SystemDied,
    SystemRefused,
    resources_hint,
)
from assay.experiment import NATIVE
from assay.judge.result_checks import (
    CONFLICTS,
    LOSSES,
    Check,
    chosen_rules,
    is_out_of_space,
    not_run,
    why_failed,
    wrong_answers,
)
from assay.lab.run_context.context import RunState, broken_rules, rules_not_expressible
from assay.load.existing_data import look, unflushed
from assay.plan import PlannedRun
from assay.plan.drives import PlannedDrive, drives
from assay.provision.engine.engine_calls import responds
from assay.provision.space import no_shared_memory_left, no_space_left, with_size
from assay.text import pattern
from assay.text.phrases import Mention, phrase, reason_sentence, reason_with_more
from assay.text.terminal import shortened
from assay.workload.values import Workload

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
    return bool(chosen_rules(state.workload.checks.values(), state.test.checks))


def ask_rules(state: RunState) -> None:
    """Keeps the result of each consistency check, also in the observation's ``rules``. Where other
    scripts were run than the test's, its checks say nothing: they know what its own leave."""
    if (why := _why_not_applicable(state)) is not None:
        chosen_checks = chosen_rules(state.workload.checks.values(), state.test.checks)
        state.checked([not_run(check.name, check.title, why) for check in chosen_checks])
        return
    rules = broken_rules(state, state.planned.cell.parameters)
    if any(check["found"] is None for check in rules) and (lost := _why_lost(state)) is not None:
        state.lost_in_checks = lost
        rules = [
            not_run(check["id"], check["title"], reason_sentence(lost))
            if check["found"] is None
            else check
            for check in rules
        ]
    known = state.workload.checks.values()
    counted = {one.name for one in chosen_rules(known, state.test.counted_checks)}
    for check in rules:
        if check["id"] in counted and check["found"] is not None:
            check["ok"] = None
    state.checked([*rules, *rules_not_expressible(state)])
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
        raise SystemDied(reason_with_more(state.lost_in_checks, "checks could not be run"))
    if failed is not None and _is_held_to_reading(state):
        failed = reason_with_more(failed, WHY_REFUSED)
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
    state: RunState, report: Observed, checks: Sequence[Check], died: str | None
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
        read_only_statements(state.workload, state.planned, dialect)
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


def keep_tables_before(state: RunState) -> None:
    if _is_foreign(state):
        _keep_tables(state, is_after=False)
        _note_unflushed(state)


def keep_tables_after(state: RunState) -> None:
    """Not of a system that is lost."""
    if _is_foreign(state) and state.report is not None and not is_over(state):
        _keep_tables(state, is_after=True)


def _is_foreign(state: RunState) -> bool:
    """Whether others decide what it holds."""
    if state.pooled is None or not state.test.drives or state.test.loads:
        return False
    return not state.pooled.deployment.is_private


def _keep_tables(state: RunState, *, is_after: bool) -> None:
    pooled, context = state.up(), state.context
    context.events.stage(f"count the rows {'after' if is_after else 'before'} the run")
    found = look(pooled.deployment, pooled.system.dialect, statements_of_run(state))
    tables, state.called_functions = found
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


def note_durability_before(state: RunState) -> None:
    if state.pooled is None:
        return
    own = state.context.compiled.session_settings(state.planned)
    if own.statements:
        _note_lowered(state, _by_sessions(state, own))


def note_durability_after(state: RunState) -> None:
    """Not of a system that is lost, or of a run without clients."""
    if state.pooled is None or state.report is None or is_over(state):
        return
    found = {
        f"{setting}, not so at first": "leave what sets it out of the scripts"
        for setting in _asked_settings(state)
        if setting not in state.pooled.deployment.durability_lowered_by
    }
    _note_lowered(state, found)


def _note_lowered(state: RunState, lowered: dict[str, str]) -> None:
    if lowered:
        pooled = state.up()
        pooled.note_lowered_durability(lowered)
        state.context.store.deployment_changed(pooled.deployment)


def _asked_settings(state: RunState, statements: Sequence[str] = ()) -> tuple[str, ...]:
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
        for setting in _asked_settings(state, executed[:number]):
            if setting not in known:
                known.add(setting)
                found[f"{setting} by {statement}"] = f"leave {statement} out of the scripts"
    return found


_NAME_THEM = phrase(
    "name {}, or {--read any}",
    "the hosts of its cluster in the URL: SCHEME://HOST,HOST,HOST/DATABASE",
)


class _Readers(Struct, frozen=True):
    """Clients that read elsewhere than at the primary."""

    drive: PlannedDrive
    name: str
    """Of their group; empty: all clients of the step."""
    read: str
    scripts: tuple[str, ...]
    """Those that they send there."""
    are_all: bool
    """Whether these are all scripts of the group."""

    @property
    def described(self) -> str:
        who = f"the clients of group {self.name}" if self.name else "the clients"
        if self.are_all:
            return f'{who} (read = "{self.read}")'
        return f"{who} with {', '.join(self.scripts)} ({self.read})"


def why_no_replicas(workload: Workload, run: PlannedRun) -> str | None:
    """Why its clients cannot read where they are to, as far as that is known from the plan; None:
    they may. A server by URL says itself what it is."""
    if run.cell.system.url is not None:
        return None
    for readers in _readers(workload, run):
        if readers.read == READ_REPLICA:
            return f"{_has_none(run.cell.system.label, readers)}; {_NAME_THEM}"
    return None


def refuse_reads_at_replicas(state: RunState) -> None:
    """Raises `RefusedRun` with what the run would do there, and the fix: a server that has no
    replica, or takes no writes, is as it was named."""
    if state.pooled is None:
        return
    deployment = state.up().deployment
    for readers in _readers(state.workload, state.planned):
        _insist_on_replicas(deployment, readers)
        _refuse_native_clients(readers)
        _refuse_writes_at_replicas(state, deployment, readers)


def _readers(workload: Workload, run: PlannedRun) -> Iterator[_Readers]:
    for drive in drives(workload, run):
        for group in drive.groups:
            yield from _readers_of(drive, group.name, group.driving.read, group.scripts)
        if not drive.groups:
            yield from _readers_of(drive, "", drive.run.cell.driving.read, drive.scripts)


def _readers_of(
    drive: PlannedDrive, group: str, read: str, scripts: tuple[str, ...]
) -> Iterator[_Readers]:
    for word in (READ_REPLICA, READ_ANY):
        sent = tuple(script for script in scripts if read_of(read, script) == word)
        # A feed of statements has no script with a name.
        if sent or read == word:
            yield _Readers(drive, group, word, sent, are_all=len(sent) == len(scripts))


def _insist_on_replicas(deployment: Deployment, readers: _Readers) -> None:
    if readers.read != READ_REPLICA:
        return
    known = [one.role for one in deployment.members]
    if deployment.role is not None:
        known.append(deployment.role)
    if not any(role.is_replica for role in known):
        raise RefusedRun(_has_none(deployment.label, readers), hint=_NAME_THEM)


def _has_none(label: str, readers: _Readers) -> str:
    return f"{label} has no replica, at which {readers.described} would read"


def _refuse_native_clients(readers: _Readers) -> None:
    if readers.drive.run.cell.level(CLIENT_PROGRAM) == NATIVE:
        raise RefusedRun(
            f"the system's own client programs work at one server, and {readers.described} at "
            "others",
            hint=phrase("leave {--client-program} out, or name one replica as the only host"),
        )


def _refuse_writes_at_replicas(state: RunState, deployment: Deployment, readers: _Readers) -> None:
    dialect = state.up().system.dialect
    if not deployment.members or read_only_statements(state.workload, state.planned, dialect):
        return
    writing = state.context.compiled.writing_types(readers.drive, dialect)
    found = [name for name in readers.scripts if name in writing]
    if found:
        raise RefusedRun(
            f"{readers.described} would write at replicas, which take no writes: {found[0]}",
            hint=phrase(
                "send there only the scripts that read: {} or, in the workload, "
                "{} (SCRIPT, each that reads)",
                Mention("read", "SCRIPT=replica"),
                'read = { SCRIPT = "replica" }',
            ),
        )


_WRITES = frozenset(("insert", "update", "delete", "merge", "replace", "truncate"))
"""Words that begin a statement which changes rows, and does nothing else."""
_MAY_BE_ALLOWED = pattern(r"(?i)\b(temp|temporary|read_only|read\s+(write|only))\b")
"""Words of scripts that write to temporary tables, or that set themselves what their sessions may
do: only the server knows whether it takes their writes."""
_SHOWN = 60
"""Characters of a statement."""


def refuse_writes(state: RunState) -> None:
    """Raises `SystemRefused` with the server's reason and where writes are taken."""
    role = state.pooled.deployment.role if state.pooled is not None else None
    if role is None or not role.why_read_only:
        return
    if writing := _writing(state):
        raise SystemRefused(
            f"{state.up().deployment.label} takes no writes: it is a {role.described}; {writing}",
            hint=role.fix,
        )


def _writing(state: RunState) -> str:
    """What the run would write; empty: nothing, as far as its statements show it."""
    if state.test.loads:
        return f"the test {state.test.name} loads its tables"
    if not state.test.drives or not may_change_data(state.context.compiled, state.planned):
        return ""
    statements = statements_of_run(state)
    if any(_MAY_BE_ALLOWED.search(statement) for statement in statements):
        return ""
    written = (one for one in statements if first_word(one) in _WRITES)
    first = next(written, None)
    return "" if first is None else f"the run would send: {shortened(first, _SHOWN)}"
