"""The list of metrics, and what is made from it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from assay.comparison import conditions
from assay.record.metrics.catalogue import COMPARED, METRICS
from assay.report.tidy.tables import TABLES

UNITS = {"ns", "bytes", "per_s", "per_min", "ratio", "count"}


def test_a_metric_is_a_column_of_runs_and_can_be_a_condition() -> None:
    columns = {column.name: column for column in TABLES["runs"][1]}
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
        ({}, 4.0),
        ({"counters": {}}, None),
        ({"counters": {"rows_changed": 0}}, None),
        ({"data_bytes": None}, None),
        ({"rows": {}}, None),
        ({"device": None}, None),
    ],
)
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
