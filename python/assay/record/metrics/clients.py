r"""The metrics of what clients did: how much, how it ended, and how long it took; in all, in each
second, of what others had queued (`\defer`), and at replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from msgspec.structs import replace

from assay.contracts.metric import (
    COUNT,
    SPEED,
    WAIT,
    DifferenceWords,
    Over,
    Read,
    ReportColumn,
    Value,
    unit_of,
)
from assay.contracts.observation import (
    GroupReport,
    Interval,
    Latency,
    Observation,
    Outcomes,
    StalenessReport,
)
from assay.judge.run import EXCEEDED, Run
from assay.judge.statistics import samples
from assay.judge.statistics.samples import BY_NAME, RELATIVE_RESOLUTION


class Work(NamedTuple):
    elapsed_ns: int
    outcomes: Outcomes | None
    """None: not kept, by an early Assay."""
    latency: Latency | None
    """None: none ended ok."""


def work_of_all(whole: Observation | GroupReport) -> Work:
    """In all transactions; of a run those of its clients, without what these had queued."""
    own = whole.of_clients if isinstance(whole, Observation) else whole
    return Work(whole.elapsed_ns, own.outcomes, own.all_ok.latency)


def work_of_type(whole: Observation, transaction: str) -> Work | None:
    """None where there is no such type."""
    named = (each for each in whole.outcomes_by_transaction if each.name == transaction)
    outcomes, latency = next(named, None), whole.latency_of(transaction)
    if outcomes is None and latency is None:
        return None
    return Work(whole.elapsed_ns, outcomes, latency)


def read_driven(read: Callable[[Observation], Value]) -> Callable[[Run], Value]:
    """Of a run, where it drove clients."""
    return lambda run: None if run.driven is None else read(run.driven)


def read_all(read: Read) -> Callable[[Run], Value]:
    """Reads from all transactions of a run what ``read`` takes from a `Work`."""
    return read_driven(lambda whole: read(work_of_all(whole)))


def read_type(read: Read, transaction: str) -> Callable[[Run], Value]:
    """The same of one transaction type."""

    def value(whole: Observation) -> Value:
        work = work_of_type(whole, transaction)
        return None if work is None else read(work)

    return read_driven(value)


def read_kept(field: str, *names: str) -> Callable[[Run], Any]:
    """A field of what the clients did, or what stands within it; None where it was not kept."""

    def value(run: Run) -> Any:
        if run.driven is None:
            return None
        part = getattr(run.driven, field)
        for name in names:
            part = None if part is None else getattr(part, name)
        return part

    return value


def kept(
    field: str, prefix: str, fields: Mapping[str, str | tuple[str, str]]
) -> Iterator[ReportColumn]:
    """Of a part of what the clients did (empty: of the whole): name → meaning, and when it is
    null."""
    for name, said in fields.items():
        meaning, null = (said, "") if isinstance(said, str) else said
        yield ReportColumn(
            name=f"{prefix}{name}",
            unit=unit_of(f"{prefix}{name}"),
            meaning=meaning,
            null=null,
            value=read_kept(field, name) if field else read_kept(name),
            kind="number" if name.startswith("load_") else "integer",
        )


def _of_clients(name: str, unit: str, meaning: str, read: Read, **more: Any) -> ReportColumn:
    """Of all transactions, or of those of a group or a type."""
    return ReportColumn(
        name=name, unit=unit, meaning=meaning, value=read_all(read), of_work=read, **more
    )


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


def _outcome(name: str, meaning: str, words: DifferenceWords | None = None) -> ReportColumn:
    def read(work: Work) -> int | None:
        counted: int | None = getattr(work.outcomes, name) if work.outcomes else None
        return counted

    return _of_clients(name, "count", meaning, read, words=words)


def latency_metrics(
    prefix: str, what: str, of: Callable[[Any], Latency | None]
) -> dict[str, ReportColumn]:
    """The extremes, the mean and the percentiles of times, by their names; ``of`` takes these from
    the source that is measured."""

    def time(name: str, meaning: str, over: Over, **more: Any) -> ReportColumn:
        def read(source: Any) -> float | None:
            found = of(source)
            return samples.time_ns(found, name) if found is not None else None

        return ReportColumn(
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
        time("mean", f"mean {what}", Over.MEDIAN, kind="number", words=SPEED),
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
    name: replace(metric, value=read_all(metric.value), of_work=metric.value)
    for name, metric in latency_metrics("latency", "latency", lambda work: work.latency).items()
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
    kind="number",
    words=SPEED,
    is_more_better=True,
    over=Over.SPREAD,
    exported="Transactions that ended ok.",
)
HEADLINE = ReportColumn(
    name="headline_per_min",
    unit="per_min",
    meaning="transactions per minute of the types by which the test is known, those that were "
    "rolled back as the workload asked included",
    value=read_driven(_headline_per_min),
    kind="number",
    null="the test declares none",
    words=SPEED,
    is_more_better=True,
    over=Over.SPREAD,
    exported="Transactions of the headline per minute.",
)
ELAPSED = ReportColumn(
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
    *kept("", "", {"drained_ns": "of it, waiting for the last"}),
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
    *kept(
        "", "",
        {
            "statements": "sent in the measurement",
            "reconnects": "of all clients",
            "partly_durable": "of the unknown, those that failed after a part was committed",
            "prepared_again": "statements that the server no longer accepted as prepared",
        },
    ),
    *LATENCIES.values(),
    UNANSWERED,
)  # fmt: skip


def _of_second(name: str, unit: str, meaning: str, field: str = "", **more: Any) -> ReportColumn:
    return ReportColumn(
        name=name, unit=unit, meaning=meaning, value=attrgetter(field or name), **more
    )


def _percentile_of_second(
    name: str, meaning: str, percentile: str, field: str, null: str, *counts: str
) -> ReportColumn:
    """``counts``: of those it is of."""
    needed = samples.needed_for(percentile)

    def value(second: Interval) -> int | None:
        enough = sum(getattr(second, count) for count in counts) >= needed
        return getattr(second, field) if enough else None

    return ReportColumn(
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


_NOTHING_DEFERRED = "nothing is deferred"


def deferred_report(run: Run) -> GroupReport | None:
    """The clients that ran them; None: the test defers nothing."""
    groups = run.driven.groups if run.driven else ()
    return next((group for group in groups if group.is_deferred), None)


def _of_deferred(read: Callable[[GroupReport], Value]) -> Callable[[Run], Value]:
    def value(run: Run) -> Value:
        group = deferred_report(run)
        return None if group is None else read(group)

    return value


def _deferred_count(
    name: str, meaning: str, read: Callable[[GroupReport], Value], words: Any = None
) -> ReportColumn:
    return ReportColumn(
        name=name, unit="count", meaning=meaning, value=_of_deferred(read), null=_NOTHING_DEFERRED,
        words=words,
    )  # fmt: skip


def _deferred_times(
    prefix: str, what: str, of: Callable[[GroupReport], Latency | None], words: DifferenceWords
) -> tuple[ReportColumn, ...]:
    def time(name: str, over: Over) -> ReportColumn:
        def read(group: GroupReport) -> Value:
            found = of(group)
            return None if found is None else samples.time_ns(found, name)

        meaning = f"greatest {what}" if name == "max" else f"{name} {what}"
        return ReportColumn(
            name=f"{prefix}_{name}_ns",
            unit="ns",
            meaning=meaning,
            value=_of_deferred(read),
            null=f"{_NOTHING_DEFERRED}, or too few samples",
            words=words,
            over=over,
            least_samples=samples.needed_for(name),
            relative_resolution=0.0 if name == "max" else samples.RELATIVE_RESOLUTION,
        )

    return (
        *(time(name, Over.MEDIAN) for name in ("p50", "p90", "p99")),
        time("max", Over.GREATEST),
    )


OF_DEFERRED = (
    _deferred_count(
        "deferred", "transactions that others queued", lambda group: group.outcomes.scheduled
    ),
    _deferred_count(
        "deferred_late", "of them, ended beyond their limit, counted from when they were queued",
        lambda group: group.outcomes.late, COUNT,
    ),
    _deferred_count(
        "deferred_skipped", "of them, not run before the drain was over",
        lambda group: group.outcomes.skipped, COUNT,
    ),
    _deferred_count(
        "deferred_longest_queue", "the most that waited at once",
        lambda group: group.longest_queue, COUNT,
    ),
    *_deferred_times(
        "deferred_wait", "wait in the queue of those that ended ok",
        lambda group: group.all_ok.schedule_lag, WAIT,
    ),
    *_deferred_times(
        "deferred_service", "time from their start to their end, where they ended ok",
        lambda group: group.all_ok.service_time, SPEED,
    ),
)  # fmt: skip


def staleness_percentile(report: StalenessReport, name: str) -> int | None:
    """None where there are too few numbers for it."""
    if report.numbers < samples.needed_for(name):
        return None
    found: int | None = getattr(report, f"{name}_ns")
    return found


def _of_stalest(name: str) -> Read:
    def read(whole: Observation) -> int | None:
        found = [staleness_percentile(one, name) for one in whole.staleness]
        return max((age_ns for age_ns in found if age_ns is not None), default=None)

    return read_driven(read)


OF_REPLICAS = tuple(
    ReportColumn(
        name=f"staleness_{name}_ns",
        unit="ns",
        meaning=f"{name} time until a number that was written to the primary was read at the "
        "stalest replica",
        value=_of_stalest(name),
        null="no client read at a replica, or it could not be measured",
        words=WAIT,
        over=Over.MEDIAN,
        least_samples=samples.needed_for(name),
    )
    for name in ("p50", "p99")
)
