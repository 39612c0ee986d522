"""The list of metrics, and what is made from it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
from assay.comparison import conditions
from assay.record import Store
from assay.record.metrics import catalogue
from assay.record.metrics.catalogue import COMPARED, METRICS
from assay.report.build import build
from assay.report.tidy.tables import TABLES

UNITS = {"ns", "bytes", "per_s", "per_min", "ratio", "count"}


def test_a_metric_is_a_column_of_runs_and_can_be_a_condition() -> None:
    columns = {column.name: column for column in TABLES["runs"].columns}
    assert METRICS.keys() <= columns.keys()
    assert all(metric.unit in UNITS for metric in METRICS.values())
    for name, metric in COMPARED.items():
        assert metric.meaning in columns[name].meaning
        assert conditions.condition(f"{name} > 1.1x").metric is metric


def test_a_name_ends_in_its_unit_where_it_has_one() -> None:
    for metric in METRICS.values():
        if metric.unit in ("ns", "per_s", "per_min"):
            assert metric.name.endswith(f"_{metric.unit}"), metric.name


@pytest.mark.parametrize(
    ("written_bytes", "commits", "each"), [(8192, 4, 2048.0), (8192, 0, None), (None, 4, None)]
)
def test_bytes_per_commit_need_both(
    written_bytes: int | None, commits: int | None, each: float | None
) -> None:
    device = None if written_bytes is None else SimpleNamespace(written_bytes=written_bytes)
    run = SimpleNamespace(driven=SimpleNamespace(device_cost=device, commits=commits))
    assert METRICS["device_written_per_commit_bytes"].value(run) == each


@pytest.mark.parametrize(
    ("changes", "amplification"),
    [
        ({}, 4.0), ({"counters": {}}, None), ({"counters": {"rows_changed": 0}}, None),
        ({"data_bytes": None}, None), ({"rows": {}}, None), ({"device": None}, None),
    ],
)  # fmt: skip
def test_write_amplification_needs_the_device_the_rows_and_their_size(
    changes: dict[str, Any], amplification: float | None
) -> None:
    # 100 rows in 5,000 bytes; 20 rows changed, of 50 bytes each; 4,000 bytes written.
    facts = {
        "counters": {"rows_changed": 20},
        "data_bytes": 5000,
        "rows": {"a": 90, "b": 10},
        "device": SimpleNamespace(written_bytes=4000),
        **changes,
    }
    run = SimpleNamespace(
        driven=SimpleNamespace(device_cost=facts["device"], server_counters=facts["counters"]),
        data=SimpleNamespace(rows=facts["rows"], data_bytes=facts["data_bytes"]),
    )
    assert METRICS["write_amplification"].value(run) == amplification


def test_sql_has_the_values_of_reports(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL], repetitions=2)
    path = tmp_path / "r.sqlite"
    with Store(path) as store:
        invented.begin(store, planned)
        for run in planned.runs:
            probe = {} if run.position else {"here": invented.probe("here", 100.0)}
            invented.write_run(store, run, invented.S, probes=probe, observation={"commits": 16})
        store.end_experiment()
        tables = build(store.latest()).tidy["tables"]
    with closing(sqlite3.connect(path)) as record:
        record.row_factory = sqlite3.Row
        of_runs = [dict(row) for row in record.execute("SELECT * FROM metrics")]
        of_types = [dict(row) for row in record.execute("SELECT * FROM transaction_metrics")]
    for shown, kept in zip(tables["runs"], of_runs, strict=True):
        assert {name: shown[name] for name in METRICS} == {name: kept[name] for name in METRICS}
        assert kept["commit_efficiency"] and kept["throughput_per_s"] and kept["load_ns"]
    shown_types = [row for row in tables["transactions"] if row["outcome"] == "ok"]
    for shown, kept in zip(shown_types, of_types, strict=True):
        assert kept["transaction_name"] == shown["transaction"]
        assert kept["throughput_per_s"] == shown["throughput_per_s"]


def test_a_metric_that_fails_costs_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_run: object) -> float:
        raise ZeroDivisionError

    broken = replace(METRICS["commits"], name="broken", value=fails)
    monkeypatch.setattr(catalogue, "METRICS", {**METRICS, "broken": broken})
    invented.experiment(tmp_path / "r.sqlite", invented.plan([invented.SQLITE]), 1.0)
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as record:
        found = record.execute("SELECT state, broken, elapsed_ns FROM runs JOIN metrics").fetchall()
    assert found == [("done", None, invented.S)]
