"""The metrics of transactions that others have queued (`\\defer`): how many, how long they waited,
and which ended beyond their limit or were not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.contracts.metric import COUNT, SPEED, WAIT, DifferenceWords, Metric, Over, Value
from assay.contracts.observation import GroupReport, Latency
from assay.judge.run import Run
from assay.judge.statistics import samples

_NULL = "nothing is deferred"


def of_run(run: Run) -> GroupReport | None:
    """The clients that ran them; None: the test defers nothing."""
    groups = run.driven.groups if run.driven else ()
    return next((group for group in groups if group.is_deferred), None)


def _of(read: Callable[[GroupReport], Value]) -> Callable[[Run], Value]:
    def value(run: Run) -> Value:
        group = of_run(run)
        return None if group is None else read(group)

    return value


def _count(
    name: str, meaning: str, read: Callable[[GroupReport], Value], words: Any = None
) -> Metric:
    return Metric(name=name, unit="count", meaning=meaning, value=_of(read), null=_NULL,
        words=words)  # fmt: skip


def _times(
    prefix: str, what: str, of: Callable[[GroupReport], Latency | None], words: DifferenceWords
) -> tuple[Metric, ...]:
    def time(name: str, over: Over) -> Metric:
        def read(group: GroupReport) -> Value:
            found = of(group)
            return None if found is None else samples.time_ns(found, name)

        meaning = f"greatest {what}" if name == "max" else f"{name} {what}"
        return Metric(
            name=f"{prefix}_{name}_ns",
            unit="ns",
            meaning=meaning,
            value=_of(read),
            null=f"{_NULL}, or too few samples",
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
    _count("deferred", "transactions that others queued", lambda group: group.outcomes.scheduled),
    _count(
        "deferred_late", "of them, ended beyond their limit, counted from when they were queued",
        lambda group: group.outcomes.late, COUNT,
    ),
    _count(
        "deferred_skipped", "of them, not run before the drain was over",
        lambda group: group.outcomes.skipped, COUNT,
    ),
    _count(
        "deferred_longest_queue", "the most that waited at once",
        lambda group: group.longest_queue, COUNT,
    ),
    *_times(
        "deferred_wait", "wait in the queue of those that ended ok",
        lambda group: group.all_ok.schedule_lag, WAIT,
    ),
    *_times(
        "deferred_service", "time from their start to their end, where they ended ok",
        lambda group: group.all_ok.service_time, SPEED,
    ),
)  # fmt: skip
