"""The metrics of what clients did: how much, how it ended, and how long it took; in all and in each
second."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from assay.contracts.metric import COUNT, SPEED, DifferenceWords, Metric, Over, Read
from assay.contracts.observation import Interval, Latency, Observation
from assay.judge.run import EXCEEDED, Run
from assay.judge.statistics import samples
from assay.judge.statistics.samples import BY_NAME, RELATIVE_RESOLUTION
from assay.record.metrics.work import Work, driven, in_all, kept


def _of_clients(name: str, unit: str, meaning: str, read: Read, **more: Any) -> Metric:
    """Of all transactions, or of those of a group or a type."""
    return Metric(name=name, unit=unit, meaning=meaning, value=in_all(read), of_work=read, **more)


def _throughput(work: Work) -> float | None:
    ok = work.outcomes.ok if work.outcomes else work.latency.count if work.latency else 0
    return ok / (work.elapsed_ns / 1e9) if work.elapsed_ns else None


def _headline_per_min(whole: Observation) -> float | None:
    counted = whole.headline_count
    return None if counted is None or not whole.elapsed_ns else counted * 60e9 / whole.elapsed_ns


def _elapsed_ns(run: Run) -> int | None:
    """Of an update, too; of a run that was ended early it is only known that it is longer."""
    if run.observation is None or run.state == EXCEEDED:
        return None
    return run.observation.elapsed_ns


def _is_not_asked(run: Run, elapsed_ns: float) -> bool:
    """Where a duration was asked for, the elapsed time is what was asked."""
    is_asked = run.driving.duration_s is not None
    return bool(elapsed_ns) and not (run.driven is not None and is_asked)


def _outcome(name: str, meaning: str, words: DifferenceWords | None = None) -> Metric:
    def read(work: Work) -> int | None:
        counted: int | None = getattr(work.outcomes, name) if work.outcomes else None
        return counted

    return _of_clients(name, "count", meaning, read, words=words)


def times(prefix: str, what: str, of: Callable[[Any], Latency | None]) -> dict[str, Metric]:
    """The extremes, the mean and the percentiles of times, by their names; ``of`` takes these from
    the source that is measured."""

    def time(name: str, meaning: str, over: Over, **more: Any) -> Metric:
        def read(source: Any) -> float | None:
            found = of(source)
            return samples.time_ns(found, name) if found is not None else None

        return Metric(
            name=f"{prefix}_{name}_ns",
            unit="ns",
            meaning=meaning,
            value=read,
            over=over,
            least_samples=samples.needed_for(name),
            **more,
        )

    found = [
        time("min", f"least {what}", Over.LEAST),
        time("mean", f"mean {what}", Over.MEDIAN, is_whole=False, words=SPEED),
        *(
            time(
                name,
                f"{name.replace('_', '.')} {what}",
                Over.MEDIAN,
                null="too few samples, or not reached",
                words=SPEED,
                relative_resolution=RELATIVE_RESOLUTION,
            )
            for name in BY_NAME
        ),
        time("max", f"greatest {what}", Over.GREATEST, words=SPEED),
    ]
    return {metric.name.removeprefix(f"{prefix}_").removesuffix("_ns"): metric for metric in found}


LATENCIES = {
    name: replace(metric, value=in_all(metric.value), of_work=metric.value)
    for name, metric in times("latency", "latency", lambda work: work.latency).items()
}
P99, MEAN = LATENCIES["p99"], LATENCIES["mean"]
UNANSWERED = _of_clients(
    "latency_unanswered",
    "count",
    "of an open loop: transactions that were due and had no answer (skipped, unknown), which "
    "are above every percentile",
    lambda work: work.latency.unanswered if work.latency else None,
    over=Over.SUM,
)
THROUGHPUT = _of_clients(
    "throughput_per_s",
    "per_s",
    "transactions that ended ok per second",
    _throughput,
    is_whole=False,
    words=SPEED,
    is_more_better=True,
    over=Over.SPREAD,
    exported="Transactions that ended ok.",
)
HEADLINE = Metric(
    name="headline_per_min",
    unit="per_min",
    meaning="transactions per minute of the types by which the test is known, those that were "
    "rolled back as the workload asked included",
    value=driven(_headline_per_min),
    is_whole=False,
    null="the test declares none",
    words=SPEED,
    is_more_better=True,
    over=Over.SPREAD,
    exported="Transactions of the headline per minute.",
)
ELAPSED = Metric(
    name="elapsed_ns",
    unit="ns",
    meaning="measurement, to the last end",
    value=_elapsed_ns,
    is_result=_is_not_asked,
    words=SPEED,
    over=Over.SPREAD,
    exported="Measurement, to the last end.",
)
OF_CLIENTS = (
    THROUGHPUT,
    HEADLINE,
    ELAPSED,
    Metric(
        name="drained_ns", unit="ns", meaning="of it, waiting for the last",
        value=kept("drained_ns"),
    ),
    _outcome("scheduled", "transactions; ok + aborted + failed + unknown + skipped"),
    _outcome("ok", "of them, succeeded"),
    _outcome("aborted", "rolled back as the workload asked"),
    _outcome("completed", "ok + aborted"),
    _outcome("failed", "ended with an error", COUNT),
    _outcome("unknown", "may have committed, or not", COUNT),
    _outcome("skipped", "could not start in time", COUNT),
    _outcome("late", "ended beyond the latency limit", COUNT),
    _outcome(
        "retries", "further attempts after deadlocks and serialization failures", COUNT
    ),
    _outcome("attempts", "scheduled - skipped + retries"),
    Metric(
        name="statements", unit="count", meaning="sent in the measurement",
        value=kept("statements"),
    ),
    Metric(
        name="reconnects", unit="count", meaning="of all clients", value=kept("reconnects")
    ),
    Metric(
        name="partly_durable", unit="count",
        meaning="of the unknown, those that failed after a part was committed",
        value=kept("partly_durable"),
    ),
    Metric(
        name="prepared_again", unit="count",
        meaning="statements that the server no longer accepted as prepared",
        value=kept("prepared_again"),
    ),
    *LATENCIES.values(),
    UNANSWERED,
)  # fmt: skip


def _of_second(name: str, unit: str, meaning: str, field: str = "", **more: Any) -> Metric:
    return Metric(name=name, unit=unit, meaning=meaning, value=attrgetter(field or name), **more)


def _percentile_of_second(
    name: str, meaning: str, percentile: str, field: str, null: str, *counts: str
) -> Metric:
    """``counts``: of those it is of."""
    needed = samples.needed_for(percentile)

    def value(second: Interval) -> int | None:
        enough = sum(getattr(second, count) for count in counts) >= needed
        return getattr(second, field) if enough else None

    return Metric(
        name=name, unit="ns", meaning=meaning, value=value, null=null, least_samples=needed
    )


_OK = "of transactions that ended ok"
OF_SECONDS = (
    _of_second("ok", "count", "transactions that ended ok"),
    _of_second("aborted", "count", "rolled back as asked"),
    _of_second("failed", "count", "ended with an error"),
    _of_second("unknown", "count", "may have committed, or not"),
    _of_second("late", "count", "beyond the latency limit"),
    _of_second("skipped", "count", "could not start in time"),
    _of_second("retries", "count", "further attempts"),
    _of_second("clients_connected", "count", "at its end"),
    _percentile_of_second("latency_p50_ns", _OK, "p50", "p50_ns", "too few", "ok"),
    _percentile_of_second("latency_p99_ns", _OK, "p99", "p99_ns", "too few", "ok"),
    _of_second("latency_max_ns", "ns", _OK, "max_ns"),
    _percentile_of_second(
        "schedule_lag_p99_ns", "between intended and actual start", "p99", "schedule_lag_p99_ns",
        "closed loop, or too few", "ok", "aborted", "failed", "unknown",
    ),
    _of_second("stalled_ns", "ns", "of it, the system was stalled"),
    _of_second("suspended_ns", "ns", "of it, the client did not run"),
)  # fmt: skip
"""Of each second of a measurement; they are read from an `Interval`."""
