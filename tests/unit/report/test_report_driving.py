"""Reports of loops, late and retried transactions, outages and costs.

Long because each kind of table has an invented observation of its own.
"""

from __future__ import annotations

import dataclasses
import io
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
from assay.judge.warnings import run_warnings
from assay.judge.warnings.kinds import WarningKind
from assay.record import ExperimentRecord, Store
from assay.record.metrics import clients, work
from assay.report.build import build
from assay.report.cells import cell_runs
from assay.report.declared import aggregates
from assay.report.forms import csv, json, markdown, table
from assay.report.sections import timeline
from assay.report.values import Report, ReportTable
from assay.text.line_width import ELSEWHERE

S = invented.S
MS = 1_000_000
OPEN = Driving(
    duration_s=20.0, warm_up_s=5.0, arrival="constant", offered_rate_per_s=100.0, retries=3
)
CLOSED = Driving(duration_s=20.0)
COUNTED = Driving(transactions=20)
OUTCOMES = {
    "scheduled": 2000,
    "ok": 1950,
    "aborted": 10,
    "failed": 0,
    "unknown": 0,
    "skipped": 40,
    "late": 60,
    "retries": 7,
    "attempts": 1967,
}


def transaction(name: str, count: int, **changes: Any) -> dict[str, Any]:
    times = {key: invented.latency(ns) for key, ns in changes.pop("times").items()}
    return {"name": name, "outcome": "ok", "count": count, **times, **changes}


def seconds(each: list[int]) -> list[dict[str, Any]]:
    return [{"second": second, "group": "", "ok": ok} for second, ok in enumerate(each)]


def open_loop(**changes: Any) -> dict[str, Any]:
    stalled = [100] * 8 + [0] * 3 + [100] * 9
    return {
        "outcomes": OUTCOMES,
        "passes": None,
        "transactions": [
            transaction(
                "move",
                1950,
                times={
                    "latency": 4 * MS,
                    "service_time": 2 * MS,
                    "schedule_lag": 1 * MS,
                },
            )
        ],
        "intervals": seconds(stalled),
        "outages": [{"from_ns": 8 * S, "to_ns": 11 * S}],
        "reconnects": 4,
        "results": [],
        "server_cost": {
            "cpu_ns": 980 * MS,
            "read_bytes": 0,
            "resident_peak_bytes": 98 * MS,
            "per_transaction_ns": 500_000,
        },
        "device_cost": {"device": "vda", "read_bytes": 0, "written_bytes": 1960 * 8192},
        "client_cost": {
            "user_ns": 19_600_000,
            "system_ns": 19_600_000,
            "resident_peak_bytes": 30 * MS,
            "voluntary_switches": 1960,
            "involuntary_switches": 0,
        },
        "server_counters": {"buffer_hits": 990, "buffer_misses": 10},
        **changes,
    }


def experiment(path: Path, driving: Driving, **observed: Any) -> ExperimentRecord:
    planned = invented.plan([invented.POSTGRESQL], test="load", driving=[driving])
    seconds = observed.pop("elapsed_s", 20.0)
    return invented.experiment(path / "r.sqlite", planned, seconds, observation=observed, checks=[])


def driven(record: ExperimentRecord) -> Observation:
    (run,) = record.runs
    assert run.driven is not None
    return run.driven


def found(report: Report, name: str) -> ReportTable:
    return next(one for part in report.sections for one in part.tables if one.name == name)


def rows(shown: ReportTable) -> list[list[str]]:
    return [[cell.shown for cell in row.cells] for row in shown.rows]


def by_title(shown: ReportTable, row: int = 0) -> dict[str, str]:
    titles = [column.title for column in shown.columns]
    return dict(zip(titles, rows(shown)[row], strict=True))


def test_an_open_loop_shows_latency_service_time_and_lag_side_by_side(tmp_path: Path) -> None:
    shown = found(build(experiment(tmp_path, OPEN, **open_loop())), "load_times")
    assert [row[2:5] for row in rows(shown)] == [
        ["latency", "1950", "4.00"],
        ["service time", "1950", "2.00"],
        ["schedule lag", "1950", "1.00"],
    ]
    assert "intended start" in shown.notes[0]


def test_a_closed_loop_says_from_when_latency_is_measured(tmp_path: Path) -> None:
    closed = transaction("move", 1950, times={"latency": 4 * MS, "service_time": 4 * MS})
    shown = found(
        build(experiment(tmp_path, CLOSED, **open_loop(transactions=[closed]))), "load_times"
    )
    assert len(rows(shown)) == 1
    assert "from the actual start" in shown.notes[0]


