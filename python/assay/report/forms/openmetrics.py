"""Writes a `Report` as OpenMetrics text: the numbers of each run, with its factors as labels, in
base units (seconds, bytes), for Prometheus and what reads its format.

Metrics have no timestamps, so that a gateway and a collector of text files take them; when a run
ended is a metric of its own. A number that is not known is left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TextIO

from assay.contracts.metric import ReportColumn
from assay.contracts.observation.transactions import OUTCOMES
from assay.judge.run import WORDS
from assay.judge.statistics.samples import BY_NAME
from assay.record.metrics.catalogue import METRICS
from assay.record.metrics.clients import LATENCIES, MEAN, THROUGHPUT, UNANSWERED
from assay.report.program_tables import SHOWN_IF_VARIED
from assay.report.values import Report, TidyRow, number_in
from assay.text.terminal import visible

_NOT_IN_LABELS = re.compile(r"[^A-Za-z0-9_]")

Sample = tuple[str, Mapping[str, str], float | int]
"""What stands behind the name of its metric, further labels, value."""

_LABELS = ("experiment", "run", "workload", "test", "system", "storage", "clients", "repetition")


class _Metric(NamedTuple):
    name: str
    kind: str
    """gauge, counter, summary, stateset."""
    unit: str
    help: str


_NS = 1e9
_BASE_UNITS = {"ns": ("seconds", _NS), "bytes": ("bytes", 1.0), "ratio": ("ratio", 1.0)}
"""Unit → what OpenMetrics has in its place, and how many of the one make one of the other."""


class _Gauge(NamedTuple):
    column: str
    """Of the tidy table of runs."""
    metric: _Metric
    divided_by: float = 1


def _gauge(metric: ReportColumn) -> _Gauge:
    unit, divided_by = _BASE_UNITS.get(metric.unit, ("", 1.0))
    if metric.unit == "ratio" and "_per_" in metric.name:
        unit = ""  # a mean number, of what its name says
    ends = {"per_s": "_per_second", "per_min": "_per_minute", "count": ""}
    end = ends.get(metric.unit, f"_{unit}" if unit else "")
    made = _Metric(f"assay_{metric.stem}{end}", "gauge", unit, metric.exported)
    return _Gauge(metric.name, made, divided_by)


_ENDED = _Gauge(
    "ended_unix_ns",
    _Metric("assay_run_ended_time_seconds", "gauge", "seconds", "Unix time of the run's end."),
    _NS,
)
_GAUGES = (_ENDED, *(_gauge(metric) for metric in METRICS.values() if metric.exported))
_OF_EXPERIMENT = {
    "runs_planned": _Metric("assay_runs_planned", "gauge", "", "Runs of the experiment."),
    "runs_ended": _Metric(
        "assay_runs_ended", "gauge", "", "Runs that have ended; fewer: it is unfinished."
    ),
}
_TRANSACTIONS = _Metric(
    "assay_transactions", "counter", "", "Transactions of the measurement by outcome."
)
_LATENCY = _Metric(
    "assay_latency_seconds", "summary", "seconds",
    "Latency of transactions; a quantile of too few samples is left out. Of an open loop's, those "
    "that had no answer are above all others.",
)  # fmt: skip
_RUN = _Metric(
    "assay_run", "info", "", "What it was measured on: the system's version, and the cell."
)
_TYPE_THROUGHPUT = _Metric(
    "assay_transaction_throughput_per_second", "gauge", "",
    "Transactions of one type that ended ok.",
)  # fmt: skip
_TYPE_LATENCY = _Metric(
    "assay_transaction_latency_seconds", "summary", "seconds",
    "Latency of the transactions of one type, as assay_latency_seconds.",
)  # fmt: skip
_VERDICT = _Metric("assay_verdict", "stateset", "", "Verdict on the run.")


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:  # noqa: ARG001
    """Writes all metrics, and the line that ends them."""
    rows = report.tidy["tables"]["runs"]
    further = [name for name in SHOWN_IF_VARIED if len({row[name] for row in rows}) > 1]
    further += dict.fromkeys(name for row in rows for name in row if name.startswith("parameter_"))
    names = (*_LABELS, *further)
    labelled = [({_label(name): row.get(name) for name in names}, row) for row in rows]
    experiment = report.tidy["experiment"]
    own: TidyRow = {"experiment": experiment["id"], "workload": experiment["workload"]}
    counts: TidyRow = {
        "runs_planned": experiment["runs_planned"],
        "runs_ended": experiment["runs_ended"],
    }
    for column, metric in _OF_EXPERIMENT.items():
        _write(stream, metric, [(own, counts)], lambda row, name=column: [("", {}, row[name])])
    for gauge in _GAUGES:
        _write(stream, gauge.metric, labelled, lambda row, own=gauge: _of_gauge(row, own))
    _write(stream, _RUN, labelled, _of_identity)
    _write(stream, _TRANSACTIONS, labelled, _of_outcomes)
    _write(stream, _LATENCY, labelled, _of_latency)
    of_runs = {row["run"]: labels for labels, row in labelled}
    of_types = [
        ({**of_runs[row["run"]], "group": row["group"], "transaction": row["transaction"]}, row)
        for row in report.tidy["tables"]["transactions"]
        if row["outcome"] == "ok"
    ]
    _write(stream, _TYPE_THROUGHPUT, of_types, lambda row: [("", {}, row[THROUGHPUT.name])])
    _write(stream, _TYPE_LATENCY, of_types, lambda row: _of_latency({**row, "ok": row["count"]}))
    _write(stream, _VERDICT, labelled, _of_verdict)
    stream.write("# EOF\n")


def _write(
    stream: TextIO, metric: _Metric, rows: Iterable[tuple[TidyRow, TidyRow]], samples: Any
) -> None:
    found = [(labels, sample) for labels, row in rows for sample in samples(row)]
    if not found:
        return
    stream.write(f"# TYPE {metric.name} {metric.kind}\n")
    if metric.unit:
        stream.write(f"# UNIT {metric.name} {metric.unit}\n")
    stream.write(f"# HELP {metric.name} {metric.help}\n")
    for labels, (suffix, more, value) in found:
        shown = {**{name: _word(value) for name, value in labels.items()}, **more}
        inside = ",".join(f'{name}="{_escaped(text)}"' for name, text in shown.items() if text)
        shown_value = "+Inf" if value == math.inf else repr(value)
        stream.write(f"{metric.name}{suffix}{{{inside}}} {shown_value}\n")


def _of_gauge(row: TidyRow, gauge: _Gauge) -> Iterator[Sample]:
    value = number_in(row, gauge.column)
    if value is not None:
        yield "", {}, value / gauge.divided_by if gauge.divided_by != 1 else value


def _of_identity(row: TidyRow) -> Iterator[Sample]:
    """The fingerprint of a cell is equal in all experiments."""
    names = ("system_version", "cell")
    yield "_info", {name: _word(row[name]) for name in names}, 1


def _of_outcomes(row: TidyRow) -> Iterator[Sample]:
    for outcome in OUTCOMES:
        if (count := number_in(row, outcome)) is not None:
            yield "_total", {"outcome": outcome}, count


def _of_latency(row: TidyRow) -> Iterator[Sample]:
    unanswered = number_in(row, UNANSWERED.name) or 0
    ok = number_in(row, "ok") or 0
    due = ok + unanswered
    for name, share in BY_NAME.items():
        metric = LATENCIES[name]
        if (value_ns := number_in(row, metric.name)) is not None:
            yield "", {"quantile": f"{share:g}"}, value_ns / _NS
        elif unanswered and due >= metric.least_samples:
            yield "", {"quantile": f"{share:g}"}, math.inf
    if due:
        yield "_count", {}, due
    if ok and (mean_ns := number_in(row, MEAN.name)) is not None:
        yield "_sum", {}, mean_ns * ok / _NS


def _of_verdict(row: TidyRow) -> Iterator[Sample]:
    for word in WORDS if row["verdict"] else ():
        yield "", {_VERDICT.name: word}, int(word == row["verdict"])


def _label(name: str) -> str:
    """Parameters may have characters that the name of a label may not."""
    return _NOT_IN_LABELS.sub("_", name)


def _word(value: object) -> str:
    return "" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)


def _escaped(text: str) -> str:
    """As a label value has it."""
    return visible(text, keep="\n").replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
