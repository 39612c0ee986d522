"""One percentile in every face: of the repetition in the middle, of all transactions that were
due, of each type, and of the headline."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
import observations
from assay import comparison, registry
from assay.comparison import conditions, trend
from assay.comparison.conditions import ConditionAnswer, condition
from assay.comparison.sides import Comparison
from assay.errors import ArgumentError
from assay.experiment import Driving
from assay.record import ExperimentRecord, Run
from assay.record.metrics import catalogue, clients
from assay.report import cell_runs, comparison_document
from assay.report import comparison_report as report
from assay.report.build import build
from assay.report.forms import csv as csv_form
from assay.report.forms import github_summary, openmetrics, table
from assay.report.forms import json as json_form
from assay.report.sections import times as percentile_curves
from assay.report.summaries import first_look, summary
from assay.report.values import Report
from assay.text import units
from shown_report import text_of

OPEN = Driving(duration_s=6.0, arrival="constant", offered_rate_per_s=4000.0)
FINE = {"lowest_ns": 1, "significant_digits": 3, "highest_ns": 3600 * 10**9}


def experiment(
    path: Path, *latencies: dict[str, Any], driving: Driving | None = None, ok: int = 24_000
) -> ExperimentRecord:
    """One cell; each latency is that of a repetition."""
    planned = invented.plan(
        [invented.POSTGRESQL], repetitions=len(latencies), driving=(driving or Driving(passes=1),)
    )
    made = invented.experiment(path, planned, 6.0, workload={"report": {}})
    return replace(
        made,
        runs=tuple(
            _timed(run, latency, ok) for run, latency in zip(made.runs, latencies, strict=True)
        ),
    )


def _timed(run: Run, latency: dict[str, Any], ok: int) -> Run:
    assert run.driven is not None
    times = {**invented.latency(100_000, ok), **latency}
    all_ok = {"count": ok, "latency": times, "service_time": times, "schedule_lag": None}
    skipped = latency.get("unanswered", 0)
    outcomes = {
        **run.driven.outcomes.document,
        "scheduled": ok + skipped,
        "ok": ok,
        "skipped": skipped,
        "attempts": ok,
    }
    return invented.judged_again(
        invented.changed(
            run, "observation", all_ok=all_ok, resolution=FINE, outcomes=outcomes, transactions=()
        )
    )


def texts(record: ExperimentRecord) -> Iterator[tuple[str, str]]:
    """What people read: the first look, the report as a table, the summary of the page, GitHub's
    summary."""
    report = build(record)
    yield "first look", "\n".join(first_look.lines(record, report, 100, "assay report 1"))
    yield "table", text_of(table, report)
    made = summary.section(record, cell_runs.cells(record, record.runs))
    yield "page", " ".join(cell.shown for t in made.tables for row in t.rows for cell in row.cells)
    yield "github", text_of(github_summary, report)


def rows(record: ExperimentRecord, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text_of(json_form, build(record)))["tables"][name]
    return found


def csv_rows(record: ExperimentRecord) -> list[dict[str, str]]:
    lines = text_of(csv_form, build(record)).splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def test_a_slow_repetition_takes_no_digits_from_the_percentile_of_the_others(
    tmp_path: Path,
) -> None:
    medians = (20_200_000, 184_063, 147_455)
    record = experiment(tmp_path / "r", *({"p50_ns": one} for one in medians))
    for face, text in texts(record):
        text = text.replace("\u00a0", " ")
        assert "184" in text and "200 µs" not in text and "0.2 " not in text, (face, text)
    assert rows(record, "cells")[0]["latency_p50_ns"] == 184_063
    assert units.time(184_063, "µs", resolution_ns=128) == "184"
    record = experiment(tmp_path / "s", *({"p50_ns": one} for one in (20_200_000, 101_000, 90_000)))
    for face, text in texts(record):
        assert "<1000" not in text and "101" in text, (face, text)


UNREACHED = {
    **dict.fromkeys(("p50_ns", "p90_ns", "p95_ns", "p99_ns", "p99_9_ns")),
    "unanswered": 14_597,
    "histogram": "damaged",
}


@pytest.fixture
def overloaded(tmp_path: Path) -> ExperimentRecord:
    return experiment(tmp_path / "b", UNREACHED, UNREACHED, driving=OPEN, ok=9403)


def test_where_most_never_ran_no_face_has_a_percentile(overloaded: ExperimentRecord) -> None:
    for face, text in texts(overloaded):
        assert "not reached" in text.replace("\u00a0", " "), (face, text)
    said = (
        "p50, p90, p95, p99, p99.9, mean, max not reached: "
        "14597 of 24000 transactions had no answer"
    )
    for name in ("cells", "runs"):
        row = rows(overloaded, name)[0]
        times = ("p50", "p90", "p95", "p99", "p99_9", "mean", "max")
        assert [row[f"latency_{one}_ns"] for one in times] == [None] * len(times)
        assert row["latency_why_null"] == said
    assert rows(overloaded, "runs")[0]["latency_unanswered"] == 14_597
    assert csv_rows(overloaded)[0]["latency_why_null"] == said
    metrics = text_of(openmetrics, build(overloaded))
    assert 'quantile="0.99"} +Inf' in metrics and "_sum" not in metrics
    report = build(overloaded)
    assert all(figure.points for section in report.sections for figure in section.figures)
    page = io.StringIO()
    registry.report_form("html")(report, page, detail=None)
    assert "not reached" in page.getvalue().replace("\u00a0", " "), (
        "a page needs no chart of percentiles"
    )


def test_a_cell_whose_median_was_not_reached_has_no_line_and_a_note(tmp_path: Path) -> None:
    reached = experiment(tmp_path / "r", {"histogram": "damaged"}, driving=OPEN)
    (kept,) = cell_runs.cells(reached, reached.runs)
    lost = experiment(tmp_path / "l", UNREACHED, driving=OPEN, ok=9403)
    (overrun,) = cell_runs.cells(lost, lost.runs)
    assert percentile_curves.figures("t", [overrun]) == ()
    (chart,) = percentile_curves.figures("t", [kept, overrun])
    assert [bool(one.points) for one in chart.series] == [True]
    assert "1 cell has no line: its median was not reached" in chart.notes


def test_a_gate_on_latency_is_met_by_what_never_ran(
    overloaded: ExperimentRecord, tmp_path: Path
) -> None:
    whole = experiment(tmp_path / "a", {}, {}, driving=OPEN)
    made = comparison.compare(
        comparison.side("A", "", [whole]), comparison.side("B", "", [overloaded])
    )
    for text in ("latency_p99_ns > 20000000", "latency_max_ns > 20000000", "latency_p99_ns > 2x"):
        assert answer(made, text) is ConditionAnswer.MET, text
    assert answer(made, "latency_p99_ns < 20000000") is ConditionAnswer.NOT_MET
    back = comparison.compare(
        comparison.side("A", "", [overloaded]), comparison.side("B", "", [whole])
    )
    assert answer(back, "latency_p99_ns > 2x") is ConditionAnswer.UNKNOWN
    assert answer(back, "latency_p99_ns > 20000000") is ConditionAnswer.NOT_MET
    assert "latency_p99_ns not reached on B" in made.cells[0].primary.verdict
    document = json.loads(json.dumps(comparison_document.document(made), allow_nan=False))
    (ratio,) = [one for one in document["ratios"] if one["is_primary"]]
    assert (ratio["metric"], ratio["b"], ratio["b_values"]) == ("latency_p99_ns", None, [None] * 2)
    (found,) = trend.trends([("r", run) for run in (*whole.runs, *overloaded.runs)])
    assert found.left_out == 2


def answer(made: Comparison, text: str) -> ConditionAnswer:
    (found,) = conditions.judge_conditions(made, [condition(text)])
    return found.answer


S = 10**9
MS = 1_000_000


def _outcomes(name: str, **counts: int) -> dict[str, Any]:
    return {"name": name, **observations.outcomes(**counts)}


def _times(name: str, outcome: str, count: int, each_ns: int) -> dict[str, Any]:
    times = observations.latency(count, each_ns)
    return {"name": name, "outcome": outcome, "count": count, "latency": times}


def _experiment(path: Path, **more: Any) -> ExperimentRecord:
    observed = {
        "outcomes": {"ok": 140, "aborted": 10},
        "outcomes_by_transaction": [
            _outcomes("buy", ok=90, aborted=10, failed=3),
            _outcomes("look", ok=50),
        ],
        "transactions": [
            _times("buy", "ok", 90, 20 * MS),
            _times("look", "ok", 50, 7 * S),
            _times("rare", "ok", 5, MS),
        ],
        "headline": {"title": "sales", "transactions": ["buy"]},
        "response_limits": [
            {"transaction": name, "percentile": "p90", "limit_ns": 5 * S}
            for name in ("buy", "look", "rare")
        ],
        **more,
    }
    planned = invented.plan([invented.POSTGRESQL])
    return invented.experiment(path / "r.sqlite", planned, 20.0, observation=observed)


def _rows(report: Report, end: str) -> list[list[str]]:
    tables = [one for part in report.sections for one in part.tables if one.name.endswith(end)]
    return [[cell.shown for cell in row.cells] for one in tables for row in one.rows]


def test_the_headline_counts_what_was_rolled_back_on_purpose_and_throughput_does_not(
    tmp_path: Path,
) -> None:
    record = _experiment(tmp_path)
    (run,) = record.runs
    assert clients.HEADLINE.value(run) == 100 * 60 / 20
    assert clients.THROUGHPUT.value(run) == 140 / 20
    report = build(record)
    (row,) = _rows(report, "_headline")
    assert row[-3:] == ["300.0", "100", "10"]
    assert report.tidy["tables"]["runs"][0]["headline_per_min"] == 300
    lines = first_look.lines(record, report, 80, "assay report 1")
    assert any(line.startswith("headline     300.0 sales per minute") for line in lines)
    asked = condition("headline < 301/min")
    assert asked.metric.name == "headline_per_min" and asked.is_met_by(300)


def test_limits_are_met_missed_or_not_judged(tmp_path: Path) -> None:
    record = _experiment(tmp_path)
    report = build(record)
    assert [row[-1] for row in _rows(report, "_limits")] == ["met", "missed", "not judged"]
    tidy = report.tidy["tables"]["response_limits"]
    assert [(one["judgement"], one["found_ns"], one["samples"]) for one in tidy] == [
        ("met", 20 * MS, 90),
        ("missed", 7 * S, 50),
        ("not judged", None, 5),
    ]
    lines = " ".join(first_look.lines(record, report, 200, "assay report 1"))
    assert (
        "1 of 3 met; 1 missed: look p90 7.00 s (limit 5s); 1 not judged: rare p90: 5 of 36" in lines
    )


TRANSACTIONS = {"read": 9900, "insert": 100}


def mix(path: Path, insert_ms: float, read_ms: float = 1.0) -> ExperimentRecord:
    """Three repetitions, of which each is a percent slower than the one before."""
    planned = invented.plan([invented.POSTGRESQL], repetitions=3)
    made = invented.experiment(path, planned, 10.0, workload={"report": {}})
    runs = (
        _run(run, {"read": read_ms * (1 + place / 100), "insert": insert_ms * (1 + place / 100)})
        for place, run in enumerate(made.runs)
    )
    return replace(made, runs=tuple(runs))


def _run(run: Run, medians_ms: dict[str, float]) -> Run:
    transactions = []
    for name, count in TRANSACTIONS.items():
        times = invented.latency(round(medians_ms[name] * MS), count)
        times = {**times, "p99_ns": round(medians_ms[name] * MS * 2)}
        transactions.append(
            {
                "name": name, "outcome": "ok", "count": count, "late": 0, "latency": times,
                "service_time": times, "schedule_lag": None,
            }
        )  # fmt: skip
    whole = {**transactions[0], "count": sum(TRANSACTIONS.values())}
    all_ok = {key: whole[key] for key in ("count", "latency", "service_time", "schedule_lag")}
    found: dict[str, Any] = {
        "transactions": transactions,
        "all_ok": all_ok,
        "outcomes": observations.outcomes(scheduled=10_000, ok=10_000),
        "outcomes_by_transaction": [
            {"name": name, **observations.outcomes(scheduled=count, ok=count)}
            for name, count in TRANSACTIONS.items()
        ],
    }
    return invented.judged_again(invented.changed(run, "observation", **found))


@pytest.fixture
def made(tmp_path: Path) -> Comparison:
    return comparison.compare(
        comparison.side("A", "", [mix(tmp_path / "a", 1.0)]),
        comparison.side("B", "", [mix(tmp_path / "b", 4.0)]),
    )


def test_a_gate_on_a_type_sees_what_the_whole_hides(made: Comparison) -> None:
    assert answer(made, "latency_p99_ns > 1.5x") is ConditionAnswer.NOT_MET
    assert answer(made, "latency_p50_ns[insert] > 1.5x") is ConditionAnswer.MET
    assert answer(made, "latency_p50_ns[read] > 1.5x") is ConditionAnswer.NOT_MET
    assert answer(made, "throughput_per_s[insert] < 9") is ConditionAnswer.NOT_MET
    assert answer(made, "failed[insert] > 0") is ConditionAnswer.NOT_MET
    (unknown,) = conditions.judge_conditions(made, [condition("latency_p50_ns[insrt] > 1.5x")])
    assert unknown.answer is ConditionAnswer.UNKNOWN
    assert "transaction types: read, insert" in unknown.reason


def test_a_metric_of_the_whole_run_has_no_types() -> None:
    with pytest.raises(ArgumentError, match="size_on_disk_bytes is of a whole run"):
        catalogue.metric("size_on_disk_bytes[insert]")
    with pytest.raises(ArgumentError, match="no metric"):
        catalogue.metric("latency_p98_ns[insert]")
    assert catalogue.metric("latency_p99_ns[new order]").label == "p99 latency of new order"
    assert catalogue.metric("throughput_per_s[insert]").label == "throughput of insert"


def test_a_comparison_shows_the_type_that_differs_alone(made: Comparison) -> None:
    rendered = text_of(table, report.build(made), False)
    assert "transaction types that differ" in rendered
    assert "latency_p50_ns[insert]" in rendered
    assert "[read]" not in rendered
    ratios = comparison_document.document(made)["ratios"]
    (found,) = [one for one in ratios if one["metric"] == "latency_p50_ns[insert]"]
    assert found["ratio"] == pytest.approx(4) and found["verdict"] == "slower"


def test_a_type_has_a_trend(tmp_path: Path) -> None:
    record = mix(tmp_path / "r", 4.0)
    (found,) = trend.trends([("r", run) for run in record.runs], "latency_p50_ns[insert]")
    assert found.points[0].value == pytest.approx(4.04 * MS, rel=0.001)


def test_a_report_has_each_type_over_the_repetitions(tmp_path: Path) -> None:
    made = build(mix(tmp_path / "r", 4.0))
    rendered = text_of(table, made)
    assert "1.01 (1.00-1.02)" in rendered and "4.04 (4.00-4.08)" in rendered
    rows = json.loads(text_of(json_form, made))["tables"]["transaction_types"]
    (insert,) = [one for one in rows if one["transaction"] == "insert"]
    names = ("throughput_per_s", "latency_p50_min_ns", "latency_p50_ns", "latency_p50_max_ns")
    assert [insert[name] for name in names] == [10, 4 * MS, 4.04 * MS, 4.08 * MS]
    assert any(
        line.startswith("assay_transaction_latency_seconds") and 'transaction="insert"' in line
        for line in text_of(openmetrics, made).splitlines()
    )


def test_a_mix_of_unlike_types_has_no_median_of_all(tmp_path: Path) -> None:
    unlike, alike = mix(tmp_path / "r", 4.0), mix(tmp_path / "s", 1.2)

    def look(record: ExperimentRecord) -> str:
        lines = first_look.lines(record, build(record), 100, "assay report 1")
        return " ".join(lines).replace("\u00a0", " ")

    assert "p50 of read 1.01 ms, insert 4.04 ms" in look(unlike)
    assert "p50 1.01 ms" in look(alike)

    def page(record: ExperimentRecord) -> list[str]:
        (shown,) = summary.section(record, cell_runs.cells(record, record.runs)).tables
        return [cell.shown for cell in shown.rows[0].cells]

    assert "by type" in page(unlike) and "by type" not in page(alike)
