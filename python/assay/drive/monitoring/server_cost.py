"""Takes samples and an observation; returns what the server, the device under its data and the
whole machine did during the measurement.

The samples hold sums since the start of each process or device. Sums are interpolated linearly at
the beginning and the end of the measurement, and of a second of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from itertools import pairwise
from typing import Any, NamedTuple

from assay.contracts.observation import DeviceCost, MachineCost, Observation, ServerCost
from assay.drive.monitoring.sampler import TimedSample
from assay.storages.device_counters import DeviceCounts

_MOST_SPAN = 2.0
"""How far apart the samples before and after a measurement may be, in its own length: others use
the device before and after it, too."""
_LEAST_COUNTED = 0.5
"""Share of the measurement in which it must be counted."""
_MOST_ENDED = 1 / 3
"""Share of the processes seen in it that may have ended in it."""
_SECOND_NS = 1_000_000_000
SumOf = Callable[[TimedSample], int | None]
"""What a sample says that has grown since the start of a process or device."""


def server_cost(
    samples: Sequence[TimedSample], began_unix_ns: int, observation: Observation
) -> ServerCost | None:
    """CPU time and bytes read in the measurement, and the peak of the sampled memory.

    ``began_unix_ns``: when sampling began. None where the samples do not cover the measurement.
    """
    cpu_ns = _grown(samples, lambda timed: timed.sample.cpu_ns, began_unix_ns, observation)
    if cpu_ns is None:
        return None
    ended = observation.ended
    return ServerCost(
        cpu_ns=cpu_ns,
        read_bytes=_grown(
            samples, lambda timed: timed.sample.read_bytes, began_unix_ns, observation
        ),
        resident_peak_bytes=max(timed.sample.resident_bytes for timed in samples),
        per_transaction_ns=cpu_ns / ended if ended else 0.0,
        counts=_counts(samples, began_unix_ns, observation),
    )


def _counts(
    samples: Sequence[TimedSample], began_unix_ns: int, observation: Observation
) -> dict[str, int]:
    """What else was counted in the measurement. The kernel forgets what a process did that has
    ended, so it is counted up to the last sample of the measurement in which all are seen that were
    seen before it, and taken to have gone on so. A name of which less than half of the measurement
    is counted, or many processes ended in it, is not in it."""
    if not observation.elapsed_ns:
        return {}
    from_s = (observation.started_unix_ns - began_unix_ns) / 1e9
    to_s = from_s + observation.elapsed_ns / 1e9
    found = {}
    for name in samples[0].sample.counts:
        sums = _sums_of_all(samples, name)
        whole = [one for one in sums if one.is_whole and one.at_s > from_s]
        until_s = min(whole[-1].at_s if whole else from_s, to_s)
        if until_s - from_s < _LEAST_COUNTED * (to_s - from_s):
            continue
        inside = [one.processes for one in sums if from_s <= one.at_s <= until_s]
        seen = set().union(*inside)
        if inside and len(seen - inside[-1]) > _MOST_ENDED * len(seen):
            continue
        totals = [(one.at_s, one.total) for one in sums]
        counted = _at(totals, until_s) - _at(totals, from_s)
        found[name] = round(counted * (to_s - from_s) / (until_s - from_s))
    return found


class _Counted(NamedTuple):
    at_s: float
    processes: Set[int]
    is_whole: bool
    """Whether all processes of the sample before are still seen."""
    total: int
    """Of all that were ever seen, as far as they were."""


def _sums_of_all(samples: Sequence[TimedSample], name: str) -> list[_Counted]:
    made: list[_Counted] = []
    last: dict[int, int] = {}
    before: Set[int] = frozenset()
    ended = 0
    for timed in samples:
        seen = timed.sample.counts.get(name, {})
        # One that counts less is another process of that number.
        ended += sum(last[pid] for pid in seen if pid in last and seen[pid] < last[pid])
        last |= seen
        is_whole = before <= seen.keys()
        made.append(_Counted(timed.at_s, seen.keys(), is_whole, ended + sum(last.values())))
        before = seen.keys()
    return made


def device_cost(
    samples: Sequence[TimedSample],
    began_unix_ns: int,
    observation: Observation,
    device: str,
    read: Callable[[TimedSample], DeviceCounts | None] = lambda timed: timed.device,
) -> DeviceCost | None:
    """What the whole device under the data did in the measurement; None where not known, as of one
    so short that the samples around it are mostly of the time before and after it.
    ``device``: its name; ``read``: the counts of the device, by default of that under the data."""

    def grown(name: str) -> int | None:
        return _grown(
            samples,
            lambda timed: getattr(read(timed), name, None),
            began_unix_ns,
            observation,
        )

    read_bytes, written_bytes = grown("read_bytes"), grown("written_bytes")
    is_sampled = _span(samples, began_unix_ns, observation) <= _MOST_SPAN
    if not is_sampled or read_bytes is None or written_bytes is None:
        return None
    return DeviceCost(
        device=device,
        read_bytes=read_bytes,
        written_bytes=written_bytes,
        reads=grown("reads"),
        writes=grown("writes"),
        empty_writes=grown("empty_writes"),
        flushes=grown("flushes"),
        busy_ns=grown("busy_ns"),
        queue_ns=grown("queue_ns"),
    )


def machine_cost(
    samples: Sequence[TimedSample], began_unix_ns: int, observation: Observation
) -> MachineCost | None:
    """Processor states of the whole machine in the measurement, and the largest of its sampled load
    and memory; None where not known."""

    def grown(name: str) -> int | None:
        return _grown(
            samples,
            lambda timed: None if timed.machine is None else getattr(timed.machine, name),
            began_unix_ns,
            observation,
        )

    states = {
        name: time_ns
        for name in ("user_ns", "system_ns", "idle_ns", "iowait_ns", "steal_ns")
        if (time_ns := grown(name)) is not None
    }
    machines = [timed.machine for timed in samples if timed.machine is not None]
    if len(states) < 5:
        return None

    def sampled(name: str) -> list[Any]:
        return [value for one in machines if (value := getattr(one, name)) is not None]

    def peak(name: str) -> Any:
        return max(sampled(name), default=None)

    return MachineCost(
        **states,
        load_1min_peak=peak("load_1min"),
        load_5min_peak=peak("load_5min"),
        load_15min_peak=peak("load_15min"),
        cached_peak_bytes=peak("cached_bytes"),
        dirty_peak_bytes=peak("dirty_bytes"),
        used_peak_bytes=peak("used_bytes"),
        free_least_bytes=min(sampled("free_bytes"), default=None),
        buffers_peak_bytes=peak("buffers_bytes"),
        shared_peak_bytes=peak("shared_bytes"),
        swap_used_peak_bytes=peak("swap_used_bytes"),
        context_switches=grown("context_switches"),
        interrupts=grown("interrupts"),
        other_programs_ns=_grown(
            samples, lambda timed: timed.other_programs_ns, began_unix_ns, observation
        ),
    )


def cpus_in_seconds(
    samples: Sequence[TimedSample],
    sum_of: SumOf,
    began_unix_ns: int,
    observation: Observation,
) -> list[float | None]:
    """CPU seconds per second in each whole second of the measurement; None where not known."""
    measured_ns = observation.elapsed_ns - observation.drained_ns
    sums = _sums(samples, sum_of)
    if sums is None:
        return [None] * (measured_ns // _SECOND_NS)
    from_s = (observation.started_unix_ns - began_unix_ns) / 1e9
    at_each = [_at(sums, from_s + second) for second in range(measured_ns // _SECOND_NS + 1)]
    return [round(max(0, now - before) / 1e9, 3) for before, now in pairwise(at_each)]


def _sums(samples: Sequence[TimedSample], sum_of: SumOf) -> list[tuple[float, int]] | None:
    """With their instants; None where they are not known of each sample, or there is but one."""
    sums = [(sample.at_s, total) for sample in samples if (total := sum_of(sample)) is not None]
    return sums if len(sums) == len(samples) > 1 else None


def _grown(
    samples: Sequence[TimedSample],
    sum_of: SumOf,
    began_unix_ns: int,
    observation: Observation,
) -> int | None:
    sums = _sums(samples, sum_of)
    if sums is None or not observation.elapsed_ns:
        return None
    from_s = (observation.started_unix_ns - began_unix_ns) / 1e9
    to_s = from_s + observation.elapsed_ns / 1e9
    return max(0, _at(sums, to_s) - _at(sums, from_s))


def _span(samples: Sequence[TimedSample], began_unix_ns: int, observation: Observation) -> float:
    """The time between the last sample before the measurement and the first one after it, in its
    own length."""
    from_s = (observation.started_unix_ns - began_unix_ns) / 1e9
    to_s = from_s + observation.elapsed_ns / 1e9
    before = max((one.at_s for one in samples if one.at_s <= from_s), default=from_s)
    after = min((one.at_s for one in samples if one.at_s >= to_s), default=to_s)
    return (after - before) / (to_s - from_s) if to_s > from_s else math.inf


def _at(sums: Sequence[tuple[float, int]], at_s: float) -> int:
    """The sum at that instant, interpolated between the samples before and after it."""
    first_s, first = sums[0]
    if at_s <= first_s:
        return first
    for (before_s, low), (behind_s, high) in pairwise(sums):
        if at_s <= behind_s:
            share = (at_s - before_s) / (behind_s - before_s)
            return round(low + share * (high - low))
    return sums[-1][1]
