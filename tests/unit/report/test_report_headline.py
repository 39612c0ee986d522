"""The rate by which a test is known, and its response limits, count transactions that were rolled
back as the workload asked; nothing else does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import invented_records as invented
import observations
from assay.comparison.conditions import condition
from assay.judge.evidence import response_limits
from assay.record import ExperimentRecord
from assay.record.metrics import clients
from assay.report.build import build
from assay.report.summaries import first_look
from assay.report.values import Report

S = 10**9
MS = 10**6


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
    assert row[-3:] == ["300.0 [1]", "100", "10"]
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


def test_a_test_without_declarations_shows_neither(tmp_path: Path) -> None:
    report = build(_experiment(tmp_path, headline=None, response_limits=[]))
    assert not _rows(report, "_headline") and not _rows(report, "_limits")
    assert report.tidy["tables"]["runs"][0]["headline_per_min"] is None
    assert not list(response_limits.judged(observations.observation()))
