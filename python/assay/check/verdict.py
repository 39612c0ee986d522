"""Takes an observation and its checks; gives the reason why the run failed, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.check.answers import Check

_ENDED = {
    "refused": "not every client could connect",
    "lost": "the server went away during the run",
    "all clients failed": "every client failed",
    "interrupted": "interrupted",
}


def why_failed(
    observation: Mapping[str, Any], checks: Sequence[Check], died: str | None
) -> str | None:
    """One sentence, the nearest cause first; ``died`` is what the system says of its own end."""
    if died is not None:
        return died
    if observation.get("kind") == "update":
        if not observation["equals_fresh_load"]:
            return "after the update the tables differ from a fresh load"
        return None
    if observation.get("kind") == "limit":
        return None
    first = _first_error(observation)
    if (ended := _ENDED.get(observation["ended_by"])) is not None:
        return f"{ended}{first}"
    wrong = [check for check in checks if check["ok"] is False]
    if wrong:
        named = ", ".join(
            f"{check['id']} gave {_count(check['found'])} ({check['note']})" for check in wrong[:3]
        )
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        return f"wrong answers: {named}{more}"
    outcomes = observation["outcomes"]
    if outcomes["failed"] or outcomes["unknown"]:
        return f"{outcomes['failed'] + outcomes['unknown']} transactions did not end well{first}"
    return None


def _count(found: int | None) -> str:
    return "nothing" if found is None else f"{found} rows"


def _first_error(observation: Mapping[str, Any]) -> str:
    errors = observation["errors"]
    if not errors:
        return ""
    error = errors[0]
    return f": {error['class']}: {error['message']}"
