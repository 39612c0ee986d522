"""Takes an experiment with a goal and one of its cells; returns the column of the first table that
has the time which the goal is about: its title, and the median of the repetitions."""

from __future__ import annotations

import statistics
from typing import NamedTuple

from assay.contracts.metric import Metric
from assay.judge.statistics import samples
from assay.record import ExperimentRecord
from assay.record.metrics.clients import ELAPSED, LATENCIES
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.sections import goals
from assay.report.summaries import latency_words
from assay.report.values import Number, ReportCell, absent
from assay.text import units

_THERE = (LATENCIES["p50"].name, LATENCIES["p99"].name)
"""Each table of cells has them."""


class GoalColumn(NamedTuple):
    title: str
    value: str


def of_cell(experiment: ExperimentRecord, cell: CellRuns) -> GoalColumn | None:
    """None where there is no goal, or the table has its metric anyway."""
    metric = asked(experiment)
    return None if metric is None else GoalColumn(title(metric), report_cell(metric, cell).shown)


def asked(experiment: ExperimentRecord) -> Metric | None:
    """The metric of the goal, if it needs a column of its own."""
    condition = goals.asked(experiment)
    if condition is None or condition.metric.unit != "ns" or condition.metric.name in _THERE:
        return None
    return condition.metric


def title(metric: Metric) -> str:
    """``p99.9``, ``p99 of payment``, ``elapsed``."""
    return "elapsed" if metric.name == ELAPSED.name else metric.label.replace(" latency", "")


def report_cell(metric: Metric, cell: CellRuns) -> ReportCell:
    values = [value for run in cell.measured if (value := metric.value(run)) is not None]
    if not values:
        return absent(_why_none(metric, cell))
    middle = statistics.median(values)
    if middle == samples.UNREACHED:
        return absent(samples.NOT_REACHED)
    return ReportCell(_shown(metric, cell, middle), Number(middle, "ns"))


def _shown(metric: Metric, cell: CellRuns, value_ns: float) -> str:
    """With the digits that the other percentiles have."""
    name = _percentile(metric)
    if name in samples.SHARES and not metric.transaction:
        return latency_words.percentile(_times(cell), name)
    return units.latency(value_ns)


def _why_none(metric: Metric, cell: CellRuns) -> str:
    if _percentile(metric) in samples.SHARES and cell.measured:
        return f"n<{samples.needed_for(_percentile(metric))}"
    return "-"


def _percentile(metric: Metric) -> str:
    """``p99.9``; empty: it is none of latencies."""
    is_latency = metric.stem.startswith("latency_")
    return metric.stem.removeprefix("latency_").replace("_", ".") if is_latency else ""


def _times(cell: CellRuns) -> latency_words.Times:
    return latency_words.times(cell_runs.measured_runs(cell))
