"""JSON and CSV reports and charts of a run under way: tables that match the published schema, each
fact said once."""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from msgspec.structs import replace
from msgspec.structs import replace as replace_field

import invented_records as invented
from assay.comparison.compare_sides import compare
from assay.comparison.sides import side
from assay.contracts.metric import ReportColumn
from assay.contracts.observation import Interval, MachineSecond
from assay.contracts.observation.transactions import PassTime
from assay.record import ExperimentRecord, Store
from assay.report import build as empty_parts
from assay.report import charts, comparison_report
from assay.report.build import build
from assay.report.figures import over_time
from assay.report.figures.over_time import ShownSecond
from assay.report.forms import csv as csv_form
from assay.report.forms import github_summary, markdown, table
from assay.report.forms import json as json_form
from assay.report.live.charts import Drawn, LiveCharts, charts_text
from assay.report.page import render as render_page
from assay.report.tidy.schema import schema
from assay.report.tidy.tables import TABLES
from assay.report.values import Number, Report, ReportCell, ReportTable, Row, Section, absent, text
from shown_report import kept_record, text_of


def document(experiment: ExperimentRecord, detail: bool | None = None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text_of(json_form, build(experiment), detail))
    _published().validate(found)
    return found


@cache
def _published() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(schema())


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kept_record(tmp_path_factory.mktemp("records") / "r.sqlite")


@pytest.fixture(scope="module")
def parallel(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRecord:
    """Two client counts of a system with a parameter, three times each."""
    planned = invented.plan(
        [invented.POSTGRESQL], clients=(8, 16), repetitions=3, parameters={"copies": 10}
    )
    elapsed = {("postgresql", "here", 8): (4.0, 4.2, 4.1), ("postgresql", "here", 16): [8.0] * 3}
    path = tmp_path_factory.mktemp("records") / "r.sqlite"
    return invented.experiment(path, planned, elapsed)


@pytest.mark.parametrize("table", TABLES)
def test_no_two_columns_of_a_table_have_one_name(table: str) -> None:
    """The last one would hide the others."""
    names = [column.name for column in TABLES[table].every_column]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("number", range(1, 14))
def test_the_report_of_any_experiment_keeps_to_the_schema(number: int, kept: Path) -> None:
    with Store(kept, must_exist=True) as store:
        found = document(store.experiment(number))
    assert set(found["tables"]) == set(TABLES)
    assert found["tables"]["cells"]
    assert found["tables"]["runs"]


@pytest.mark.slow
def test_a_row_that_has_another_column_or_kind_is_refused_by_the_schema(
    parallel: ExperimentRecord,
) -> None:
    found = document(parallel)
    for change in ({"p99": 3}, {"throughput_per_s": "88"}, {"clients": None}):
        changed = json.loads(json.dumps(found))
        changed["tables"]["runs"][0].update(change)
        with pytest.raises(jsonschema_rs.ValidationError):
            _published().validate(changed)


def test_a_percentile_of_a_second_needs_as_many_samples(tmp_path: Path) -> None:
    times = {"p50_ns": 1, "p99_ns": 2, "max_ns": 3}
    intervals = [{"second": at, "ok": ok, **times} for at, ok in enumerate((5, 6, 367, 368))]
    record = invented.experiment(
        tmp_path / "r.sqlite", invented.plan([invented.SQLITE]), 4.0,
        observation={"intervals": intervals},
    )  # fmt: skip
    rows = document(record)["tables"]["intervals"]
    names = ("latency_p50_ns", "latency_p99_ns", "latency_max_ns")
    found = [tuple(row[name] for name in names) for row in rows]
    assert found == [(None, None, 3), (1, None, 3), (1, None, 3), (1, 2, 3)]
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection:
        in_sql = connection.execute("SELECT p50_ns, p99_ns, max_ns FROM intervals ORDER BY second")
        assert in_sql.fetchall() == found


def test_each_pass_is_a_row_of_its_client_and_group(parallel: ExperimentRecord) -> None:
    (run, *_) = parallel.runs
    driven = run.driven
    assert driven is not None
    times = (PassTime(1, 2_000, 1_500), PassTime(0, 2_500, 2_400))
    with_times = replace(run, observation=replace_field(driven, pass_times=times))
    rows = document(replace(parallel, runs=(with_times,)))["tables"]["pass_times"]
    assert rows == [
        {"run": 1, "group": "", "client": 1, "end_ns": 2_000, "latency_ns": 1_500},
        {"run": 1, "group": "", "client": 0, "end_ns": 2_500, "latency_ns": 2_400},
    ]


def test_processor_states_that_the_ticks_contradict_are_marked(parallel: ExperimentRecord) -> None:
    """8 processors for 4 s: 32 s."""
    s = invented.S
    peaks = {"load_1min_peak": 0.0, "cached_peak_bytes": 0, "dirty_peak_bytes": 0}
    right = {"user_ns": 8 * s, "system_ns": 2 * s, "idle_ns": 20 * s, "iowait_ns": 2 * s,
             "steal_ns": 0, **peaks}  # fmt: skip
    run = parallel.runs[0]
    cost = dict(run.driven.document["client_cost"]) if run.driven else {}

    def column(states: dict[str, float], **of_client: int) -> str | None:
        found = invented.changed(
            run, "observation", machine_cost=states, client_cost={**cost, **of_client}
        )
        (row,) = document(replace(parallel, runs=(found,)))["tables"]["runs"]
        contradicted: str | None = row["machine_states_contradicted"]
        is_marked = "contradict the states" in " ".join(
            text_of(table, build(replace(parallel, runs=(found,))), True).split()
        )
        assert is_marked is (contradicted is not None)
        return contradicted

    assert column(right) is column(right, machine_busy_ns=11 * s) is None
    assert column(right, machine_busy_ns=20 * s) == (
        "user and system were 10.0 s, by the kernel's ticks 20.0 s"
    )
    assert column({**right, "idle_ns": 0}) == (
        "all states together were 12.0 s of the 32.0 s that 8 processors had"
    )
    assert "client and server alone used 30.0 s" in str(column(right, user_ns=30 * s))


def test_groups_of_clients_have_rows_of_their_own(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE])
    plain = invented.observation(planned.runs[0].cell, invented.S)
    group = {key: plain[key] for key in ("outcomes", "transactions", "clients")}
    groups = [{"name": "readers", **group}, {"name": "writers", **group}]
    record = invented.experiment(
        tmp_path / "r.sqlite", planned, 1.0, observation={"groups": groups}
    )
    found = document(record)["tables"]
    assert [(one["group"], one["throughput_per_s"]) for one in found["groups"]] == [
        ("readers", 16.0),
        ("writers", 16.0),
    ]
    assert [one["group"] for one in found["transactions"]] == ["readers"] * 2 + ["writers"] * 2


