"""A mix of transaction types is judged by its types as well: a rare one that is slow is seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
import observations
from assay import comparison
from assay.comparison import conditions, fail_conditions, trend
from assay.comparison.fail_conditions import ConditionAnswer
from assay.comparison.sides.values import Comparison
from assay.errors import ArgumentError
from assay.record import ExperimentRecord, Run
from assay.record.metrics import catalogue
from assay.report.build import build
from assay.report.cells import cell_runs
from assay.report.comparison_tables import comparison as report
from assay.report.comparison_tables import comparison_document
from assay.report.forms import json as json_form
from assay.report.forms import openmetrics, table
from assay.report.summaries import first_look, summary
from shown_report import text_of

MS = 1_000_000
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
                "name": name,
                "outcome": "ok",
                "count": count,
                "late": 0,
                "latency": times,
                "service_time": times,
                "schedule_lag": None,
            }
        )
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


def answer(made: Comparison, text: str) -> fail_conditions.ConditionResult:
    (found,) = fail_conditions.judge(made, [conditions.condition(text)])
    return found


def test_a_gate_on_a_type_sees_what_the_whole_hides(made: Comparison) -> None:
    assert answer(made, "latency_p99_ns > 1.5x").answer is ConditionAnswer.NOT_MET
    assert answer(made, "latency_p50_ns[insert] > 1.5x").answer is ConditionAnswer.MET
    assert answer(made, "latency_p50_ns[read] > 1.5x").answer is ConditionAnswer.NOT_MET
    assert answer(made, "throughput_per_s[insert] < 9").answer is ConditionAnswer.NOT_MET
    assert answer(made, "failed[insert] > 0").answer is ConditionAnswer.NOT_MET
    unknown = answer(made, "latency_p50_ns[insrt] > 1.5x")
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


def test_all_metrics_are_those_of_each_type_too(made: Comparison) -> None:
    (shown,) = [
        one
        for section in report.build(made).sections
        for one in section.tables
        if one.name == "metrics"
    ]
    names = [row.cells[0].shown for row in shown.rows]
    whole = [name for name in names if "[" not in name]
    assert names[: len(whole)] == whole, "those of the whole first"
    assert {"latency_p50_ns[read]", "latency_p50_ns[insert]", "throughput_per_s[insert]"} <= {
        *names
    }
    assert not any(name.startswith("failed") for name in names), "what never happened"


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
