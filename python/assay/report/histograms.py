"""Takes an experiment's record; returns the latency histograms of its runs, second by second, each
in the standard compressed encoding in which the engine kept it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from assay.contracts.observation import EncodedHistogram, Observation
from assay.record import ExperimentRecord
from assay.text import units

_SECOND_NS = 1_000_000_000


class TimedHistogram(NamedTuple):
    """Latencies of the transactions of one run and group that ended ok within a span of time."""

    run: int
    group: str
    """Empty: the only one."""
    cell: str
    """System, storage, clients and repetition, for people."""
    begun_unix_ns: int
    lasted_ns: int
    latency: EncodedHistogram


def timed_histograms(experiment: ExperimentRecord) -> Iterator[TimedHistogram]:
    """In the order of runs and seconds. A record of an Assay that kept no histogram of a second
    gives one of the whole run."""
    for run in experiment.runs:
        if run.driven is None:
            continue
        where = f"{run.system_on_machine}, {run.storage}" if run.storage else run.system_on_machine
        clients = units.counted(run.clients, "client")
        cell = f"{run.full_test_name}, {where}, {clients}, repetition {run.repetition}"
        for group, from_ns, lasted_ns, latency in _of(run.driven):
            begun_unix_ns = run.driven.started_unix_ns + from_ns
            yield TimedHistogram(run.id, group, cell, begun_unix_ns, lasted_ns, latency)


def _of(driven: Observation) -> Iterator[tuple[str, int, int, EncodedHistogram]]:
    """Group, beginning, length and latencies."""
    if any(one.latency is not None for one in driven.intervals):
        for one in driven.intervals:
            from_ns = one.second * _SECOND_NS
            lasted_ns = min(_SECOND_NS, driven.elapsed_ns - from_ns)
            if one.latency is not None and lasted_ns > 0:
                yield one.group, from_ns, lasted_ns, one.latency
        return
    for group in driven.groups:
        yield group.name, 0, driven.elapsed_ns, group.all_ok.latency
