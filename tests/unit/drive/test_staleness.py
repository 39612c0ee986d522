"""How stale replicas are: what a meter counts, on servers of which it is known."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import observations
from assay.drive.staleness import meter_process
from assay.drive.staleness.meter import reports
from assay.drive.staleness.meter_process import Findings, NumberAge, Order, Replica, measure

SECOND_NS = 10**9


class Rows(NamedTuple):
    rows: list[tuple[str | None, ...]]


class Primary:
    """A table of numbers, each with the time at which it was written."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.written: list[tuple[float, int]] = []


class Sessions:
    """In place of the engine's: a primary, and replicas that have what it had some time ago."""

    def __init__(self, delay_s: Callable[[float], float]) -> None:
        self.primary = Primary()
        self.began_s = time.monotonic()
        self._delay_s = delay_s

    def __call__(self, document: str) -> Any:
        sessions, is_replica = self, json.loads(document)["replica"]

        class Session:
            def execute(self, statement: str) -> Rows:
                now_s = time.monotonic()
                if not is_replica:
                    word, _, number = statement.partition(" ")
                    if word == "write":
                        sessions.primary.written.append((time.monotonic(), int(number)))
                    else:
                        sessions.primary.statements.append(statement)
                    return Rows([])
                until_s = now_s - sessions._delay_s(now_s - sessions.began_s)
                seen = [number for at_s, number in sessions.primary.written if at_s <= until_s]
                return Rows([(str(max(seen)) if seen else None,)])

        return Session()


ORDER: Order = {
    "primary": {"replica": False},
    "replicas": [{"replica": True}],
    "prepare": ["create"],
    "write": "write :number",
    "read": "read",
    "clean_up": ["drop"],
}


def found(
    monkeypatch: pytest.MonkeyPatch, delay_s: Callable[[float], float], for_s: float
) -> tuple[Replica, Primary]:
    sessions = Sessions(delay_s)
    monkeypatch.setattr(meter_process._engine, "Session", sessions)
    answers: list[Any] = []
    is_over = threading.Event()
    timer = threading.Timer(for_s, is_over.set)
    timer.start()
    measure(ORDER, answers.append, is_over)
    timer.join()
    late, findings = answers
    assert late == {"late": [], "is_waiting": False}
    assert sessions.primary.statements == ["create", "drop"]
    return findings["replicas"][0], sessions.primary


@pytest.mark.alone
def test_ages_are_the_delay_of_the_replica_within_their_resolution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replica, primary = found(monkeypatch, lambda _: 0.05, 1.0)
    assert 8 <= len(primary.written) <= 11
    ages = [one for one in replica["numbers"] if one["is_found"]]
    assert len(ages) >= len(primary.written) - 1
    for one in ages:
        # The clock of the answer is read after the table was.
        assert one["age_ns"] >= 0.049 * SECOND_NS
        assert one["age_ns"] - one["uncertainty_ns"] <= 0.051 * SECOND_NS


@pytest.mark.alone
def test_ages_grow_with_a_pause_and_what_is_not_read_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From half a second on the replica stands still."""
    replica, primary = found(monkeypatch, lambda at_s: max(0.0, at_s - 0.5), 1.2)
    unread = [one for one in replica["numbers"] if not one["is_found"]]
    assert len(replica["numbers"]) == len(primary.written)
    assert 5 <= len(unread) <= 8
    ages_ns = [one["age_ns"] for one in unread]
    assert ages_ns == sorted(ages_ns, reverse=True)
    assert ages_ns[0] >= 0.5 * SECOND_NS


def test_a_replica_without_the_first_number_is_named_while_the_clients_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(meter_process._engine, "Session", Sessions(lambda at_s: at_s + 1))
    monkeypatch.setattr(meter_process, "_SAID_AFTER_S", 0.05)
    monkeypatch.setattr(meter_process, "CATCH_UP_S", 0.2)
    answers: list[Any] = []
    is_over = threading.Event()
    timer = threading.Timer(0.4, is_over.set)
    timer.start()
    measure(ORDER, answers.append, is_over)
    assert answers[:2] == [
        {"late": [0], "is_waiting": True},
        {"late": [0], "is_waiting": False},
    ]


def seen(at_s: float, age_ms: int, *, is_found: bool = True) -> NumberAge:
    return NumberAge(
        written_unix_ns=round(at_s * SECOND_NS),
        age_ns=age_ms * 10**6,
        uncertainty_ns=2 * 10**6,
        is_found=is_found,
    )


def test_a_report_is_of_the_measurement_alone() -> None:
    whole = observations.observation(started_unix_ns=100 * SECOND_NS, elapsed_ns=2 * SECOND_NS)
    numbers = [
        seen(99.9, 900),
        *(seen(100 + k / 100, k) for k in range(100)),
        seen(101.9, 150, is_found=False),
        seen(102.0, 800),
    ]
    findings = Findings(replicas=[Replica(numbers=numbers, lost_unix_ns=101 * SECOND_NS)])
    (report,) = reports(["b:1"], findings, whole)
    assert (report.numbers, report.not_read, report.lost_after_s) == (101, 1, 1.0)
    in_ms = [value and value / 10**6 for value in (report.p50_ns, report.p99_ns, report.max_ns)]
    assert in_ms == [50, 99, 150]
    assert report.resolution_ns == 2 * 10**6
    (none,) = reports(["b:1"], Findings(replicas=[Replica(numbers=[], lost_unix_ns=None)]), whole)
    assert (none.numbers, none.p50_ns, none.resolution_ns, none.lost_after_s) == (
        0,
        None,
        None,
        None,
    )