def test_a_percentile_of_too_few_samples_says_how_many_it_needs(tmp_path: Path) -> None:
    shown = by_title(found(build(experiment(tmp_path, OPEN, **open_loop())), "load_times"))
    assert (shown["p99"], shown["p99.9"]) == ("10.0", "n<3688")


def test_no_digit_is_shown_that_the_histogram_does_not_have(tmp_path: Path) -> None:
    times = {"p50_ns": 511, "p90_ns": 4_607, "p95_ns": 22_527, "p99_ns": 262_143, "max_ns": 28_733}
    short = transaction("move", 1950, times={"latency": 4 * MS})
    short["latency"] |= times

    def row(folder: str, **observed: Any) -> list[str]:
        (tmp_path / folder).mkdir()
        record = experiment(
            tmp_path / folder, CLOSED, **open_loop(transactions=[short], **observed)
        )
        shown = by_title(found(build(record), "load_times"))
        return [shown[name] for name in ("p50", "p90", "p95", "p99", "max")]

    # Older observations do not have it: their resolution was 512 ns.
    assert row("old") == ["<1", "5", "23", "262", "28.73"]
    fine = {"lowest_ns": 1, "significant_digits": 3, "highest_ns": 3600 * S}
    assert row("new", resolution=fine) == ["0.511", "4.61", "22.5", "262", "28.73"]


def test_outcomes_attempts_and_late_ones_add_up(tmp_path: Path) -> None:
    record = experiment(tmp_path, OPEN, **open_loop())
    (section,) = [
        one for one in build(record).sections if one.title.startswith("Transaction outcomes")
    ]
    assert section.lines == (
        "outcome  ok 1950  aborted 10  failed 0  unknown 0  skipped 40 = scheduled 2000",
        "attempts 1967 = scheduled 2000 - skipped 40 + retries 7; late 60 of those that ended",
    )
    assert by_title(section.tables[0])["retries"] == "7"


def test_without_a_declared_report_each_cell_has_throughput_times_and_cost(tmp_path: Path) -> None:
    shown = by_title(found(build(experiment(tmp_path, OPEN, **open_loop())), "load"))
    assert shown["TPS"] == "97.50 [1]"
    assert (shown["p50"], shown["p99"]) == ("4.00", "10.0")
    assert (shown["client CPU"], shown["server CPU"]) == ("20.00", "500.0")


def test_client_and_server_cost_are_shown_with_the_hit_ratio(tmp_path: Path) -> None:
    shown = by_title(found(build(experiment(tmp_path, OPEN, **open_loop())), "load_costs"))
    assert (shown["client CPU"], shown["server CPU"], shown["client share"]) == (
        "20.00",
        "500.0",
        "4 %",
    )
    assert (shown["context switches"], shown["device written"]) == ("1.000", "8.19 kB")
    assert shown["buffer hits"] == "99.00%"


def test_written_bytes_are_of_the_device_or_not_measured(tmp_path: Path) -> None:
    def costs(name: str, **changes: Any) -> ReportTable:
        (tmp_path / name).mkdir()
        return found(build(experiment(tmp_path / name, OPEN, **open_loop(**changes))), "load_costs")

    assert "by the whole device under the data" in " ".join(costs("device").notes)
    unknown = costs("memory", device_cost=None)
    assert "not measured; no block device" in " ".join(unknown.notes)
    assert "device written" not in by_title(unknown)


def test_a_second_without_transactions_is_in_the_timeline() -> None:
    assert timeline.bars([8, 8, 0, 4]) == "██·▅"
    assert len(timeline.bars([5] * 999)) <= 32
    assert "·" in timeline.bars([5] * 500 + [0] + [5] * 499)


def test_an_outage_has_its_length_and_reconnects(tmp_path: Path) -> None:
    shown = by_title(found(build(experiment(tmp_path, OPEN, **open_loop())), "load_outages"))
    assert (shown["from"], shown["lasted"], shown["reconnects"]) == ("8.00", "3.00", "4")


