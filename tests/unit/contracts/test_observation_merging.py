"""Observations of several client machines merge to that of one machine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from assay import _engine
from assay.contracts.observation import (
    MOST_PASS_TIMES,
    Interval,
    MachineCost,
    Observation,
    Outage,
    Standstill,
    read_observation,
)
from assay.contracts.observation.merging import SECOND_NS, merge
from assay.contracts.observation.successive import successive
from assay.contracts.observation.transactions import encoded, merged_latency
from assay.errors import InputError


def driven(name: str, **changes: Any) -> Observation:
    """The engine's observation of clients of the null system."""
    document = {
        "deployment": {
            "driver": "null",
            "options": {"deployment": name, "delay": "exponential:2ms"},
        },
        "scripts": [
            {"name": "read", "path": "read.sql", "text": "SELECT 1;\n"},
            {"name": "write", "path": "write.sql", "text": "SELECT 2;\n"},
        ],
        "order": "sequence",
        "clients": 2,
        "seed": 1,
        "stop": {"passes": 60},
        **changes,
    }
    return read_observation(json.loads(_engine.drive(json.dumps(document))))


def numbered_from(observation: Observation, first: int) -> Observation:
    """The observation of a machine whose clients have these numbers."""
    ends, times = (
        tuple(replace(one, client=one.client + first) for one in each)
        for each in (observation.client_ends, observation.pass_times)
    )
    return replace(observation, client_ends=ends, pass_times=times)


@pytest.fixture(scope="module")
def machines() -> list[Observation]:
    """The third measured only its first second."""
    open_loop = {"arrival": {"kind": "poisson", "offered_rate_per_s": 150.0}, "order": "mix"}
    found = [
        driven("merge one", **open_loop, stop={"duration_s": 2.2}),
        driven("merge two", **open_loop, stop={"duration_s": 1.2}, seed=2),
        driven("merge three", **open_loop, stop={"duration_s": 0.4}, seed=3),
    ]
    return [numbered_from(one, 2 * place) for place, one in enumerate(found)]


def by_hand(parts: Sequence[Observation], what: str) -> Any:
    return sum(getattr(one.outcomes, what) for one in parts)


@pytest.mark.slow
def test_merged_counts_and_distributions_equal_the_whole(machines: list[Observation]) -> None:
    whole = merge(machines)
    for name in ("scheduled", "ok", "failed", "skipped", "attempts"):
        assert getattr(whole.outcomes, name) == by_hand(machines, name)
    assert whole.clients == 6
    assert [end.client for end in whole.client_ends] == list(range(6))
    assert whole.all_ok.count == whole.outcomes.ok
    assert whole.all_ok.latency == merged_latency([one.all_ok.latency for one in machines])
    assert whole.all_ok.latency.max_ns == max(one.all_ok.latency.max_ns for one in machines)
    assert whole.all_ok.latency.sum_ns == sum(one.all_ok.latency.sum_ns for one in machines)
    assert {one.name for one in whole.transactions} == {"read", "write"}
    (group,) = whole.groups
    assert group.outcomes == whole.outcomes
    assert group.all_ok == whole.all_ok
    assert group.throughput_per_s == pytest.approx(whole.outcomes.ok / (whole.elapsed_ns / 1e9))
    assert whole.arrival.offered_rate_per_s == pytest.approx(450)


@pytest.mark.slow
def test_merged_seconds_have_every_sample_exactly(machines: list[Observation]) -> None:
    whole = merge(machines)
    assert [line.second for line in whole.intervals] == list(range(len(machines[0].intervals)))
    for line in whole.intervals:
        own = [one.intervals[line.second] for one in machines if line.second < len(one.intervals)]
        assert line.ok == sum(one.ok for one in own)
        known = [one.latency for one in own if one.latency is not None]
        latency = merged_latency(known)
        assert line.latency == encoded(latency)
        assert (line.p99_ns, line.max_ns) == (latency.p99_ns, latency.max_ns)
        assert line.clients_connected == 6
    parts = [line.latency for line in whole.intervals if line.latency is not None]
    # A transaction that was under way at the end has been unanswered in no second.
    answered = replace(encoded(whole.all_ok.latency), unanswered=0)
    assert encoded(merged_latency(parts)) == answered
    lags = [line.schedule_lag for line in whole.intervals if line.schedule_lag is not None]
    assert whole.all_ok.schedule_lag is not None
    assert encoded(merged_latency(lags)) == encoded(whole.all_ok.schedule_lag)


