"""All metrics by name, in the order of tables, and as the record file has them: the values of a
run that are kept, and the views in which each metric is a column."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from assay import registry
from assay.contracts.metric import GREATNESS, DifferenceWords, Read, ReportColumn, Value
from assay.contracts.observation import DerivedValue, StepReport
from assay.errors import ArgumentError
from assay.judge.run import Run
from assay.judge.statistics.samples import BY_NAME, SHARES, UNREACHED, needed_for
from assay.record.metrics import clients
from assay.record.metrics.clients import (
    ELAPSED,
    MEAN,
    OF_CLIENTS,
    OF_DEFERRED,
    OF_REPLICAS,
    P99,
    THROUGHPUT,
)
from assay.record.metrics.resources import OF_COSTS, OF_DATA
from assay.text import pattern
from assay.text.phrases import did_you_mean


def _of_reports() -> Iterator[ReportColumn]:
    """Those that the reports of steps bring, other packages' too: of a run the last of its steps'
    reports of that type."""
    for report in registry.step_reports().values():
        for metric in report.metrics:
            yield replace(metric, value=_of_last(metric, report))


def _of_last(metric: ReportColumn, report: type[StepReport]) -> Callable[[Run], Value]:
    def value(run: Run) -> Value:
        last = next((one for one in reversed(run.reports) if isinstance(one, report)), None)
        return None if last is None else metric.value(last)

    return value


def _by_name(metrics: Iterable[ReportColumn]) -> Mapping[str, ReportColumn]:
    """The first of each name: that of another package's report replaces none."""
    found: dict[str, ReportColumn] = {}
    for metric in metrics:
        found.setdefault(metric.name, metric)
    return found


METRICS = _by_name((*OF_CLIENTS, *OF_DEFERRED, *OF_REPLICAS, *OF_COSTS, *OF_DATA, *_of_reports()))
COMPARED: Mapping[str, ReportColumn] = {
    metric.name: metric
    for metric in sorted(METRICS.values(), key=lambda metric: metric.unit == "count")
    if metric.is_compared
}
"""Those by which sides are compared; counts, of which most are 0, are the last."""
OF_TYPES = tuple(metric for metric in COMPARED.values() if metric.of_work)
"""Those of them that transaction types have as well."""


_NAME = pattern(r"(?P<metric>[^\[\]]*)(?:\[(?P<transaction>[^\[\]]+)\])?")
_PERCENTILE = pattern(r"(latency_)?p\d")
_KNOWN_AS = {
    **dict.fromkeys(("tps", "qps", "speed", "throughput"), "throughput_per_s"),
    **{word: f"latency_{name}_ns" for name in BY_NAME for word in (name, f"latency_{name}")},
}
"""What people write for a metric, and its name."""


def metric(name: str) -> ReportColumn:
    """``latency_p99_ns``, or ``latency_p99_ns[insert]`` of a transaction type. Raises
    `ArgumentError` where there is none of that name by which sides are compared."""
    match = _NAME.fullmatch(name)
    base = COMPARED.get(match["metric"]) if match else None
    if match is None or base is None:
        nearest = did_you_mean(match["metric"] if match else name, COMPARED, _KNOWN_AS)
        if _PERCENTILE.match(name) and name not in _KNOWN_AS:
            nearest = f"the percentiles that are kept: {', '.join(SHARES)}"
        raise ArgumentError(f"there is no metric {name!r} to compare", hint=nearest)
    return of_type(base, match["transaction"]) if match["transaction"] else base


def lower_percentiles(upper: ReportColumn) -> list[ReportColumn]:
    """Those that there are of the same times, the next one first; of no percentile, none."""
    base, bracket, transaction = upper.name.partition("[")
    names = list(BY_NAME)
    for place, name in enumerate(names):
        times = base.removesuffix(f"_{name}_ns")
        if times != base:
            lower = (f"{times}_{one}_ns" for one in reversed(names[:place]))
            return [metric(f"{one}{bracket}{transaction}") for one in lower if one in COMPARED]
    return []