def test_each_statement_that_was_timed_has_its_line(tmp_path: Path) -> None:
    statement = {
        "transaction": "move",
        "statement": 0,
        "line": 4,
        "text": "UPDATE t\n  SET a = a + $1 WHERE b = $2",
        "count": 1950,
        "service_time": invented.latency(300_000, 1950),
    }
    shown = found(
        build(experiment(tmp_path, OPEN, **open_loop(per_statement=[statement]))),
        "load_statements_1",
    )
    assert by_title(shown)["statement"] == "UPDATE t SET a = a + $1 WHERE b = $2"
    assert (by_title(shown)["line"], by_title(shown)["p50"]) == ("4", "300")


def test_the_setup_shows_how_clients_were_driven(tmp_path: Path) -> None:
    shown = by_title(found(build(experiment(tmp_path, OPEN, **open_loop())), "driving"))
    assert shown == {
        "test": "load",
        "protocol": "simple",
        "arrival": "constant",
        "duration": "20 s",
        "warm up": "5 s",
        "offered rate per s": "100",
        "retries": "3",
    }


def kinds(record: ExperimentRecord) -> dict[str, str]:
    (run,) = record.runs
    return dict(run_warnings.of_run(run.evidence))


@pytest.mark.parametrize(
    ("driving", "changes", "kind", "detail"),
    [
        (OPEN, {}, WarningKind.LATE_ARRIVALS, "60 late, 40 skipped of 2000 (5 %)"),
        (OPEN, {}, WarningKind.OUTAGE, "1 time, 3.0 s"),
        (
            OPEN,
            {"outcomes": {**OUTCOMES, "scheduled": 1400, "ok": 1390, "skipped": 0, "late": 0}},
            WarningKind.OFFERED_RATE_NOT_REACHED,
            "70.00/s of 100/s",
        ),
        (
            CLOSED,
            {"intervals": seconds([10] * 4 + [100] * 16)},
            WarningKind.SHORT_WARM_UP,
            "the first 4 s were slower, 10.00/s, then 100.0/s: a warm-up of 4 s leaves them out",
        ),
        (
            CLOSED,
            {"outcomes": {**OUTCOMES, "scheduled": 40, "ok": 0, "failed": 40, "skipped": 0}},
            WarningKind.ERRORS,
            "40 failed of 40 (100 %)",
        ),
        (CLOSED, {"elapsed_s": 3.0}, WarningKind.SHORT_MEASUREMENT, "3 s"),
        (COUNTED, {"elapsed_s": 0.0008}, WarningKind.SHORT_MEASUREMENT, "800 µs"),
        (
            CLOSED,
            {"outcomes": {**OUTCOMES, "failed": 3, "ok": 1947}},
            WarningKind.ERRORS,
            "3 failed of 2000 (0.15 %)",
        ),
        (CLOSED, {"partly_durable": 3}, WarningKind.PARTLY_DURABLE, "3 of 2000"),
        (
            CLOSED,
            {"partly_durable": 3, "not_retried": 2},
            WarningKind.RETRIES_IMPOSSIBLE,
            "2 of 2000",
        ),
        (CLOSED, {"prepared_again": 2}, WarningKind.PREPARED_AGAIN, "2 times"),
    ],
)
def test_each_warning_is_shown(
    tmp_path: Path, driving: Driving, changes: Mapping[str, Any], kind: WarningKind, detail: str
) -> None:
    warned = kinds(experiment(tmp_path, driving, **open_loop(**changes)))
    assert detail in warned[kind.id]


SLOW_END = {"elapsed_s": 6.0, "drained_ns": 2 * S, "intervals": seconds([100] * 4 + [0] * 2)}
"""No transaction was begun in the last two of six seconds."""


def test_a_long_drain_has_its_own_warning_only(
    tmp_path: Path,
) -> None:
    outcomes = {**OUTCOMES, "scheduled": 400, "ok": 400, "skipped": 0, "late": 0, "aborted": 0}
    record = experiment(tmp_path, OPEN, **open_loop(outcomes=outcomes, **SLOW_END))
    warned = kinds(record)
    words = "2.0 s of the 6.0 s were waiting for the last transactions"
    assert words in warned[WarningKind.LONG_DRAIN.id]
    assert warned[WarningKind.SHORT_MEASUREMENT.id] == "4 s"
    assert WarningKind.OFFERED_RATE_NOT_REACHED.id not in warned
    assert timeline.whole_seconds(driven(record)) == [100] * 4


def test_the_beginning_is_compared_with_the_seconds_in_which_transactions_began(
    tmp_path: Path,
) -> None:
    steady = {"drained_ns": 7 * S, "intervals": seconds([100] * 5 + [1] * 7)}
    warned = kinds(experiment(tmp_path, CLOSED, **open_loop(elapsed_s=12.0, **steady)))
    assert WarningKind.SHORT_WARM_UP.id not in warned