def test_a_continued_experiment_says_where_it_was_interrupted(tmp_path: Path) -> None:
    planned, path = invented.plan([invented.SQLITE, invented.MARIADB]), tmp_path / "r.sqlite"
    with pytest.raises(KeyboardInterrupt), Store(path) as store:
        store.begin_experiment(planned.experiment, planned, invented.FACTS, command={"file": "e"})
        store.begin_run(planned.runs[0])
        raise KeyboardInterrupt
    other = replace(invented.FACTS, machine={**invented.MACHINE, "kernel": "6.2.0"})
    with Store(path) as store:
        store.continue_experiment(planned, planned.runs, {"file": "e"}, other)
        (one,) = document(store.latest())["tables"]["continuations"]
    assert (one["position"], one["run_position"], one["run_state"]) == (1, 0, "provisioning")
    assert (one["process_id"], one["ended_process_id"]) == (os.getpid(), os.getpid())
    assert one["changes"] == ["machine.kernel was 6.1.0, is 6.2.0"]


def test_csv_is_a_line_per_run_with_a_version_and_numbers_as_numbers(
    parallel: ExperimentRecord,
) -> None:
    lines = list(csv.DictReader(io.StringIO(text_of(csv_form, build(parallel)))))
    rows = document(parallel)["tables"]["runs"]
    assert len(lines) == len(rows) == 6
    assert {line["version"] for line in lines} == {"3"}
    for line, row in zip(lines, rows, strict=True):
        assert float(line["throughput_per_s"]) == row["throughput_per_s"]
        assert (line["clients"], line["parameter_copies"]) == (str(row["clients"]), "10")
        assert line["reconnects"] == "0"


MS = 1_000_000


