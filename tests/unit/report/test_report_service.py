"""Reports of starved clients, stalls and suspensions."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import invented_records as invented
from assay.experiment import Driving
from assay.judge import judge_run
from assay.record import ExperimentRecord
from assay.report.build import build
from assay.report.sections import timeline
from assay.report.values import ReportTable

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


def experiment(path: Path, **changes: Any) -> ExperimentRecord:
    planned = invented.plan(
        [invented.POSTGRESQL], test="load", driving=[Driving(duration_s=20.0)], clients=[CLIENTS]
    )
    huge = {"size_on_disk_bytes": 10**14}
    return invented.experiment(
        path / "r.sqlite", planned, 20.0, observation=observed(**changes), checks=[], dataset=huge
    )


def found(record: ExperimentRecord, name: str) -> ReportTable | None:
    every = [one for part in build(record).sections for one in part.tables]
    return next((one for one in every if one.name == name), None)


def by_title(shown: ReportTable | None) -> dict[str, str]:
    assert shown is not None
    titles = [column.title for column in shown.columns]
    return dict(zip(titles, [cell.shown for cell in shown.rows[0].cells], strict=True))


def test_a_run_that_serves_all_clients_is_valid(tmp_path: Path) -> None:
    record = experiment(tmp_path)
    verdict, warnings = judge_run(record.runs[0])
    assert (verdict.word, warnings) == ("valid", [])
    shown = found(record, "load_service")
    assert by_title(shown)["at work"] == "8.00"
    assert found(record, "load_standstills") is None


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
        (
            {"stalls": [{"from_ns": 4 * S, "to_ns": 9 * S}]},
            "stalled",
            "5.0 s of 20.0 s, from 4.0 s on",
        ),
        (
            {
                "suspensions": [
                    {"from_ns": 1 * S, "to_ns": 2 * S},
                    {"from_ns": 4 * S, "to_ns": 7 * S},
                ]
            },
            "client-suspended",
            "2 times, 4.0 s of 20.0 s, the longest 3.0 s from 4.0 s on",
        ),
    ],
)
def test_each_service_problem_is_a_warning_and_limits_the_verdict(
    tmp_path: Path, changes: Mapping[str, Any], name: str, detail: str
) -> None:
    verdict, warnings = judge_run(experiment(tmp_path, **changes).runs[0])
    assert f"postgresql, 8 clients: {detail}" in {one.name: one.detail for one in warnings}[name]
    assert verdict.word == "indicative"
    assert name.replace("-", " ") in verdict.reason


def test_a_run_without_ended_transactions_has_a_warning(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("scheduled", "ok", "aborted", "failed", "unknown", "skipped"), 0)
    record = experiment(
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
    _, warnings = judge_run(experiment(tmp_path, **changes).runs[0])
    assert "starved-clients" not in {one.name for one in warnings}


def test_transactions_of_each_client_and_what_was_in_flight_have_a_table(tmp_path: Path) -> None:
    shown = by_title(found(experiment(tmp_path, **ONE_SERVED), "load_service"))
    names = (
        "least",
        "median",
        "most",
        "in flight",
        "oldest",
        "carried over",
        "at work",
        "by Little's law",
    )
    assert [shown[name] for name in names] == [
        "0", "0", "2000", "7", "21.00", "7", "8.00", "1.00",
    ]  # fmt: skip


def test_a_closed_loop_without_measurements_is_not_shown_as_open(tmp_path: Path) -> None:
    shown = by_title(found(experiment(tmp_path, littles_law=None), "load_service"))
    assert (shown["at work"], shown["by Little's law"]) == ("nothing measured",) * 2


def test_a_stall_is_marked_in_the_timeline(tmp_path: Path) -> None:
    intervals: list[dict[str, Any]] = [{"second": at, "ok": 100} for at in range(20)]
    for second in (4, 5, 6):
        intervals[second] |= {"ok": 0, "suspended_ns": S}
    record = experiment(
        tmp_path,
        intervals=intervals,
        suspensions=[{"from_ns": 4 * S, "to_ns": 7 * S}],
        stalls=[{"from_ns": 10 * S, "to_ns": 15 * S}],
    )
    assert by_title(found(record, "load_timeline"))["timeline"] == "████xxx█████████████"
    assert timeline.bars([5] * 100, {50}).count("x") == 1
    shown = by_title(found(record, "load_standstills"))
    assert (shown["who"], shown["from"], shown["lasted"]) == ("system stalled", "10.00", "5.00")


def test_common_queries_are_answered_by_the_views(tmp_path: Path) -> None:
    stood_still = [{"from_ns": 4 * S, "to_ns": 9 * S}]
    experiment(tmp_path, **{**ONE_SERVED, "stalls": stood_still})
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
