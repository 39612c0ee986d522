"""The metrics of the catalogue as the record file has them: takes a run that has ended, returns the
values that are kept; and gives the views in which each metric is a column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

from assay.contracts.metric import Metric, Value
from assay.judge.run import Run
from assay.judge.statistics.samples import UNREACHED
from assay.record.metrics import work

OF_RUN = ""
"""In place of the name of a transaction type: all of the run."""


def _metrics() -> Iterable[Metric]:
    """The catalogue is made where it is first needed: it asks the packages that bring reports of
    steps, and these import the record."""
    from assay.record.metrics.catalogue import METRICS

    return METRICS.values()


def values(run: Run) -> Mapping[str, Mapping[str, Value]]:
    """Transaction type → name of a metric → value, of those that the run has."""
    found = {OF_RUN: _known(_metrics(), run)}
    for report in run.driven.transactions if run.driven else ():
        found[report.name] = _known(_of_type(report.name), run)
    return found


def _of_type(transaction: str) -> Iterator[Metric]:
    for metric in _metrics():
        if metric.of_work is not None:
            yield _one_of_type(metric, transaction)


@lru_cache(maxsize=1024)
def _one_of_type(metric: Metric, transaction: str) -> Metric:
    """Kept, as each run of an experiment has the same types."""
    assert metric.of_work is not None
    return metric.of_type(transaction, work.in_type(metric.of_work, transaction))


def _known(metrics: Iterable[Metric], run: Run) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for metric in metrics:
        value = None
        # One of another package may fail at any run, which is to end in the record all the same;
        # a report calls it again, and says so.
        with suppress(Exception):
            value = metric.value(run)
        if value is not None and value != UNREACHED:
            found[metric.name.partition("[")[0]] = value
    return found


def views() -> Sequence[str]:
    """The statements that create them."""
    return _views(tuple(_metrics()))


@lru_cache(maxsize=2)
def _views(metrics: tuple[Metric, ...]) -> Sequence[str]:
    of_work = (metric for metric in metrics if metric.of_work is not None)
    of_runs = _view(
        "metrics",
        "Each metric of the catalogue (docs/reference/metrics.md), of runs that have ended; NULL: "
        "there is none.",
        ["run_id"],
        metrics,
        f"transaction_name = '{OF_RUN}'",
    )
    of_types = _view(
        "transaction_metrics",
        "The same of each transaction type, as far as a type can have it.",
        ["run_id", "transaction_name"],
        of_work,
        f"transaction_name <> '{OF_RUN}'",
    )
    return of_runs, of_types


def _view(name: str, comment: str, labels: list[str], metrics: Iterable[Metric], where: str) -> str:
    columns = [(label, "") for label in labels]
    columns += [(_column(metric.name), _comment(metric)) for metric in metrics]
    lines = []
    for place, (column, said) in enumerate(columns):
        text = f"         {column}{',' if place < len(columns) - 1 else ''}"
        lines.append(f"{text}  -- {said}" if said else text)
    return "\n".join(
        [
            f"CREATE VIEW {name} AS",
            f"  -- {comment}",
            "  SELECT",
            *lines,
            "  FROM metric_values",
            f"  WHERE {where}",
        ]
    )


def _column(metric: str) -> str:
    quoted = '"{}"'.format(metric.replace('"', '""'))
    name = metric if metric.isidentifier() else quoted
    path = "$." + json.dumps(metric, ensure_ascii=False)
    return "json_extract(document, '{}') AS {}".format(path.replace("'", "''"), name)


def _comment(metric: Metric) -> str:
    said = f"{metric.meaning}; NULL: {metric.null}" if metric.null else metric.meaning
    return " ".join(said.split())
