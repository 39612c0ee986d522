"""The list of metrics, and what is made from it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from assay.comparison import conditions
from assay.record.metrics.catalogue import COMPARED, METRICS
from assay.report.tidy.tables import TABLES

UNITS = {"ns", "bytes", "per_s", "ratio", "count"}


def test_a_metric_is_a_column_of_runs_and_can_be_a_condition() -> None:
    columns = {column.name: column for column in TABLES["runs"][1]}
    assert METRICS.keys() <= columns.keys()
    assert all(metric.unit in UNITS for metric in METRICS.values())
    for name, metric in COMPARED.items():
        assert metric.meaning in columns[name].meaning
        assert conditions.condition(f"{name} > 1.1x").metric is metric


def test_a_name_ends_in_its_unit_where_it_has_one() -> None:
    for metric in METRICS.values():
        if metric.unit in ("ns", "per_s"):
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
