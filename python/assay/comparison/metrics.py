"""Takes runs; gives their metrics by name: the columns of tidy output that two sides are compared
by, with their unit and which direction is better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from assay.errors import ArgumentError
from assay.judge import samples
from assay.judge.samples import BY_NAME, RELATIVE_RESOLUTION
from assay.observation import BackupReport, Observation, SpaceReuseReport
from assay.record import RunRecord
from assay.text.nearest import did_you_mean


class Words(NamedTuple):
    """What a metric's difference is called."""

    better: str
    worse: str


_SPEED = Words("faster", "slower")
_SIZE = Words("smaller", "larger")
_WAIT = Words("shorter", "longer")
_COUNT = Words("fewer", "more")


@dataclass(frozen=True)
class Metric:
    name: str
    """That of the column of tidy output."""
    unit: str
    """``ns``, ``bytes``, ``per_s`` or ``count``."""
    meaning: str
    value: Callable[[RunRecord], float | None]
    """None where the run has no such value."""
    words: Words = _SPEED
    is_more_better: bool = False
    measured_once: Callable[[RunRecord], Hashable] | None = None
    """What runs share that have one measurement of it together (a load whose data several runs
    use); None: each has its own."""
    relative_resolution: float = 0.0
    """Relative width of a bucket of the histogram: values closer than this are equal."""

    @property
    def label(self) -> str:
        """In a sentence: ``throughput``, ``p99 latency``, ``elapsed time``, ``size on disk``."""
        if self.name.startswith("latency_"):
            return self.meaning
        noun = self.name.removesuffix(f"_{self.unit}").replace("_", " ")
        return f"{noun} time" if self.unit == "ns" else noun

    @property
    def is_speed(self) -> bool:
        """Whether it says how fast the work was done, and not how long a part of it waited."""
        return self.words == _SPEED and not self.name.startswith("latency_")

    def least_deviation(self, value: float) -> float:
        """The standard deviation that the logarithm of a value has at least: of a count that of
        rare events (Poisson), else the resolution, since rounding is the same in all
        repetitions."""
        return 1 / math.sqrt(value) if self.unit == "count" else self.relative_resolution

    @property
    def depends_on_machine(self) -> bool:
        """Whether it changes with what else the machine does in the run: its times and rates."""
        return self.unit in ("ns", "per_s") and self.measured_once is None

    def word(self, ratio: float) -> str:
        """What B is, compared with A."""
        return self.words.better if (ratio > 1) == self.is_more_better else self.words.worse


def _driven(read: Callable[[Observation], float | None]) -> Callable[[RunRecord], float | None]:
    return lambda run: None if run.driven is None else read(run.driven)


def _latency(name: str) -> Callable[[RunRecord], float | None]:
    """None where there are too few transactions for the percentile; infinite where it is not
    reached."""
    return _driven(lambda found: samples.time_ns(found.all_ok.latency, name))


def _outcome(name: str) -> Callable[[RunRecord], float | None]:
    return _driven(lambda found: float(getattr(found.outcomes, name)))


def _elapsed_ns(run: RunRecord) -> float | None:
    """None where a duration was asked for: then it is what was asked."""
    if run.driven is not None and run.driving is not None and run.driving.duration_s is not None:
        return None
    elapsed_ns: int | None = getattr(run.observation, "elapsed_ns", None)
    return elapsed_ns or None


def _loaded(name: str) -> Callable[[RunRecord], float | None]:
    return lambda run: (getattr(run.data, name) or None) if run.data else None


def _one_load(run: RunRecord) -> Hashable:
    return run.data.one_load if run.data else None


def _space(name: str) -> Callable[[RunRecord], float | None]:
    def read(run: RunRecord) -> float | None:
        found = run.observation
        return getattr(found, name) if isinstance(found, SpaceReuseReport) else None

    return read


def _backup(read: Callable[[BackupReport], float]) -> Callable[[RunRecord], float | None]:
    return lambda run: read(run.observation) if isinstance(run.observation, BackupReport) else None


def _checks_wrong(run: RunRecord) -> float | None:
    """None where no answer was compared with a right one."""
    judged = [check["ok"] for check in run.checks if check["ok"] is not None]
    return float(judged.count(False)) if judged else None


def _cpu_ns(run: RunRecord) -> float | None:
    """Of the server for each transaction that ended."""
    if run.driven is None or run.driven.server_cost is None:
        return None
    ended = run.driven.outcomes.ended
    cpu_ns = run.driven.server_cost.known_cpu_ns
    return cpu_ns / ended if ended and cpu_ns is not None else None


