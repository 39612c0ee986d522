"""The sentence on a failed run names the cause, what was tried, and the fix."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import pytest

import observations
from assay.contracts.observation import Observation
from assay.dialects.mysql import MysqlDialect
from assay.judge.check.verdict import CONFLICTS, LOSSES, STATEMENT_LIMIT, why_failed

END = {
    "client": 0, "group": "all", "elapsed_ns": 1, "passes": 0, "transactions": 9, "state": "lost"
}  # fmt: skip


def _ended(by: str, error_class: str, **changes: Any) -> Observation:
    error = observations.error(**{"class": error_class})
    return observations.observation(ended_by=by, errors=[error], client_ends=[END, END], **changes)


def _unfinished(transactions: int, *, responds: bool) -> dict[str, Any]:
    numbers = {"transactions": transactions, "cancelled": 0, "limit_s": 2.0}
    return {"unfinished": {**numbers, "responds": responds}}


def test_a_limit_of_connections_has_a_fix() -> None:
    failed = str(why_failed(_ended("refused", "too many connections"), [], None))
    assert "not every client could connect: too many connections" in failed
    assert "fix: fewer clients" in failed
    assert "fix:" not in str(why_failed(_ended("refused", "authentication"), [], None))


def test_a_server_that_stopped_answering_is_not_a_failure_of_the_clients() -> None:
    stuck = _ended("all clients failed", "timeout", **_unfinished(2, responds=False))
    assert str(why_failed(stuck, [], None)).startswith("the server does not answer")
    slow = _ended("all clients failed", "timeout", **_unfinished(2, responds=True))
    assert str(why_failed(slow, [], None)).startswith("the last transaction of every client")
    failed = _ended("all clients failed", "syntax", **_unfinished(1, responds=True))
    assert str(why_failed(failed, [], None)).startswith("every client failed")


def test_attempts_to_reconnect_are_reported_with_their_limit() -> None:
    outages = [{"from_ns": 10**9, "to_ns": 45 * 10**8}]
    lost = _ended("lost", "lost connection", outages=outages)
    failed = str(why_failed(lost, [], None, reconnect_timeout_s=60.0))
    assert "no client reconnected in 3.5 s" in failed
    assert "at most 60 s" in failed
    assert "reconnect" not in str(why_failed(lost, [], None))


def test_a_conflict_of_transactions_has_a_fix() -> None:
    """As of MariaDB 11.8, whose snapshots are checked by default."""
    said = "Record has changed since last read in table 'accounts'"
    conflict = observations.error(**{"class": "serialization", "code": "1020", "message": said})
    outcomes = observations.outcomes(scheduled=9, ok=5, failed=4)
    failed = why_failed(observations.observation(errors=[conflict], outcomes=outcomes), [], None)
    assert said in str(failed)
    assert "fix: more retries of each transaction" in str(failed)
    fixes = MysqlDialect().error_fixes
    failed = why_failed(
        observations.observation(errors=[conflict], outcomes=outcomes), [], None, fixes=fixes
    )
    assert "fix: innodb_snapshot_isolation=OFF" in str(failed) and "retries" in str(failed)


@pytest.mark.parametrize("counted", [frozenset(), LOSSES, CONFLICTS])
@pytest.mark.parametrize("ended_by", ["", "lost"])
def test_a_lost_connection_is_named_before_conflicts(ended_by: str, counted: Set[str]) -> None:
    ended = {"ended_by": ended_by} if ended_by else {}
    errors = [
        observations.error(**{"class": name, "message": f"of {name}"})
        for name in ("serialization", "lost connection")
    ]
    outcomes = observations.outcomes(scheduled=9, ok=5, failed=4)
    observation = observations.observation(errors=errors, outcomes=outcomes, **ended)
    failed = str(why_failed(observation, [], None, counted=counted))
    if not ended_by and counted == LOSSES:
        assert "of serialization" in failed, "clients reconnected: losses are no reason"
    else:
        assert "of lost connection" in failed and "retries" not in failed


def test_a_missing_right_has_a_fix() -> None:
    said = "permission denied for table goods"
    refused = observations.error(**{"class": "permission", "code": "42501", "message": said})
    outcomes = observations.outcomes(scheduled=9, ok=5, failed=4)
    failed = why_failed(observations.observation(errors=[refused], outcomes=outcomes), [], None)
    assert said in str(failed) and "fix: grant this user what the statement needs" in str(failed)


def test_a_statement_over_its_limit_fails_no_run_and_another_timeout_does() -> None:
    outcomes = observations.outcomes(scheduled=9, ok=8, failed=1)
    of_limit = observations.error(**{"class": "timeout", "code": STATEMENT_LIMIT})
    cancelled = observations.observation(errors=[of_limit], outcomes=outcomes)
    assert why_failed(cancelled, [], None) is None
    other = observations.error(**{"class": "timeout", "code": "1205"})
    failed = observations.observation(errors=[of_limit, other], outcomes=outcomes)
    assert "1 transaction failed" in str(why_failed(failed, [], None))
