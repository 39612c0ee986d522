"""Reports of failed runs, wrong answers, one or two storages, and declared fields."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import invented_records as invented
from assay.experiment import Driving
from assay.plan import PlannedRun
from assay.record import ExperimentRecord, Store
from assay.report import build as tidy
from assay.report.build import build
from assay.report.forms import github_summary
from assay.report.sections import conditions
from assay.report.summaries import first_look
from shown_report import cells_of, lines_of, table_of, text_of

SPEED_UP = {"report": {"parallel": {"title": "t", "speed_up": True}}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records.sqlite"


def begun(path: Path, planned: invented.Plan) -> Store:
    store = Store(path)
    store.begin_experiment(planned.experiment, planned, structs.replace(invented.FACTS, build={}))
    return store


def test_a_speed_up_has_the_range_its_repetitions_allow(path: Path) -> None:
    planned = invented.plan(
        [invented.SQLITE], [invented.HERE, invented.SSD], clients=(1,), repetitions=3
    )
    elapsed = {("sqlite", "here", 1): (9.0, 10.0, 11.0), ("sqlite", "ssd", 1): (5.0, 4.5, 5.5)}
    report = build(invented.experiment(path, planned, elapsed, workload=SPEED_UP))
    number = table_of(report, "parallel").rows[0].cells[3].number
    assert number is not None
    assert (number.value, number.low, number.high) == (2.0, 9 / 5.5, 11 / 4.5)


def test_a_duration_is_not_shown_as_the_time_that_a_test_took(path: Path) -> None:
    planned = invented.plan(
        [invented.SQLITE], [invented.HERE, invented.SSD], driving=[Driving(duration_s=2.0)]
    )
    report = build(invented.experiment(path, planned, 2.0, workload=SPEED_UP))
    why = "ended by its duration"
    assert [row[:3] for row in cells_of(table_of(report, "parallel"))] == [["sqlite", why, why]]
    titles, _, *rows = [
        line for line in text_of(github_summary, report).splitlines() if line.startswith("|")
    ]
    place = titles.split("|").index(" time, s ")
    assert [row.split("|")[place].strip() for row in rows[:2]] == ["", ""]


def test_more_throughput_is_a_speed_up_and_more_time_is_not(path: Path) -> None:
    planned = invented.plan([invented.SQLITE], [invented.HERE, invented.SSD])
    elapsed = {("sqlite", "here", 8): [4.0], ("sqlite", "ssd", 8): [2.0]}
    declared = {"title": "t", "speed_up": True, "value": "throughput"}
    workload = {"report": {"parallel": declared}}
    report = build(invented.experiment(path, planned, elapsed, workload=workload))
    assert cells_of(table_of(report, "parallel")) == [["sqlite", "4.000", "8.000", "2.00"]]


def test_parameters_that_were_asked_for_and_are_in_no_column_stand_in_the_head(path: Path) -> None:
    planned = invented.plan([invented.SQLITE], parameters={"copies": 10, "replicas": 1})
    found = invented.experiment(path, planned, {("sqlite", "here", 8): (1.0,)})
    assert "parameters" not in build(found).facts
    asked = replace(found.experiment, parameters={"copies": (10,)})
    found = structs.replace(found, experiment=asked, runs_ended=0)
    assert build(found).facts["parameters"] == "copies 10"
    assert "parameters   copies 10" in first_look.lines(found, build(found), 80, "assay report")
    visible = text_of(github_summary, build(found)).partition("<details>")[0]
    assert "parameters: copies 10" in visible and "unfinished: 0 of 1 run has ended" in visible
    other = structs.replace(invented.of_cell(found.runs[0], parameters={"copies": 20}), id=2)
    assert not conditions.parameters(structs.replace(found, runs=(*found.runs, other)))


def test_wrong_answers_make_a_number_invalid_and_are_named(path: Path) -> None:
    planned = invented.plan([invented.SQLITE, invented.POSTGRESQL])

    def of_run(run: PlannedRun) -> dict[str, Any]:
        checks = invented.checks({"S01": 155} if run.position else {})
        checks[0]["note"] = "156 rows expected"
        results = invented.observation(run.cell, 1)["results"]
        results[0]["digest"] = str(checks[0]["found"])
        return {"checks": checks, "observation": {"results": results}}

    report = build(invented.experiment(path, planned, 1.0, of_run=of_run))
    assert cells_of(table_of(report, "parallel")) == [
        ["sqlite", "1.000"],
        ["postgresql", "1.000 [1]"],
    ]
    assert "[1] invalid: wrong answers: S01" in table_of(report, "parallel").notes
    found = table_of(report, "parallel_checks")
    assert cells_of(found) == [
        ["S01", "ISBN without ISBN-13", "156", "156", "155! [1]", "no"],
        ["S02", "confused ISBN-13", "0", "0", "0", "yes"],
    ]
    assert "[1] wrong: S01, run 2: 156 rows expected" in found.notes
    assert (
        "checks  3 of 4 right; wrong: S01 (postgresql); the same rows everywhere: 1 of 2"
        in lines_of(report)
    )


def test_answers_of_systems_in_several_languages_stand_in_one_table(path: Path) -> None:
    """Their tables differ, and so do the fingerprints of their data; the question is the same."""
    checks = [{**one, "expected": None, "ok": True} for one in invented.checks()[:1]]
    sums = [{"transaction": "S01", "transactions": 1, "rows": 156, "digest": "0" * 16}]
    planned = invented.plan([invented.SQLITE, invented.POSTGRESQL])
    data = [{"fingerprint": one * 64, "description": f"tables of language {one}"} for one in "ab"]
    record = invented.experiment(
        path, planned, 1.0, checks=checks, observation={"answer_sums": sums},
        of_run=lambda run: {"dataset": data[run.position]},
    )  # fmt: skip
    report = build(record)
    assert [one.name for section in report.sections for one in section.tables].count(
        "parallel_checks"
    ) == 1
    found = table_of(report, "parallel_checks")
    assert cells_of(found) == [["S01", "ISBN without ISBN-13", "unknown", "156", "156", "yes"]]
    (line,) = [line for line in lines_of(report) if line.startswith("checks")]
    assert "1 answer compared: the same on all 2 systems" in line


def test_interrupted_runs_have_no_number_and_a_reason(path: Path) -> None:
    planned = invented.plan([invented.SQLITE, invented.POSTGRESQL, invented.MARIADB])
    with begun(path, planned) as store:
        store.begin_run(planned.runs[0])
        store.end_run("failed", reason="no space left")
        refused = {"ended_by": "refused"}
        invented.write_run(
            store,
            planned.runs[1],
            invented.S,
            observation=refused,
            end=("failed", "not every client could connect"),
        )
        found = table_of(build(store.latest()), "parallel")
    assert cells_of(found) == [
        ["sqlite", "failed [1]"],
        ["postgresql", "failed [2]"],
        ["mariadb engine=MyISAM", "not run"],
    ]
    assert "[1] run 1: failed (no space left)" in found.notes


def test_a_failed_repetition_leaves_a_number_of_the_others(path: Path) -> None:
    planned = invented.plan([invented.SQLITE], repetitions=3)
    with begun(path, planned) as store:
        for run in planned.runs[:2]:
            invented.write_run(store, run, run.repetition * invented.S // 10 + invented.S)
        store.begin_run(planned.runs[2])
        store.end_run("failed", reason="killed")
        found = table_of(build(store.latest()), "parallel")
    assert cells_of(found) == [["sqlite", "1.150 (1.100-1.200) [1]"]]
    assert "[1] unreliable: 2 of 3 repetitions ended" in found.notes
    assert "run 3, sqlite, here, 8 clients: failed (killed)" in found.notes


def test_an_account_that_does_not_add_up_is_not_hidden(path: Path) -> None:
    outcomes = {"scheduled": 16, "ok": 15, "aborted": 0, "failed": 0, "unknown": 0, "skipped": 0}
    planned = invented.plan([invented.SQLITE])
    report = build(invented.experiment(path, planned, 1.0, observation={"outcomes": outcomes}))
    assert any("≠ scheduled 16" in line for line in lines_of(report))


def fields_experiment(path: Path, declared: Any, *reports: dict[str, Any]) -> ExperimentRecord:
    """A repetition for each report."""
    planned = invented.plan([invented.POSTGRESQL], test="limit", repetitions=len(reports))
    with invented.at_once(path) as store:
        invented.begin(store, planned, workload={"report": {"limit": declared}})
        for run, report in zip(planned.runs, reports, strict=True):
            store.begin_run(run)
            store.observed(invented.observed(report))
            store.checked([])
            store.end_run("done", verdict=("valid", ""))
        return store.latest()


def test_declared_fields_are_columns(path: Path) -> None:
    refusal = {"class": "resources", "code": "53300", "message": "too many clients"}
    limits = {
        "kind": "limit",
        "upto": 256,
        "default": {"limit": 100, "opened": 97, "refused_at": 98, "error": refusal},
        "raised": {"limit": 1000, "opened": 256, "refused_at": None, "error": None},
    }
    declared = {
        "title": "Sessions until one is refused",
        "fields": [
            {"key": "default.limit", "title": "limit"},
            {"key": "default.refused_at", "title": "refused at"},
            {"key": "raised.refused_at", "title": "raised, refused at"},
        ],
    }
    report = build(fields_experiment(path, declared, limits))
    assert cells_of(table_of(report, "limit")) == [["postgresql", "1", "100", "98", "none"]]


UPDATE = {
    "kind": "update", "changed_files": 1, "vanished_files": 0, "deleted_rows": 2,
    "inserted_rows": 3, "elapsed_ns": 1_500_000_000, "equals_fresh_load": True,
    "tables": {"bibtab": {"rows": 4, "digest": "d", "fresh_rows": 4}},
}  # fmt: skip


def test_a_declared_time_has_its_unit_and_a_truth_is_yes_or_no(path: Path) -> None:
    declared = {
        "title": "Update",
        "fields": [
            {"key": "elapsed_ns", "title": "time", "unit": "ms"},
            {"key": "equals_fresh_load", "title": "equal"},
            {"key": "tables.bibtab.rows", "title": "rows"},
        ],
    }
    found = table_of(build(fields_experiment(path, declared, UPDATE)), "limit")
    assert cells_of(found) == [["postgresql", "1", "1500", "yes", "4"]]
    assert [column.heading for column in found.columns][-3:] == ["time, ms", "equal", "rows"]


def test_of_repetitions_the_summary_has_each_median_and_the_table_says_what_limits_them(
    path: Path,
) -> None:
    declared = {
        "title": "Update",
        "note": "time: with its commit",
        "fields": [
            {"key": "elapsed_ns", "title": "time", "unit": "ms"},
            {"key": "changed_files", "title": "files"},
            {"key": "equals_fresh_load", "title": "equal"},
        ],
    }
    reports = (
        {**UPDATE, "changed_files": files, "elapsed_ns": ms * 1_000_000}
        for ms, files in ((100, 7), (300, 8), (200, 9))
    )
    report = build(fields_experiment(path, declared, *reports))
    (row,) = report.summary.tables[0].rows
    assert "medians: time 200.0 ms; files 8; equal yes" in [cell.shown for cell in row.cells]
    notes = table_of(report, "limit").notes
    assert notes == (
        "time: with its commit",
        "[1] the cell is unreliable: repetitions differ by 100 %",
    )


def test_published_numbers_of_other_conditions_are_not_shown_beside(path: Path) -> None:
    published = {
        "source": "the paper",
        "unit": "s",
        "columns": ["disk"],
        "rows": [{"system": "SQLite", "copies": 100, "values": [60]}],
    }
    planned = invented.plan([invented.SQLITE], parameters={"copies": 10})
    workload = {"published": {"parallel": published}}
    found = table_of(build(invented.experiment(path, planned, 1.0, workload=workload)), "parallel")
    assert cells_of(found) == [["sqlite", "1.000"]]
    assert "published for copies = 100, not 10" in found.notes


def test_a_warning_of_a_cell_names_it_among_several(path: Path) -> None:
    counted = [Driving(transactions=1)]  # a run that ends after its passes needs no percentiles
    planned = invented.plan([invented.SQLITE], clients=(100, 400), driving=counted)
    report = build(invented.experiment(path, planned, 1.0))
    (few,) = (one for one in report.warnings if one.name == "few-samples")
    assert [detail.partition(":")[0] for detail in few.details] == ["sqlite, here, 100 clients"]


def test_cells_stand_in_the_order_in_which_they_were_asked_for(path: Path) -> None:
    planned = invented.plan(
        [invented.POSTGRESQL, invented.SQLITE],
        [invented.SSD, invented.HERE],
        clients=(8, 2),
        repetitions=2,
    )
    by_lot = sorted(planned.runs, key=lambda run: run.position * 7 % 11)
    runs = tuple(replace(run, position=place) for place, run in enumerate(by_lot))
    record = invented.experiment(path, replace(planned, runs=runs), 1.0)
    of_costs = cells_of(table_of(build(record), "parallel_costs"))
    expected = [
        [system, storage, clients]
        for clients in ("8", "2")
        for system in ("postgresql", "sqlite")
        for storage in ("ssd", "here")
    ]
    assert [row[:3] for row in of_costs] == expected
    cells = tidy.tables(record)["cells"]
    assert [[one["system"], one["storage"], str(one["clients"])] for one in cells] == expected


def test_storages_and_states_of_the_cache_are_one_grid(tmp_path: Path) -> None:
    """A column for each storage and state, with speed-ups of each state by itself."""
    planned = invented.plan([invented.SQLITE], (invented.HERE, invented.SSD), clients=(1, 8))
    elapsed = {
        ("sqlite", "here", 1): [8.0], ("sqlite", "ssd", 1): [2.0],
        ("sqlite", "here", 8): [1.0], ("sqlite", "ssd", 8): [0.5],
    }  # fmt: skip
    workload = {"report": {"parallel": {"title": "Batch", "speed_up": True}}}
    record = invented.experiment(tmp_path / "r.sqlite", planned, elapsed, workload=workload)
    runs = tuple(
        invented.of_cell(
            run, clients=8, levels={**run.levels, "cache": {1: "cold", 8: "warm"}[run.clients]}
        )
        for run in record.runs
    )
    grid = table_of(build(structs.replace(record, runs=runs)), "parallel")
    assert [column.title for column in grid.columns] == [
        "system", "here\ncold", "here\nwarm", "ssd\ncold", "ssd\nwarm",
        "speed-up\ncold", "speed-up\nwarm",
    ]  # fmt: skip
    (row,) = grid.rows
    assert not row.block.get("cache")
    assert [cell.shown.split()[0] for cell in row.cells] == [
        "sqlite", "8.000", "1.000", "2.000", "0.5000", "4.00", "2.00",
    ]  # fmt: skip


def test_a_cold_cell_has_its_first_execution_and_no_average_over_the_warming(
    tmp_path: Path,
) -> None:
    planned = invented.plan([invented.SQLITE], driving=[Driving(duration_s=20.0)], clients=(1, 8))
    with invented.at_once(tmp_path / "r.sqlite") as store:
        invented.begin(store, planned, workload={"report": {}})
        for run, cache in zip(planned.runs, ("cold", "warm"), strict=True):
            made = invented.observation(run.cell, 20 * invented.S)
            first = {"latency_ns": 40_000_000, "began_ns": 0}
            slow = [{"second": second, "ok": 10 if second < 3 else 100} for second in range(20)]
            changes = {
                "transactions": [{**one, "first": first} for one in made["transactions"]],
                "intervals": slow,
                "cache_state": {"cache": cache, "done": ["restarted"]},
            }
            invented.write_run(store, run, 20 * invented.S, observation=changes)
        store.end_experiment()
        record = store.latest()
    report = build(record)
    titles = [column.title for column in table_of(report, "parallel").columns]
    place = titles.index("first execution")
    assert titles[place : place + 3] == ["first execution", "warm after", "TPS"]
    cold, warm = (row[place : place + 3] for row in cells_of(table_of(report, "parallel")))
    assert cold == ["80 ms", "3 s", ""]
    assert warm[:2] == ["", ""] and warm[2]
    (summary,) = report.summary.tables
    shown_first = [cell.shown for cell in summary.rows[0].cells]
    assert " ".join(cold) in " ".join(shown_first)
    lines = first_look.lines(record, report, 100, "assay report 1")
    assert any(re.search("first execution  warm after +TPS", line) for line in lines), lines
    assert any(re.search("80 ms +3 s  ", line) for line in lines), lines
    (caches,) = [one for one in report.sections if one.title == "Caches"]
    assert caches.tables[0].columns[-1].title == "over all, TPS"
