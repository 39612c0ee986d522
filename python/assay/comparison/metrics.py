"""Takes runs; gives their metrics by name: the columns of tidy output that two sides are compared
by, with their unit and which direction is better.

A metric of what clients did is of all transactions, or with a transaction type in brackets of those
of one type: ``latency_p99_ns[insert]``. Both are read by the same function, from the `Work` of all
or of the type.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from assay.errors import ArgumentError
from assay.judge import samples
from assay.judge.samples import BY_NAME, RELATIVE_RESOLUTION
from assay.observation import BackupReport, Latency, Observation, Outcomes, SpaceReuseReport
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


class Work(NamedTuple):
    """What clients did in a measurement: in all transactions, or in those of one type."""

    elapsed_ns: int
    outcomes: Outcomes | None
    """None: not kept, by an early Assay."""
    latency: Latency | None
    """None: none ended ok."""


Read = Callable[[Work], float | None]


@dataclass(frozen=True)
class Metric:
    name: str
    """That of the column of tidy output; with ``[TYPE]`` that of a transaction type."""
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
    of_work: Read | None = None
    """By which it is read of one transaction type as well; None: it is of a whole run."""
    transaction: str = ""
    """The type of its transactions; empty: it is of all."""

    def of_type(self, transaction: str) -> Metric:
        """The same of one transaction type. Raises `ArgumentError` where it is of a whole run."""
        if self.of_work is None:
            raise ArgumentError(
                f"{self.name} is of a whole run, not of a transaction type",
                hint="of a type: " + ", ".join(one for one in METRICS if METRICS[one].of_work),
            )
        return replace(
            self,
            name=f"{self.name}[{transaction}]",
            value=_driven(_of_type(self.of_work, transaction)),
            transaction=transaction,
        )

    @property
    def label(self) -> str:
        """In a sentence: ``throughput``, ``p99 latency of insert``, ``elapsed time``, ``size on
        disk``."""
        of = f" of {self.transaction}" if self.transaction else ""
        if self.name.startswith("latency_"):
            return f"{self.meaning}{of}"
        noun = self.name.partition("[")[0].removesuffix(f"_{self.unit}").replace("_", " ")
        return (f"{noun} time" if self.unit == "ns" else noun) + of

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


def _of_all(read: Read) -> Callable[[Observation], float | None]:
    return lambda found: read(Work(found.elapsed_ns, found.outcomes, found.all_ok.latency))


def _of_type(read: Read, transaction: str) -> Callable[[Observation], float | None]:
    """None where the run has no such type."""

    def value(found: Observation) -> float | None:
        outcomes = next(
            (one for one in found.outcomes_by_transaction if one.name == transaction), None
        )
        latency = found.latency_of(transaction)
        if outcomes is None and latency is None:
            return None
        return read(Work(found.elapsed_ns, outcomes, latency))

    return value


def _throughput(work: Work) -> float | None:
    ok = work.outcomes.ok if work.outcomes else work.latency.count if work.latency else 0
    return ok / (work.elapsed_ns / 1e9) if work.elapsed_ns else None


def _latency(name: str) -> Read:
    """None where there are too few transactions for the percentile; infinite where it is not
    reached."""
    return lambda work: samples.time_ns(work.latency, name) if work.latency else None


def _outcome(name: str) -> Read:
    return lambda work: float(getattr(work.outcomes, name)) if work.outcomes else None


def _of_clients(name: str, unit: str, meaning: str, read: Read, **more: Any) -> Metric:
    """Of what clients did."""
    return Metric(name, unit, meaning, _driven(_of_all(read)), of_work=read, **more)


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


THROUGHPUT = _of_clients(
    "throughput_per_s",
    "per_s",
    "transactions that ended ok per second",
    _throughput,
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
    return _of_clients(
        f"latency_{name}_ns",
        "ns",
        f"{name.replace('_', '.')} latency",
        _latency(name),
        relative_resolution=RELATIVE_RESOLUTION,
    )


_PERCENTILES = {name: _percentile(name) for name in BY_NAME}
P99 = _PERCENTILES["p99"]
MEAN = _of_clients("latency_mean_ns", "ns", "mean latency", _latency("mean"))

METRICS: Mapping[str, Metric] = {
    one.name: one
    for one in (
        THROUGHPUT,
        ELAPSED,
        MEAN,
        *_PERCENTILES.values(),
        _of_clients("latency_max_ns", "ns", "greatest latency", _latency("max")),
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
            _of_clients(name, "count", meaning, _outcome(name), words=_COUNT)
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


_NAME = re.compile(r"(?P<metric>[^\[\]]*)(?:\[(?P<transaction>[^\[\]]+)\])?")


def metric(name: str) -> Metric:
    """``latency_p99_ns``, or ``latency_p99_ns[insert]`` of a transaction type. Raises
    `ArgumentError` where there is none of that name."""
    found = _NAME.fullmatch(name)
    base = METRICS.get(found["metric"]) if found else None
    if found is None or base is None:
        nearest = did_you_mean(found["metric"] if found else name, METRICS)
        raise ArgumentError(f"there is no metric {name!r} to compare", hint=nearest)
    return base.of_type(found["transaction"]) if found["transaction"] else base


def of_types(runs: Iterable[RunRecord]) -> list[Metric]:
    """Of each transaction type, where the runs have several."""
    types = dict.fromkeys(one.name for run in runs if run.driven for one in run.driven.transactions)
    by_type = [one for one in METRICS.values() if one.of_work]
    return [one.of_type(name) for name in types for one in by_type] if len(types) > 1 else []


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
