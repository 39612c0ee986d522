"""Takes an observation and its checks; gives the reason why the run failed, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from assay.check.answers import Check
from assay.errors import says_disk_is_full

_ENDED = {
    "refused": "not every client could connect",
    "lost": "the server went away during the run",
    "all clients failed": "every client failed",
    "interrupted": "interrupted",
}


LOSSES = frozenset({"lost connection", "connection refused"})
"""Classes of errors that come of a server which is away."""
CONFLICTS = frozenset({"serialization", "deadlock"})
"""Classes of errors that come of other transactions at the same time."""


def why_failed(
    observation: Mapping[str, Any],
    checks: Sequence[Check],
    died: str | None,
    *,
    counted: Set[str] = frozenset(),
) -> str | None:
    """One sentence, the nearest cause first; ``died`` is what the system says of its own end.

    ``counted``: classes of errors that are counted and no reason: losses where clients were told
    to come back, conflicts of a script that runs by itself, as in pgbench.
    """
    if died is not None:
        return died
    if observation.get("kind") == "update":
        if not observation["equals_fresh_load"]:
            return "after the update the tables differ from a fresh load"
        return None
    if observation.get("kind") == "limit":
        return None
    first = _first_error(observation, counted)
    if (ended := _ENDED.get(observation["ended_by"])) is not None:
        return f"{ended}{first}"
    wrong = [check for check in checks if check["ok"] is False]
    if wrong:
        return f"wrong answers: {wrong_answers(wrong)}"
    outcomes = observation["outcomes"]
    is_counted = all(error["class"] in counted for error in observation["errors"])
    bad = outcomes["failed"] + outcomes["unknown"]
    if bad and not is_counted:
        return f"{bad} {'transaction' if bad == 1 else 'transactions'} failed{first}"
    return None


def is_out_of_space(observation: Mapping[str, Any], died: str | None) -> bool:
    """Whether a full disk, or another resource that ran out, is the reason: the fault is neither
    the system's nor the workload's."""
    if died is not None and says_disk_is_full(died):
        return True
    return any(error["class"] == "resources" for error in observation.get("errors", ()))


def wrong_answers(wrong: Sequence[Check]) -> str:
    """The first three of them, each with what it gave."""
    named = ", ".join(
        f"{check['id']} gave {_count(check['found'])} ({check['note']})" for check in wrong[:3]
    )
    return named + (f" and {len(wrong) - 3} more" if len(wrong) > 3 else "")


def _count(found: int | None) -> str:
    if found is None:
        return "nothing"
    return f"{found} row" if found == 1 else f"{found} rows"


def _first_error(observation: Mapping[str, Any], counted: Set[str]) -> str:
    every = observation["errors"]
    errors = [error for error in every if error["class"] not in counted] or every
    if not errors:
        return ""
    error = errors[0]
    return f": {error['class']}: {error['message']}"