class Browser:
    """What a page has of the charts, as its script keeps it."""

    def __init__(self) -> None:
        self.drawn: Drawn = {}
        self.charts: dict[str, dict[str, Any]] = {}
        self.frames = 0

    def given(self, charts: LiveCharts) -> None:
        if not (text := charts_text(charts.draw(), self.drawn)):
            return
        found = json.loads(text)
        for one in found["changed"]:
            if one["head"] is not None:
                self.frames += 1
                self.charts[one["name"]] = one["head"]
            spec = self.charts[one["name"]]["spec"]
            spec["data"]["values"] += one["rows"]
            shading = [part for part in spec["layer"] if part.get("data")]
            assert shading or not one["shaded"]
            for part in shading:
                part["data"]["values"] += one["shaded"]
        self.charts = {name: self.charts[name] for name in found["all"]}

    def points(self, chart: str) -> list[tuple[str, float, float, int]]:
        values = self.charts[chart]["spec"]["data"]["values"]
        return sorted((one["series"], one["x"], one["y"], one["part"]) for one in values)

    def shaded(self, chart: str) -> list[tuple[float, float]]:
        (found,) = [
            part["data"] for part in self.charts[chart]["spec"]["layer"] if part.get("data")
        ]
        assert found["name"] == "shaded"
        return [(one["from"], one["to"]) for one in found["values"]]


def second(at: int, ok: int = 100, offered: float | None = None, **more: int | None) -> ShownSecond:
    nothing: dict[str, Any] = dict.fromkeys(Interval.__struct_fields__, 0)
    latencies = {"p50_ns": MS, "p99_ns": 5 * MS, "max_ns": 9 * MS} if ok else {}
    own = {"second": at, "group": "", "ok": ok, "clients_connected": 4}
    machine = MachineSecond(
        second=at,
        client_cpus=0.5,
        machine_cpus=1.2,
        other_cpus=0.01,
        device="vda",
        reads=at % 9,
        writes=100 + at,
        flushes=at // 3,
    )
    return ShownSecond(Interval(**(nothing | own | latencies | more)), offered, machine)


def eventful() -> list[ShownSecond]:
    found = [
        second(at, 400 + at % 7, offered=120.0, schedule_lag_p99_ns=(1 + at % 3) * MS)
        for at in range(40)
    ]
    found[11] = second(11, 0, offered=120.0, stalled_ns=1000 * MS)
    found[12] = second(12, 0, offered=120.0, stalled_ns=1000 * MS)
    found[20] = second(20, 3000, offered=120.0, max_ns=2_000 * MS)
    for at in (25, 30):
        found[at] = second(at, 50, failed=7, offered=120.0)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("planned_s", "at_once"), [(40.0, 5), (None, 3)])
def test_what_came_piece_by_piece_is_what_a_report_draws(
    planned_s: float | None, at_once: int
) -> None:
    every = eventful()
    live, browser = LiveCharts(planned_s), Browser()
    for at, one in enumerate(every):
        live.add(one)
        if at % at_once == 0:
            browser.given(live)
    assert len(browser.points("timeline")) > 50
    live.observed(every)
    browser.given(live)
    finals = {
        one.name.removesuffix("_1").removeprefix("test_"): one
        for one in over_time.figures("test", every, 1, "")
    }
    assert list(browser.charts) == list(finals) == [one.name for one in over_time.CHARTS]
    for name, figure in finals.items():
        assert browser.charts[name]["spec"] == json.loads(charts.for_browser(figure))
        assert browser.charts[name]["notes"] == list(figure.notes)


@pytest.mark.slow
def test_points_are_added_and_a_chart_is_drawn_anew_seldom() -> None:
    live, browser = LiveCharts(600.0), Browser()
    for at in range(600):
        live.add(
            second(at, 1000 + at * 3 % 400, offered=1200.0, schedule_lag_p99_ns=(100 + at) * 10_000)
        )
        browser.given(live)
    assert browser.frames < 12
    x = [at for name, at, _, _ in browser.points("timeline") if name == "achieved"]
    assert x == [2.5 + 4 * place for place in range(150)]
    assert "a point is the mean of 4 seconds" in browser.charts["timeline"]["notes"]
    assert "a point is the longest of 4 seconds" in browser.charts["latency_over_time"]["notes"]


def test_a_second_of_which_nothing_is_known_is_a_gap_also_on_a_page_that_comes_later() -> None:
    live, browser, later = LiveCharts(40.0), Browser(), Browser()
    for one in eventful():
        live.add(one)
        browser.given(live)
    later.given(live)
    for name in browser.charts:
        assert later.points(name) == browser.points(name)
    assert later.shaded("timeline") == browser.shaded("timeline") == [(11.5, 12.5), (12.5, 13.5)]
    medians = [one for one in browser.points("latency_over_time") if one[0] == "median"]
    assert not {12, 13} & {x for _, x, _, _ in medians}
    before, behind = (
        {part for _, x, _, part in medians if (x > 12) == late} for late in (False, True)
    )
    assert before and behind and not before & behind, "the line is not drawn across it"