@pytest.mark.slow
def test_the_order_of_machines_changes_no_number(machines: list[Observation]) -> None:
    one, other = merge(machines), merge(machines[::-1])
    assert one.outcomes == other.outcomes
    assert one.all_ok == other.all_ok
    assert one.intervals == other.intervals
    assert one.client_ends == other.client_ends
    assert one.transactions_per_client == other.transactions_per_client


@pytest.mark.parametrize("merged", [merge, successive])
def test_what_is_partly_durable_and_prepared_again_adds_up(
    merged: Callable[[Sequence[Observation]], Observation],
) -> None:
    script = {"name": "a", "path": "a.sql", "text": "UPDATE t SET a = 1; UPDATE u SET a = 1;\n"}
    changes = {"scripts": [script], "stop": {"passes": 5}, "retries": {"most": 1}}
    parts = []
    for place, statement in enumerate((2, 4)):
        options = {"deployment": f"durable {place}", "fail": f"deadlock@#{statement}"}
        one = driven("", deployment={"driver": "null", "options": options}, **changes)
        assert (one.outcomes.unknown, one.partly_durable, one.not_retried) == (2, 2, 2)
        numbered = numbered_from(one, 2 * place) if merged is merge else one
        parts.append(replace(numbered, prepared_again=3))
    whole = merged(parts)
    assert (whole.partly_durable, whole.not_retried, whole.prepared_again) == (4, 4, 6)


def test_the_passes_that_ended_first_are_kept_and_the_others_counted() -> None:
    deployment = {"driver": "null", "options": {"deployment": "many passes"}}
    one = driven("many passes", deployment=deployment, stop={"passes": MOST_PASS_TIMES})
    whole = merge([one, numbered_from(one, 2)])
    for observed, made in ((one, 2 * MOST_PASS_TIMES), (whole, 4 * MOST_PASS_TIMES)):
        assert len(observed.pass_times) == MOST_PASS_TIMES
        assert observed.pass_times_left_out == made - MOST_PASS_TIMES


def test_passes_and_littles_law_of_a_closed_loop() -> None:
    parts = [driven("merge closed"), numbered_from(driven("merge closed too", seed=2), 2)]
    whole = merge(parts)
    assert whole.passes is not None and whole.passes.count == 240
    ends = [(one.end_ns, one.client) for one in whole.pass_times]
    assert (len(ends), whole.pass_times_left_out, ends == sorted(ends)) == (240, 0, True)
    assert Counter(client for _, client in ends) == dict.fromkeys(range(4), 60)
    law = whole.littles_law
    assert law is not None
    assert law.clients_by_law == pytest.approx(law.clients, rel=0.05)
    per_s = whole.outcomes.ended / (whole.elapsed_ns / 1e9)
    assert law.throughput_per_s == pytest.approx(per_s, rel=1e-6)


