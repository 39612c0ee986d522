"""One percentile in every face: of the repetition in the middle, and of all transactions that were
due."""

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
from assay import comparison, registry
from assay.comparison import conditions, fail_conditions, trend
from assay.comparison.fail_conditions import ConditionAnswer
from assay.comparison.sides.values import Comparison
from assay.experiment import Driving
from assay.record import ExperimentRecord, Run
from assay.report.build import build
from assay.report.cells import cell_runs
from assay.report.comparison_tables import comparison_document
from assay.report.forms import csv as csv_form
from assay.report.forms import github_summary, openmetrics, table
from assay.report.forms import json as json_form
from assay.report.sections import times as percentile_curves
from assay.report.summaries import first_look, summary
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


def test_beside_other_cells_it_has_no_bar(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL], clients=(2, 4), driving=(OPEN,))
    made = invented.experiment(tmp_path / "c", planned, 6.0, workload={"report": {}})
    reached, not_reached = made.runs
    runs = (_timed(reached, {}, 24_000), _timed(not_reached, UNREACHED, 9403))
    made = replace(made, runs=runs)
    assert "not reached" in dict(texts(made))["first look"].replace("\u00a0", " ")


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
    (found,) = fail_conditions.judge(made, [conditions.condition(text)])
    return found.answer