@pytest.mark.slow
def test_what_was_never_not_ok_has_no_line_and_one_that_arises_has_all_its_seconds() -> None:
    live, browser = LiveCharts(40.0), Browser()
    for one in eventful()[:25]:
        live.add(one)
        browser.given(live)
    assert "not_ok_over_time" not in browser.charts
    for one in eventful()[25:]:
        live.add(one)
        browser.given(live)
    failed = browser.points("not_ok_over_time")
    assert {name for name, *_ in failed} == {"failed"}
    assert [y for _, _, y, _ in failed] == [7 if at in (25, 30) else 0 for at in range(40)]


@pytest.mark.slow
def test_the_axes_of_a_chart_hold_all_that_is_drawn_on_them() -> None:
    live, browser = LiveCharts(None), Browser()
    for at in range(100):
        live.add(second(at, 10 + at**2, max_ns=(1 + at) * MS))
        browser.given(live)
        for chart in browser.charts.values():
            layer = chart["spec"]["layer"][-1]["encoding"]
            for axis in ("x", "y"):
                low, high = layer[axis]["scale"]["domain"]
                assert all(low <= one[axis] <= high for one in chart["spec"]["data"]["values"])


def measured(path: Path, seconds: Sequence[Sequence[float]]) -> ExperimentRecord:
    """The repetitions of PostgreSQL at 1, 2 … clients."""
    clients = range(1, len(seconds) + 1)
    planned = invented.plan([invented.POSTGRESQL], clients=clients, repetitions=len(seconds[0]))
    elapsed = {
        ("postgresql", "here", count): of_cell
        for count, of_cell in zip(clients, seconds, strict=True)
    }
    return invented.experiment(path / "r.sqlite", planned, elapsed)


def written(report: Report, form: object) -> str:
    stream = io.StringIO()
    form(report, stream)  # type: ignore[operator]
    return " ".join(stream.getvalue().split())


@pytest.mark.parametrize(
    "form",
    [table.render, markdown.render, github_summary.render, render_page],
    ids=["terminal", "markdown", "github", "page"],
)
def test_the_reason_of_all_cells_is_said_once(tmp_path: Path, form: object) -> None:
    report = build(measured(tmp_path, [[1.0], [1.0], [1.0]]))
    shown = written(report, form)
    assert "[1] unreliable" not in shown
    if form is render_page:
        shown, _, _ = shown.partition("<nav")
    tables = 2 if form in (table.render, markdown.render) else 1  # of throughput and of costs
    assert shown.count("unreliable: one repetition") <= tables, shown


def test_what_only_some_have_stays_with_them(tmp_path: Path) -> None:
    experiment = measured(tmp_path, [[1.0, 1.0, 1.9], [1.0, 1.0, 1.5], [1.0, 1.0, 1.5]])
    (summary,) = build(experiment).summary.tables
    assert [column.title for column in summary.columns][-1] == "why"
    assert [row.cells[-1].shown for row in summary.rows] == [
        "repetitions differ by 47 %",
        "repetitions differ by 33 %",
        "repetitions differ by 33 %",
    ]


def test_a_comparison_says_the_verdict_of_all_cells_above_them(tmp_path: Path) -> None:
    even = [[1.0, 1.01, 1.0]] * 4
    sides = []
    for name in ("A", "B"):
        (tmp_path / name).mkdir()
        sides.append(side(name, name, [measured(tmp_path / name, even)]))
    report = comparison_report.build(compare(*sides))
    first, *_ = report.sections[0].tables
    assert first.of_all == "every cell: no difference seen"
    assert [column.title for column in first.columns] == ["cell", "B/A", "interval"]
    assert text_of(table, report, False).count("no difference seen in 4 of 4 cells") == 1


def test_tables_without_a_number_and_empty_columns_are_left_out() -> None:
    number = ReportCell("1", Number(1, "count"))
    columns = (
        ReportColumn("storage"),
        ReportColumn("reads", is_number=True),
        ReportColumn("options"),
    )
    none = ReportTable("none", "None", columns, (Row((text("a"), absent("not probed"), text(""))),))
    some = ReportTable("some", "Some", columns, (Row((text("a"), number, text(""))),))
    why = ReportTable("why", "Why", columns, (Row((text("a"), absent("-", "no disk"), text(""))),))
    explained = Section("Explained", (), (none, some, why), part_of="Test")
    alone = Section("Nothing", (), (none,), part_of="Test")
    found = list(empty_parts.without([explained, alone]))
    assert [[one.name for one in section.tables] for section in found] == [["some", "why"]]
    assert [column.title for column in found[0].tables[0].columns] == ["storage", "reads"]
    (kept,) = empty_parts.without([Section("Test", (), (none,))])
    assert kept.tables[0].name == "none", "results say why they are none"