def _memory_bytes(run: RunRecord) -> float | None:
    cost = run.driven.server_cost if run.driven else None
    return cost.resident_peak_bytes or None if cost else None


THROUGHPUT = Metric(
    "throughput_per_s",
    "per_s",
    "transactions that ended ok per second",
    _driven(lambda found: found.throughput_per_s),
    is_more_better=True,
)
ELAPSED = Metric("elapsed_ns", "ns", "of the measurement, where no duration was given", _elapsed_ns)
REINSERTED = Metric(
    "reinserted_bytes",
    "bytes",
    "after rows were deleted and inserted again",
    _space("reinserted_bytes"),
    _SIZE,
)


def _percentile(name: str) -> Metric:
    return Metric(
        f"latency_{name}_ns",
        "ns",
        f"{name.replace('_', '.')} latency",
        _latency(name),
        relative_resolution=RELATIVE_RESOLUTION,
    )


_PERCENTILES = {name: _percentile(name) for name in BY_NAME}
P99 = _PERCENTILES["p99"]
MEAN = Metric("latency_mean_ns", "ns", "mean latency", _latency("mean"))

METRICS: Mapping[str, Metric] = {
    one.name: one
    for one in (
        THROUGHPUT,
        ELAPSED,
        MEAN,
        *_PERCENTILES.values(),
        Metric("latency_max_ns", "ns", "greatest latency", _latency("max")),
        Metric(
            "server_cpu_per_transaction_ns", "ns", "CPU time of the server", _cpu_ns,
            Words("less", "more"),
        ),
        Metric(
            "server_memory_bytes", "bytes", "of the server, at most", _memory_bytes, _SIZE
        ),
        Metric("load_ns", "ns", "of loading rows", _loaded("load_ns"), measured_once=_one_load),
        Metric(
            "index_ns", "ns", "of making indexes", _loaded("index_ns"), measured_once=_one_load
        ),
        Metric(
            "size_on_disk_bytes", "bytes", "after the load", _loaded("size_on_disk_bytes"), _SIZE,
            measured_once=_one_load,
        ),
        REINSERTED,
        Metric("deleted_bytes", "bytes", "after they were deleted", _space("deleted_bytes"), _SIZE),
        Metric("last_bytes", "bytes", "after all cycles of this", _space("last_bytes"), _SIZE),
        Metric(
            "backup_size_bytes", "bytes", "of a backup", _backup(lambda one: one.size_bytes), _SIZE
        ),
        Metric(
            "backup_longest_read_wait_ns", "ns", "longest wait of a read meanwhile",
            _backup(lambda one: one.reads.longest_ns), _WAIT,
        ),
        Metric(
            "backup_longest_write_wait_ns", "ns", "longest wait of a write meanwhile",
            _backup(lambda one: one.writes.longest_ns), _WAIT,
        ),
        Metric("backup_restore_ns", "ns", "of restoring it", _backup(lambda one: one.restore_ns)),
        Metric("checks_wrong", "count", "answers that are not right", _checks_wrong, _COUNT),
        *(
            Metric(name, "count", meaning, _outcome(name), _COUNT)
            for name, meaning in (
                ("failed", "transactions that ended with an error"),
                ("unknown", "transactions that may have committed, or not"),
                ("late", "transactions beyond the latency limit"),
                ("skipped", "transactions that could not start in time"),
                ("retries", "further attempts"),
            )
        ),
    )
}  # fmt: skip


def metric(name: str) -> Metric:
    """Raises `ArgumentError` where there is none of that name."""
    if name not in METRICS:
        raise ArgumentError(
            f"there is no metric {name!r} to compare", hint=did_you_mean(name, METRICS)
        )
    return METRICS[name]


def primary(runs: list[RunRecord]) -> Metric:
    """On which the verdict on a cell rests: throughput; in an open loop, which fixes the
    throughput, p99 latency (mean latency where there are too few samples for it); without
    transactions the elapsed time, or the size on disk of rows that were inserted again."""
    if any(run.driving is not None and run.driving.is_open for run in runs):
        return P99 if all(P99.value(run) is not None for run in runs) else MEAN
    if all(run.driven is not None for run in runs):
        return THROUGHPUT
    has_size = any(REINSERTED.value(run) is not None for run in runs)
    return REINSERTED if has_size else ELAPSED
