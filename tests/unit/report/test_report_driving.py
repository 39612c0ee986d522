"""Reports of loops, late and retried transactions, outages, costs, and of what a server did.

Long because each kind of table has an invented observation of its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
import observations
from assay.contracts.observation import Observation
from assay.experiment import Driving
from assay.judge import judge_run, run_warnings
from assay.judge.warning_kinds import WarningKind
from assay.record import ExperimentRecord
from assay.record.metrics import clients
from assay.report import cell_runs
from assay.report.build import build
from assay.report.declared import aggregates
from assay.report.sections import timeline
from golden_record import DEVICE, MS, OPEN, OUTCOMES, open_loop, seconds, transaction
from shown_report import row_of, table_of

CLOSED = Driving(duration_s=20.0)
COUNTED = Driving(transactions=20)


def experiment(path: Path, driving: Driving, **observed: Any) -> ExperimentRecord:
    planned = invented.plan([invented.POSTGRESQL], test="load", driving=[driving])
    seconds = observed.pop("elapsed_s", 20.0)
    return invented.experiment(path / "r.sqlite", planned, seconds, observation=observed, checks=[])


def driven(record: ExperimentRecord) -> Observation:
    (run,) = record.runs
    assert run.driven is not None
    return run.driven


def test_no_digit_is_shown_that_the_histogram_does_not_have(tmp_path: Path) -> None:
    times = {"p50_ns": 511, "p90_ns": 4_607, "p95_ns": 22_527, "p99_ns": 262_143, "max_ns": 28_733}
    short = transaction("move", 1950, times={"latency": 4 * MS})
    short["latency"] |= times

    def row(folder: str, **observed: Any) -> list[str]:
        (tmp_path / folder).mkdir()
        record = experiment(
            tmp_path / folder, CLOSED, **open_loop(transactions=[short], **observed)
        )
        shown = row_of(table_of(build(record), "load_times"))
        return [shown[name] for name in ("p50", "p90", "p95", "p99", "max")]

    # Older observations do not have it: their resolution was 512 ns.
    assert row("old") == ["<1", "5", "23", "262", "28.73"]
    fine = {"lowest_ns": 1, "significant_digits": 3, "highest_ns": 3600 * invented.S}
    assert row("new", resolution=fine) == ["0.511", "4.61", "22.5", "262", "28.73"]


def kinds(record: ExperimentRecord) -> dict[str, str]:
    (run,) = record.runs
    return dict(run_warnings.of_run(run))


@pytest.mark.parametrize(
    ("driving", "changes", "kind", "detail"),
    [
        (OPEN, {}, WarningKind.LATE_ARRIVALS, "60 late, 40 skipped of 2000 (5 %)"),
        (OPEN, {}, WarningKind.OUTAGE, "1 time, 3.0 s"),
        (OPEN, {"outcomes": {**OUTCOMES, "scheduled": 1400, "ok": 1390, "skipped": 0, "late": 0}},
         WarningKind.OFFERED_RATE_NOT_REACHED, "70.00/s of 100/s"),
        (CLOSED, {"intervals": seconds([10] * 4 + [100] * 16)}, WarningKind.SHORT_WARM_UP,
         "the first 4 s were slower, 10.00/s, then 100.0/s: a warm-up of 4 s leaves them out"),
        (CLOSED, {"outcomes": {**OUTCOMES, "scheduled": 40, "ok": 0, "failed": 40, "skipped": 0}},
         WarningKind.ERRORS, "40 failed of 40 (100 %)"),
        (CLOSED, {"elapsed_s": 3.0}, WarningKind.SHORT_MEASUREMENT, "3 s"),
        (replace(CLOSED, think_time="constant:1m"),
         {"transactions_per_client": {"least": 0, "median": 1, "most": 1}},
         WarningKind.PAUSES_TOO_LONG, "constant:1m; measured 20 s"),
        (COUNTED, {"elapsed_s": 0.0008}, WarningKind.SHORT_MEASUREMENT, "800 µs"),
        (CLOSED, {"outcomes": {**OUTCOMES, "failed": 3, "ok": 1947}}, WarningKind.ERRORS,
         "3 failed of 2000 (0.15 %)"),
        (CLOSED, {"partly_durable": 3}, WarningKind.PARTLY_DURABLE, "3 of 2000"),
        (CLOSED, {"partly_durable": 3, "not_retried": 2}, WarningKind.RETRIES_IMPOSSIBLE,
         "2 of 2000"),
        (CLOSED, {"prepared_again": 2}, WarningKind.PREPARED_AGAIN, "2 times"),
    ],
)  # fmt: skip
def test_each_warning_is_shown(
    tmp_path: Path, driving: Driving, changes: Mapping[str, Any], kind: WarningKind, detail: str
) -> None:
    warned = kinds(experiment(tmp_path, driving, **open_loop(**changes)))
    assert detail in warned[kind.id]


SLOW_END = {
    "elapsed_s": 6.0,
    "drained_ns": 2 * invented.S,
    "intervals": seconds([100] * 4 + [0] * 2),
}
"""No transaction was begun in the last two of six seconds."""


def test_a_long_drain_has_its_own_warning_only(tmp_path: Path) -> None:
    outcomes = {**OUTCOMES, "scheduled": 400, "ok": 400, "skipped": 0, "late": 0, "aborted": 0}
    record = experiment(tmp_path, OPEN, **open_loop(outcomes=outcomes, **SLOW_END))
    warned = kinds(record)
    words = "2.0 s of the 6.0 s were waiting for the last transactions"
    assert words in warned[WarningKind.LONG_DRAIN.id]
    assert warned[WarningKind.SHORT_MEASUREMENT.id] == "4 s"
    assert WarningKind.OFFERED_RATE_NOT_REACHED.id not in warned
    assert timeline.whole_seconds(driven(record)) == [100] * 4


DRAINED = {
    "elapsed_s": 12.0,
    "drained_ns": 7 * invented.S,
    "intervals": seconds([100] * 5 + [1] * 7),
}
COLD = {
    "cache_state": {"cache": "cold", "done": ["restarted"]},
    "intervals": seconds([10] * 4 + [100] * 16),
}


@pytest.mark.parametrize("changes", [DRAINED, COLD], ids=["drained at the end", "cold caches"])
def test_the_seconds_in_which_transactions_began_and_caches_that_fill_are_no_short_warm_up(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    warned = kinds(experiment(tmp_path, CLOSED, **open_loop(**changes)))
    assert WarningKind.SHORT_WARM_UP.id not in warned


def test_where_the_latency_limit_skipped_the_missing_ones_it_is_named(tmp_path: Path) -> None:
    limited = replace(OPEN, latency_limit_s=1e-9)
    outcomes = {**OUTCOMES, "scheduled": 2000, "ok": 1390, "skipped": 600, "late": 0}
    record = experiment(tmp_path, limited, **open_loop(outcomes=outcomes))
    warned = kinds(record)
    assert WarningKind.OFFERED_RATE_NOT_REACHED.id not in warned
    assert "70.00/s of 100/s, 600 skipped" in warned[WarningKind.SKIPPED_BY_LATENCY_LIMIT.id]
    assert row_of(table_of(build(record), "driving"))["latency limit"] == "1 ns"


@pytest.mark.parametrize(
    ("driving", "fix"), [(CLOSED, "a longer --duration"), (COUNTED, "more --transactions")]
)
def test_a_short_run_is_made_longer_by_the_limit_that_ends_it(
    tmp_path: Path, driving: Driving, fix: str
) -> None:
    planned = invented.plan([invented.POSTGRESQL], driving=[driving])
    kept = [(WarningKind.SHORT_MEASUREMENT.id, "3 s")]
    record = invented.experiment(tmp_path / "r.sqlite", planned, 3.0, warnings=kept)
    notes = {note.name: note for note in build(record).warnings}
    assert notes[WarningKind.SHORT_MEASUREMENT.id].sentence.endswith(": 3 s")
    assert notes[WarningKind.SHORT_MEASUREMENT.id].fix == fix


def test_a_good_run_has_no_warning(tmp_path: Path) -> None:
    fine = {
        "outcomes": {**OUTCOMES, "ok": 1990, "skipped": 0, "late": 0},
        "intervals": seconds([100] * 20),
        "outages": [],
    }
    assert set(kinds(experiment(tmp_path, OPEN, **open_loop(**fine)))) == {"fits-in-memory"}


def test_common_queries_are_answered_by_the_views(tmp_path: Path) -> None:
    experiment(tmp_path, OPEN, **open_loop())
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection:

        def ask(question: str) -> list[tuple[Any, ...]]:
            return connection.execute(question).fetchall()

        assert ask("SELECT arrival, offered_rate_per_s, warm_up_s FROM driving") == [
            ("constant", 100.0, 5.0)
        ]
        assert ask("SELECT most_retries, retries FROM driving JOIN outcomes USING (run_id)") == [
            (3, 7)
        ]
        assert ask("SELECT late, retries, attempts, throughput_per_s FROM outcomes") == [
            (60, 7, 1967, 97.5)
        ]
        assert ask("SELECT time, p50_ns FROM times ORDER BY p50_ns") == [
            ("schedule_lag", MS),
            ("service_time", 2 * MS),
            ("latency", 4 * MS),
        ]
        assert ask("SELECT to_ns - from_ns FROM outages") == [(3 * invented.S,)]
        assert ask("SELECT server_per_transaction_ns, server_cpu_ns FROM costs") == [
            (500_000, 980 * MS)
        ]
        assert ask("SELECT count(*) FROM latencies") == [(1,)]


def test_the_mean_latency_is_that_of_all_types_by_their_counts() -> None:
    mean = {**observations.latency(4, 0), "mean_ns": 20.0}
    of_all = {"count": 4, "latency": mean, "service_time": mean, "schedule_lag": None}
    observation = observations.observation(all_ok=of_all, outcomes=observations.outcomes(ok=4))
    assert clients.MEAN.of_work is not None
    assert clients.MEAN.of_work(clients.work_of_all(observation)) == 20.0
    assert clients.MEAN.of_work(clients.work_of_all(observations.observation())) is None
    assert replace(observation, elapsed_ns=2 * invented.S).throughput_per_s == 2.0
    assert observation.throughput_per_s is None


@pytest.mark.parametrize(("count", "shown"), [(72, "7.20"), (71, "n<72")])
def test_a_cell_has_a_percentile_only_if_each_repetition_has_the_samples(
    tmp_path: Path, count: int, shown: str
) -> None:
    planned = invented.plan([invented.POSTGRESQL], test="load", driving=[CLOSED], repetitions=3)
    record = invented.experiment(tmp_path / "r.sqlite", planned, 2.0)
    runs = [
        invented.changed(
            run,
            "observation",
            transactions=[transaction("move", of_run, times={"latency": 4 * MS})],
        )
        for run, of_run in zip(record.runs, (100, count, 100), strict=True)
    ]
    (cell,) = cell_runs.cells(record, runs)
    key = aggregates.at("transactions.move.latency.p95_ns")
    assert (aggregates.number(cell, key) is None) == (count < 72)
    assert aggregates.median(key, "ms")(cell).shown == shown


def test_the_seconds_of_groups_add_up(tmp_path: Path) -> None:
    intervals = [
        {"second": second, "group": name, "ok": 50, "failed": 0}
        for second in range(20)
        for name in ("readers", "writers")
    ]
    record = experiment(tmp_path, OPEN, **open_loop(intervals=intervals))
    assert timeline.whole_seconds(driven(record))[:3] == [100, 100, 100]


def test_flushes_without_data_are_no_writes_where_they_are_counted(tmp_path: Path) -> None:
    for name, empty, shown, said in (
        ("apart", 980, "1.500", "writes: requests that carry data"),
        ("with", None, "2.000", "with flushes that carry no data"),
    ):
        (tmp_path / name).mkdir()
        cost = {**DEVICE, "empty_writes": empty}
        report = build(experiment(tmp_path / name, OPEN, **open_loop(device_cost=cost)))
        table = table_of(report, "load_device")
        assert row_of(table)["writes"] == shown
        assert any(said in str(note) for note in table.notes)


S = invented.S
CLIENTS = 8


def ends(*transactions: int) -> list[dict[str, Any]]:
    return [
        {"client": client, "elapsed_ns": 20 * S, "passes": 0, "transactions": n, "state": "done"}
        for client, n in enumerate(transactions)
    ]


def law(clients_by_law: float) -> dict[str, float]:
    return {
        "clients": 8.0,
        "throughput_per_s": 100.0,
        "latency_ns": clients_by_law * 1e7,
        "pause_ns": 0.0,
        "clients_by_law": clients_by_law,
    }


def observed(**changes: Any) -> dict[str, Any]:
    """Eight clients that all ended transactions."""
    return {
        "client_ends": ends(*[250] * CLIENTS),
        "transactions_per_client": {"least": 250, "median": 250, "most": 250},
        "in_flight": {"count": 8, "oldest_ns": 80_000_000, "begun_in_warm_up": 0},
        "carried_over": {"count": 0, "longest_ns": 0},
        "littles_law": law(7.99),
        "stalls": [],
        "suspensions": [],
        "intervals": [{"second": second, "ok": 100} for second in range(20)],
        **changes,
    }


ONE_SERVED: Mapping[str, Any] = {
    "client_ends": ends(2000, *[0] * 7),
    "transactions_per_client": {"least": 0, "median": 0, "most": 2000},
    "in_flight": {"count": 7, "oldest_ns": 21 * S, "begun_in_warm_up": 7},
    "carried_over": {"count": 7, "longest_ns": 23 * S},
    "littles_law": law(1.0),
}


def served(path: Path, **changes: Any) -> ExperimentRecord:
    planned = invented.plan(
        [invented.POSTGRESQL], test="load", driving=[Driving(duration_s=20.0)], clients=[CLIENTS]
    )
    huge = {"size_on_disk_bytes": 10**14}
    return invented.experiment(
        path / "r.sqlite", planned, 20.0, observation=observed(**changes), checks=[], dataset=huge
    )


@pytest.mark.parametrize(
    ("changes", "name", "detail"),
    [
        (
            ONE_SERVED,
            "starved-clients",
            "7 of 8 clients ended 0 transactions, the most served 2000; 7 under way at the end, "
            "the oldest for 21.0 s",
        ),
        (ONE_SERVED, "unaccounted-time", "8.00 clients at work, 1.00 in the figures"),
        ({"stalls": [{"from_ns": 4 * S, "to_ns": 9 * S}]}, "stalled",
         "5.0 s of 20.0 s, from 4.0 s on"),
        ({"suspensions": [{"from_ns": 1 * S, "to_ns": 2 * S}, {"from_ns": 4 * S, "to_ns": 7 * S}]},
         "client-suspended", "2 times, 4.0 s of 20.0 s, the longest 3.0 s from 4.0 s on"),
    ],
)  # fmt: skip
def test_each_service_problem_is_a_warning_and_limits_the_verdict(
    tmp_path: Path, changes: Mapping[str, Any], name: str, detail: str
) -> None:
    verdict, warnings = judge_run(served(tmp_path, **changes).runs[0])
    assert f"postgresql, 8 clients: {detail}" in {one.name: one.detail for one in warnings}[name]
    assert verdict.word == "unreliable"
    assert name.replace("-", " ") in verdict.reason


def test_a_run_without_ended_transactions_has_a_warning(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("scheduled", "ok", "aborted", "failed", "unknown", "skipped"), 0)
    record = served(
        tmp_path,
        outcomes=nothing,
        transactions=[],
        client_ends=ends(*[0] * CLIENTS),
        littles_law=law(0.0),
        stalls=[{"from_ns": 0, "to_ns": 20 * S}],
    )
    _, warnings = judge_run(record.runs[0])
    assert {"stalled", "unaccounted-time"} <= {one.name for one in warnings}


@pytest.mark.parametrize(
    "changes",
    [
        # Few transactions: by chance some clients have few of them.
        {"client_ends": ends(20, 20, 20, 1, 1, 20, 20, 20)},
        # An open loop: arrivals go to any free client.
        {**ONE_SERVED, "littles_law": None},
    ],
)
def test_chance_and_open_loops_are_not_starvation(
    tmp_path: Path, changes: Mapping[str, Any]
) -> None:
    _, warnings = judge_run(served(tmp_path, **changes).runs[0])
    assert "starved-clients" not in {one.name for one in warnings}


def test_a_stall_is_marked_in_the_timeline(tmp_path: Path) -> None:
    intervals: list[dict[str, Any]] = [{"second": at, "ok": 100} for at in range(20)]
    for second in (4, 5, 6):
        intervals[second] |= {"ok": 0, "suspended_ns": S}
    record = served(
        tmp_path,
        intervals=intervals,
        suspensions=[{"from_ns": 4 * S, "to_ns": 7 * S}],
        stalls=[{"from_ns": 10 * S, "to_ns": 15 * S}],
    )
    report = build(record)
    assert row_of(table_of(report, "load_timeline"))["timeline"] == "████xxx█████████████"
    assert timeline.bars([5] * 100, {50}).count("x") == 1
    shown = row_of(table_of(report, "load_standstills"))
    assert (shown["who"], shown["from"], shown["lasted"]) == ("system stalled", "10.00", "5.00")


def test_the_views_answer_questions_about_service(tmp_path: Path) -> None:
    stood_still = [{"from_ns": 4 * S, "to_ns": 9 * S}]
    served(tmp_path, **{**ONE_SERVED, "stalls": stood_still})
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection:
        ask = connection.execute
        assert ask(
            "SELECT least_transactions, most_transactions, in_flight, oldest_in_flight_ns,"
            " in_flight_since_warm_up, clients_at_work, clients_by_law FROM service"
        ).fetchall() == [(0, 2000, 7, 21 * S, 7, 8.0, 1.0)]
        assert ask("SELECT who, from_ns, to_ns FROM standstills").fetchall() == [
            ("system", 4 * S, 9 * S)
        ]
        (law,) = ask("SELECT ended_per_s FROM service JOIN outcomes USING (run_id)").fetchone()
        (ok,) = ask("SELECT throughput_per_s FROM service JOIN outcomes USING (run_id)").fetchone()
        assert law != ok, "one name is one number"