def too_few_for(percentile: ReportColumn, run: Run) -> tuple[int, int] | None:
    """How many transactions a run has and how many it needs; None: they are not too few."""
    base, _, transaction = percentile.name.partition("[")
    times, _, name = base.removesuffix("_ns").rpartition("_p")
    if not times or run.driven is None:
        return None
    own = transaction.removesuffix("]")
    work = clients.work_of_type(run.driven, own) if own else clients.work_of_all(run.driven)
    count = work.latency.due if work and work.latency else 0
    needed = needed_for(f"p{name}")
    return (count, needed) if count < needed else None


def of_type(base: ReportColumn, transaction: str) -> ReportColumn:
    """The same of one transaction type. Raises `ArgumentError` where it is of a whole run."""
    if base.of_work is None:
        raise ArgumentError(
            f"{base.name} is of a whole run, not of a transaction type",
            hint="of a type: " + ", ".join(metric.name for metric in OF_TYPES),
        )
    return base.of_type(transaction, clients.read_type(base.of_work, transaction))


def of_types(runs: Iterable[Run]) -> list[ReportColumn]:
    """Of each transaction type, where the runs have several."""
    types = dict.fromkeys(
        report.name for run in runs if run.driven for report in run.driven.transactions
    )
    return [of_type(base, name) for name in types for base in OF_TYPES] if len(types) > 1 else []


def derived(runs: Iterable[Run]) -> list[ReportColumn]:
    """Those that workloads derive from what was measured, in the order of the runs."""
    declared = {one.name: one for run in runs if run.driven for one in run.driven.derived}
    return [_derived(one) for one in declared.values()]


def _derived(declared: DerivedValue) -> ReportColumn:
    def value(run: Run) -> Value:
        own = run.driven.derived if run.driven else ()
        return next((one.value for one in own if one.name == declared.name), None)

    return of_derived(declared.name, declared.title, value, declared.is_more_better)


def of_derived(
    name: str, title: str, value: Callable[[Any], Value], is_more_better: bool
) -> ReportColumn:
    """What a workload derives, read by ``value`` from a run."""
    return ReportColumn(
        name=name,
        unit="",
        meaning=title,
        value=value,
        kind="number",
        words=GREATNESS if is_more_better else DifferenceWords(*reversed(GREATNESS)),
        is_more_better=is_more_better,
    )


def primary(runs: Sequence[Run]) -> ReportColumn:
    """On which the verdict on a cell rests: throughput; in an open loop, which fixes the
    throughput, p99 latency (mean latency where there are too few samples for it); without
    transactions the elapsed time, or the first metric of a report that has no time."""
    if any(run.driving.is_open for run in runs):
        return P99 if all(P99.result(run) is not None for run in runs) else MEAN
    if all(run.driven is not None for run in runs):
        return THROUGHPUT
    timeless = (
        run.observation
        for run in runs
        if isinstance(run.observation, StepReport) and run.observation.elapsed_ns is None
    )
    named = next((report.metrics[0].name for report in timeless if report.metrics), ELAPSED.name)
    return METRICS[named]


OF_RUN = ""
"""In place of the name of a transaction type: all of the run."""


def kept_values(run: Run) -> Mapping[str, Mapping[str, Value]]:
    """Transaction type → name of a metric → value, of those that the run has."""
    found = {OF_RUN: _known(((one.name, one.value) for one in METRICS.values()), run)}
    for report in run.driven.transactions if run.driven else ():
        work = clients.work_of_type(run.driven, report.name) if run.driven else None
        found[report.name] = _known(_OF_WORK, work) if work else {}
    return found


_OF_WORK = tuple((one.name, one.of_work) for one in METRICS.values() if one.of_work is not None)


def _known(metrics: Iterable[tuple[str, Read]], source: Run | clients.Work) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, read in metrics:
        try:
            value = read(source)
        except Exception:
            # One of another package may fail at any run, which is to end in the record all the
            # same; a report calls it again, and says so.
            continue
        if value is not None and value != UNREACHED:
            found[name] = value
    return found


def metric_views() -> Sequence[str]:
    return _made_views(tuple(METRICS.values()))


@lru_cache(maxsize=2)
def _made_views(metrics: tuple[ReportColumn, ...]) -> Sequence[str]:
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


def _view(
    name: str, comment: str, labels: list[str], metrics: Iterable[ReportColumn], where: str
) -> str:
    columns = [(label, "") for label in labels]
    columns += [
        (_column(metric.name), " ".join(metric.described.replace("; null: ", "; NULL: ").split()))
        for metric in metrics
    ]
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