@pytest.mark.slow
def test_a_merged_stall_is_common_to_all_and_a_suspension_to_any(
    machines: list[Observation],
) -> None:
    def spans(shape: Any, *seconds: tuple[float, float]) -> Any:
        return tuple(shape(round(a * SECOND_NS), round(b * SECOND_NS)) for a, b in seconds)

    some = replace(
        machines[0],
        stalls=spans(Standstill, (0, 1.5), (5, 9)),
        suspensions=spans(Standstill, (0, 0.6)),
        outages=spans(Outage, (1, 2)),
    )
    other = replace(
        machines[1],
        stalls=spans(Standstill, (0.25, 4), (8.5, 9)),
        suspensions=spans(Standstill, (0.5, 0.75)),
        outages=spans(Outage, (1.5, 3)),
    )
    whole = merge([some, other])
    assert whole.stalls == spans(Standstill, (0.25, 1.5))
    assert whole.suspensions == spans(Standstill, (0, 0.75))
    assert whole.outages == spans(Outage, (1.5, 2))
    first, second = whole.intervals[:2]
    assert (first.stalled_ns, second.stalled_ns) == (3 * SECOND_NS // 4, SECOND_NS // 2)
    assert first.suspended_ns == 3 * SECOND_NS // 4


def test_answers_that_differ_between_machines_are_a_difference() -> None:
    one = driven("merge answers", digest=True)
    result = one.results[0]
    other = replace(one, results=(replace(result, rows=result.rows + 7), *one.results[1:]))
    merged = merge([one, numbered_from(other, 2)]).results[0]
    assert (merged.answers, merged.differing) == (2 * result.answers, result.answers)
    assert merged.first_difference is not None
    assert "7 rows" in merged.first_difference


@pytest.mark.slow
def test_a_client_of_two_machines_and_damaged_parts_are_refused(
    machines: list[Observation],
) -> None:
    with pytest.raises(ValueError, match="client 0 was driven by two machines"):
        merge([machines[0], machines[0]])
    latency = machines[0].all_ok.latency
    with pytest.raises(InputError, match="part 2"):
        merged_latency([latency, replace(latency, count=latency.count + 1)])


@pytest.mark.slow
def test_an_observation_of_ten_minutes_stays_small() -> None:
    """A second of three groups with some thousand transactions, fewer where other programs use the
    machine, takes a few kilobytes."""
    observation = driven("merge small", clients=8, stop={"duration_s": 2.0})
    lines: list[Interval] = [line for line in observation.intervals if line.ok]
    assert lines
    size = max(len(json.dumps(line.document)) for line in lines)
    assert size * 600 * 3 < 8_000_000, f"{size} bytes a second"


@pytest.mark.slow
def test_parts_that_followed_one_another_are_one_measurement_of_the_same_clients() -> None:
    texts = [
        {"name": f"q{number}", "path": f"q{number}.sql", "text": f"SELECT {number};\n"}
        for number in (1, 2, 3)
    ]
    parts = [
        driven(f"turn {one['name']}", scripts=[one], sum_answers=True, stop={"passes": 200})
        for one in texts
    ]
    whole = successive(parts)
    assert whole.elapsed_ns == sum(part.elapsed_ns for part in parts)
    assert (whole.clients, whole.outcomes.ok) == (2, 3 * 2 * 200)
    assert [one.name for one in whole.transactions] == ["q1", "q2", "q3"]
    assert [end.transactions for end in whole.client_ends] == [600, 600]
    assert sum(line.ok for line in whole.intervals) == whole.outcomes.ok
    assert {line.clients_connected for line in whole.intervals} == {2}
    assert [line.second for line in whole.intervals] == list(range(len(whole.intervals)))
    firsts = [one.first.began_ns for one in whole.transactions if one.first is not None]
    assert firsts[1] >= parts[0].elapsed_ns and firsts[2] >= firsts[1] + parts[1].elapsed_ns // 2
    (group,) = whole.groups
    assert (group.clients, group.elapsed_ns, group.passes) == (2, whole.elapsed_ns, None)
    assert group.throughput_per_s == pytest.approx(whole.throughput_per_s)
    law = whole.littles_law
    at_work = [(part.littles_law, part.elapsed_ns) for part in parts]
    clients = sum(of_part.clients * ns for of_part, ns in at_work if of_part) / whole.elapsed_ns
    assert law is not None and law.clients == pytest.approx(clients) and 1 < clients < 2.01
    together = driven("turn all", scripts=texts, sum_answers=True, stop={"passes": 200})
    assert whole.answer_sums == together.answer_sums, "the same questions, asked in one run"
    assert read_observation(whole.document) == whole
    busy = MachineCost(5, 5, 5, 5, 5, 1.5, 100, 10, free_least_bytes=40)
    idle = MachineCost(1, 1, 1, 1, 1, 0.5, 200, 20, free_least_bytes=30)
    costs = [replace(parts[0], machine_cost=one) for one in (busy, idle)]
    expected = MachineCost(6, 6, 6, 6, 6, 1.5, 200, 20, free_least_bytes=30)
    assert successive(costs).machine_cost == expected