def test_that_cold_caches_fill_during_the_measurement_is_no_short_warm_up(tmp_path: Path) -> None:
    cold = {"cache_state": {"cache": "cold", "done": ["restarted"]}}
    slow_start = {"intervals": seconds([10] * 4 + [100] * 16)}
    warned = kinds(experiment(tmp_path, CLOSED, **open_loop(**slow_start, **cold)))
    assert WarningKind.SHORT_WARM_UP.id not in warned


def test_where_the_latency_limit_skipped_the_missing_ones_it_is_named(tmp_path: Path) -> None:
    limited = dataclasses.replace(OPEN, latency_limit_s=1e-9)
    outcomes = {**OUTCOMES, "scheduled": 2000, "ok": 1390, "skipped": 600, "late": 0}
    record = experiment(tmp_path, limited, **open_loop(outcomes=outcomes))
    warned = kinds(record)
    assert WarningKind.OFFERED_RATE_NOT_REACHED.id not in warned
    assert "70.00/s of 100/s, 600 skipped" in warned[WarningKind.SKIPPED_BY_LATENCY_LIMIT.id]
    assert by_title(found(build(record), "driving"))["latency limit"] == "1 ns"


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


def test_a_recovered_outage_makes_the_run_indicative(tmp_path: Path) -> None:
    lost = {"outcomes": {**OUTCOMES, "unknown": 4, "ok": 1946}}
    riding = Driving(duration_s=20.0, reconnect_timeout_s=60.0)
    shown = found(build(experiment(tmp_path, riding, **open_loop(**lost))), "load")
    number = shown.rows[0].cells[2].number
    assert number is not None
    assert (number.verdict, "outage" in number.judged.reason) == ("indicative", True)


def test_every_form_has_all_sections(tmp_path: Path) -> None:
    report = build(experiment(tmp_path, OPEN, **open_loop()))
    for form in (table, csv, json, markdown):
        stream = io.StringIO()
        form.render(report, stream)
        assert "schedule" in stream.getvalue() or "lag" in stream.getvalue()
    stream = io.StringIO()
    table.render(report, stream)
    assert max(len(line) for line in stream.getvalue().splitlines()) <= ELSEWHERE


def test_a_record_without_driving_options_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE runs SET cell = json_remove(cell, '$.driving')")
    with Store(path) as store:
        record = store.experiment(1)
    assert record.runs[0].driving is None
    stream = io.StringIO()
    table.render(build(record), stream)
    assert "How the clients were driven" not in stream.getvalue()


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
        assert ask("SELECT to_ns - from_ns FROM outages") == [(3 * S,)]
        assert ask("SELECT server_per_transaction_ns, server_cpu_ns FROM costs") == [
            (500_000, 980 * MS)
        ]
        assert ask("SELECT count(*) FROM latencies") == [(1,)]


def test_the_mean_latency_is_that_of_all_types_by_their_counts() -> None:
    mean = {**observations.latency(4, 0), "mean_ns": 20.0}
    of_all = {"count": 4, "latency": mean, "service_time": mean, "schedule_lag": None}
    observation = observations.observation(all_ok=of_all, outcomes=observations.outcomes(ok=4))
    assert clients.MEAN.of_work is not None
    assert clients.MEAN.of_work(work.of_all(observation)) == 20.0
    assert clients.MEAN.of_work(work.of_all(observations.observation())) is None
    assert replace(observation, elapsed_ns=2 * S).throughput_per_s == 2.0
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


def test_groups_of_clients_and_steps_have_tables_and_seconds_add_up(tmp_path: Path) -> None:
    move = transaction("move", 1950, times={"latency": 4 * MS})
    group = {"clients": 4, "outcomes": OUTCOMES, "transactions": [move]}
    groups = [{"name": "readers", **group}, {"name": "writers", **group}]
    intervals = [
        {"second": second, "group": name, "ok": 50, "failed": 0}
        for second in range(20)
        for name in ("readers", "writers")
    ]
    observed = open_loop(transactions=[move], groups=groups, intervals=intervals)
    record = experiment(tmp_path, OPEN, **observed)
    shown = found(build(record), "load_groups")
    assert [row[1:4] for row in rows(shown)] == [
        ["readers", "4", "97.50"],
        ["writers", "4", "97.50"],
    ]
    assert timeline.whole_seconds(driven(record))[:3] == [100, 100, 100]


