"""SQL has each metric of the catalogue: none is listed a second time, and none is left out."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from assay.record.file import opening, schema
from assay.record.metrics.catalogue import METRICS


def test_each_metric_is_a_column_of_the_views() -> None:
    with closing(opening.private()) as record:
        schema.prepare(record, Path(":memory:"), schema.migrations())
        of_runs, of_types = (
            {name for (name,) in record.execute("SELECT name FROM pragma_table_info(?)", (view,))}
            for view in ("metrics", "transaction_metrics")
        )
    assert of_runs == {"run_id", *METRICS}
    of_work = {metric.name for metric in METRICS.values() if metric.of_work is not None}
    assert of_types == {"run_id", "transaction_name", *of_work}
