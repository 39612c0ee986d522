"""Takes an observation and its checks; returns the reason why the run failed, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from types import MappingProxyType

from assay.contracts.observation import (
    ErrorReport,
    Observation,
    Observed,
    Outcomes,
    StepReport,
)
from assay.errors import RESOURCES, readable, says_disk_is_full
from assay.judge.check.answers import Check
from assay.text import units

_ENDED = {
    "refused": "not every client could connect",
    "lost": "the server disconnected during the run",
    "all clients failed": "every client failed",
    "interrupted": "interrupted",
}
_NO_FIXES: Mapping[str, str] = MappingProxyType({})


LOSSES = frozenset({"lost connection", "connection refused"})
"""Classes of errors of a server that cannot be reached."""
CONFLICTS = frozenset({"serialization", "deadlock"})
"""Classes of errors of concurrent transactions."""
STATEMENT_LIMIT = "statement_limit"
"""The engine's code of the error of a statement that took longer than its limit, and was
cancelled."""
_CONFLICT = "serialization or deadlock"
# Kept in the record, which Python programs read too: in words, not as options are spelled.
_FIXES: Mapping[str, str] = {
    **dict.fromkeys(
        CONFLICTS,
        "more retries of each transaction (1000, say), fewer clients, or a setting of the system "
        "by which fewer of them are refused",
    ),
    "too many connections": "fewer clients, or a higher limit of connections in the server",
    "permission": "grant this user what the statement needs, or name another user in the URL, or "
    "a server that takes writes",
}
"""Class of errors → its fix, where the dialect knows none of the code."""
MOST_CONFLICTS = 0.10
"""Share of the transactions that may end by conflicts where these are counted, as in pgbench: with
more of them the throughput is not that of the script."""


def why_failed(
    observation: Observed,
    checks: Sequence[Check],
    died: str | None,
    *,
    counted: Set[str] = frozenset(),
    reconnect_timeout_s: float | None = None,
    fixes: Mapping[str, str] = _NO_FIXES,
) -> str | None:
    """One sentence with the most direct cause; ``died`` is the system's own reason for its end.

    ``counted``: classes of errors that are counted and do not fail the run: losses where clients
    reconnect, conflicts of an ad hoc script, as in pgbench. ``reconnect_timeout_s``: for how long
    clients that lost their sessions tried to reconnect; None: they did not.
    ``fixes``: those that the dialect knows, by the error's code.
    """
    if died is not None:
        return died
    if isinstance(observation, StepReport):
        return observation.why_failed()
    if observation.lost_generators and (
        observation.ended_by != "stop" or not observation.is_bound_known
    ):
        return ", ".join(observation.lost_generators)
    first = _first_error(observation, counted, fixes)
    if (ended := _ended(observation, reconnect_timeout_s)) is not None:
        return f"{ended}{first}"
    wrong = [check for check in checks if check["ok"] is False]
    if wrong:
        return f"wrong answers: {wrong_answers(wrong)}"
    outcomes = observation.observed_outcomes
    is_counted = all(
        error.class_ in counted or error.code == STATEMENT_LIMIT for error in observation.errors
    )
    if outcomes.lost and not is_counted:
        classes = by_class(observation.errors)
        return f"{_lost(outcomes)}{f' ({classes})' if ', ' in classes else ''}{first}"
    classes_found = {error.class_ for error in observation.errors}
    conflicts = classes_found <= CONFLICTS and outcomes.lost > MOST_CONFLICTS * outcomes.scheduled
    if outcomes.lost and conflicts:
        share = units.percent(outcomes.lost / outcomes.scheduled)
        return f"{_lost(outcomes)}, {share} of all{first}"
    return None


def cancelled(observation: Observation) -> set[str]:
    """The transaction types of which a statement was cancelled at its limit."""
    of_limit = (error for error in observation.errors if error.code == STATEMENT_LIMIT)
    return {error.transaction for error in of_limit if error.transaction is not None}


def by_class(errors: Sequence[ErrorReport]) -> str:
    """``419 serialization or deadlock, 185 data``: the errors after which a transaction was not
    tried again, the most frequent first; empty: there are none."""
    both = {error.class_ for error in errors} >= CONFLICTS
    ended: Counter[str] = Counter()
    for error in errors:
        is_one_of_two = both and error.class_ in CONFLICTS
        ended[_CONFLICT if is_one_of_two else error.class_] += error.count - error.retried
    return ", ".join(f"{count} {name}" for name, count in ended.most_common() if count > 0)


def _lost(outcomes: Outcomes) -> str:
    """``9 transactions failed, 1 unknown``: each under the word of its outcome."""
    failed, unknown = outcomes.failed, outcomes.unknown
    if not failed:
        return f"the outcome of {units.counted(unknown, 'transaction')} is unknown"
    return f"{units.counted(failed, 'transaction')} failed" + (
        f", {unknown} unknown" if unknown else ""
    )


def _ended(observation: Observation, reconnect_timeout_s: float | None) -> str | None:
    """How the run ended; None where it ended as planned."""
    ended = _ENDED.get(observation.ended_by)
    if observation.ended_by == "lost" and reconnect_timeout_s is not None:
        tried_s = observation.outages[-1].lasted_ns / 1e9 if observation.outages else 0
        times = observation.reconnects
        before = f" after {units.counted(times, 'reconnect')}" if times else ""
        again = " again" if times else ""
        return (
            f"{ended}{before}, and no client reconnected{again} in {tried_s:.1f} s (they try until "
            f"the end of the run, for at most {reconnect_timeout_s:g} s)"
        )
    unfinished = observation.unfinished
    if (
        observation.ended_by != "all clients failed"
        or unfinished is None
        or unfinished.transactions < len(observation.client_ends)
    ):
        return ended
    if unfinished.is_deaf:
        return "the server does not answer, and it opens no session"
    return "the last transaction of every client did not end"


def is_out_of_space(observation: Observed, died: str | None) -> bool:
    """Whether the reason is a full disk or another resource that ran out, which is neither the
    system's fault nor the workload's. What is known of a death counts alone: a disk that is gone
    gives the same errors as a full one."""
    if died is not None:
        return says_disk_is_full(died)
    errors = observation.errors if isinstance(observation, Observation) else ()
    return any(error.class_ == RESOURCES for error in errors)


def wrong_answers(wrong: Sequence[Check]) -> str:
    """The first three, each with the rows it returned."""
    named = ", ".join(f"{_answer(check)} ({check['note']})" for check in wrong[:3])
    return named + (f" and {len(wrong) - 3} more" if len(wrong) > 3 else "")


def _answer(check: Check) -> str:
    """``a returned 2 rows``; of a query that was refused ``a failed``."""
    found = check["found"]
    if found is None:
        return f"{check['id']} failed"
    return f"{check['id']} returned {found} {'row' if found == 1 else 'rows'}"


def _first_error(observation: Observation, counted: Set[str], fixes: Mapping[str, str]) -> str:
    every = observation.errors
    errors = [error for error in every if error.class_ not in counted] or every
    losses = [error for error in every if error.class_ in LOSSES]
    if observation.ended_by == "lost":
        errors = losses or errors
    elif any(error in losses for error in errors):
        errors = [error for error in errors if error.class_ not in CONFLICTS]
    if not errors:
        return ""
    first = errors[0]
    fix = fixes.get(first.code) or _FIXES.get(first.class_)
    return f": {first.class_}: {readable(first.message)}" + (f"; fix: {fix}" if fix else "")