DEVICE = {
    "device": "vda", "read_bytes": 1960 * 4096, "written_bytes": 1960 * 8192, "reads": 1960,
    "writes": 3920, "flushes": 980, "busy_ns": 10 * S, "queue_ns": 40 * S,
}  # fmt: skip
MACHINE = {
    "user_ns": 40 * S, "system_ns": 16 * S, "idle_ns": 80 * S, "iowait_ns": 24 * S, "steal_ns": 0,
    "load_1min_peak": 3.59, "cached_peak_bytes": 7_182_000_000, "dirty_peak_bytes": 1_000_000,
    "load_5min_peak": 1.05, "used_peak_bytes": 11_000_000_000, "free_least_bytes": 4_536_000_000,
    "swap_used_peak_bytes": 0, "context_switches": 4000,
}  # fmt: skip


def test_the_device_and_the_machine_stand_beside_the_throughput(tmp_path: Path) -> None:
    report = build(
        experiment(
            tmp_path,
            OPEN,
            **open_loop(
                device_cost=DEVICE,
                machine_cost=MACHINE,
                data_in_memory={"file_bytes": 694_737_740, "cached_bytes": 596_000_000},
            ),
        )
    )
    device, machine = (by_title(found(report, f"load_{name}")) for name in ("device", "machine"))
    names = ("reads/s", "read/s", "flushes/s", "reads", "writes", "flushes", "busy", "queue")
    assert [device[name] for name in names] == [
        "98.00", "401 kB", "49.00", "1.000", "2.000", "0.5000", "50 %", "2.000"
    ]  # fmt: skip
    (row,) = found(report, "load_device").rows
    units = {cell.shown: cell.number.unit for cell in row.cells if cell.number}
    assert (units["98.00"], units["401 kB"]) == ("per_s", "bytes_per_s")
    names = ("user", "system", "iowait", "steal", "idle", "load", "load, 5 min", "server CPU")
    assert [machine[name] for name in names] == [
        "25 %", "10 %", "15 %", "0 %", "50 %", "3.59", "1.05", "1 %"
    ]  # fmt: skip
    memory = by_title(found(report, "load_memory"))
    names = ("used", "free", "cached", "swap", "shared", "context switches/s", "data in memory")
    assert [memory[name] for name in names] == [
        "11 GB", "4.54 GB", "7.18 GB", "0 B", "-", "200.0", "596 MB of 695 MB"
    ]  # fmt: skip


def test_flushes_without_data_are_no_writes_where_they_are_counted(tmp_path: Path) -> None:
    for name, empty, shown, said in (
        ("apart", 980, "1.500", "writes: requests that carry data"),
        ("with", None, "2.000", "with flushes that carry no data"),
    ):
        (tmp_path / name).mkdir()
        cost = {**DEVICE, "empty_writes": empty}
        report = build(experiment(tmp_path / name, OPEN, **open_loop(device_cost=cost)))
        table = found(report, "load_device")
        assert by_title(table)["writes"] == shown
        assert any(said in str(note) for note in table.notes)


def test_of_a_limited_server_the_share_of_its_limit_is_shown(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL], test="load", driving=[OPEN])
    record = invented.experiment(
        tmp_path / "r.sqlite", planned, 20.0, observation=open_loop(machine_cost=MACHINE),
        deployment={"cpu_limit": 0.5},
    )  # fmt: skip
    shown = by_title(found(build(record), "load_machine"))
    assert (shown["server CPU"], shown["of its CPUs"]) == ("1 %", "10 %"), "0.98 s of 10 s"


def test_a_device_without_a_cache_has_no_flushes(tmp_path: Path) -> None:
    cost = {**DEVICE, "flushes": None}
    report = build(experiment(tmp_path, OPEN, **open_loop(device_cost=cost)))
    shown = by_title(found(report, "load_device"))
    assert (shown["flushes/s"], shown["flushes"], shown["reads"]) == ("-", "-", "1.000")


def test_the_file_with_the_most_handles_is_named(tmp_path: Path) -> None:
    shown = by_title(found(build(experiment(tmp_path, OPEN, **open_loop())), "load_server"))
    assert (shown["open files"], shown["files"], shown["most handles"]) == (
        "250", "2", "249 bibtab.MYD"
    )  # fmt: skip
