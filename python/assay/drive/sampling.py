"""Takes a deployment; samples its server's processes, its devices and the machine during a run,
and returns what they did during the measurement."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Sequence, Set
from contextlib import ExitStack
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec import Struct, convert
from msgspec.structs import replace

from assay.contracts.deployment import Deployment
from assay.contracts.observation import (
    DeviceCost,
    DeviceCounts,
    MachineCost,
    Observation,
    ServerCost,
)
from assay.contracts.systems.abilities import Sampled
from assay.contracts.systems.protocol import ProcessSample, System
from assay.provision.machine import process_table
from assay.provision.machine.sampling import TICK_NS, MachineSample, sample_machine
from assay.storages.device_counters import (
    Devices,
    FlushRequests,
    devices_of,
    devices_of_log,
    flush_requests,
)

_LEAST_INTERVAL_S = 1.0
_SHARE = 200


class TimedSample(Struct, frozen=True):
    at_s: float
    """Seconds since the sampler began."""
    sample: ProcessSample
    device: DeviceCounts | None = None
    """Of the whole device under the data directory; None: there is none, or it is not known."""
    machine: MachineSample | None = None
    other_programs_ns: int | None = None
    """CPU time of the programs of this machine that are neither the client's nor the server's, with
    what serves its storage; None: the processes of the server are not known."""
    log_device: DeviceCounts | None = None
    """Of the whole device under the log, where that is on a storage of its own."""


class Sampler:
    """Takes samples while the ``with`` block runs; `samples` holds them."""

    def __init__(self, deployment: Deployment, system: System) -> None:
        self._deployment = deployment
        self._system = system
        self.devices, self.log_devices = devices_of(deployment), devices_of_log(deployment)
        self._flush_requests: dict[Devices, FlushRequests] = {}
        self._opened = ExitStack()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="sampler", daemon=True)
        self._began_s = time.monotonic()
        self.began_unix_ns = time.time_ns()
        self.samples: list[TimedSample] = []
        self._ended: ProcessSample | None = None
        """The last one of processes of the server that are gone, where others took their place."""

    def __enter__(self) -> Sampler:
        for devices in (self.devices, self.log_devices):
            if devices is not None:
                counters = flush_requests(devices.nodes)
                self._flush_requests[devices] = self._opened.enter_context(counters)
        self._take()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        with self._opened:
            self._take()

    def _take(self) -> bool:
        """Takes a sample; returns whether the processes can be read, now or later."""
        at_s = time.monotonic() - self._began_s
        sample = self._sample_of_server()
        if sample is not None:
            device, log = self._counted(self.devices), self._counted(self.log_devices)
            others_ns = self._other_programs_ns(sample)
            self.samples.append(TimedSample(at_s, sample, device, sample_machine(), others_ns, log))
        return sample is not None or self._may_come_back

    @property
    def _may_come_back(self) -> bool:
        """Whether someone else may start the server again."""
        return bool(self.samples) and not self._deployment.is_private

    def _sample_of_server(self) -> ProcessSample | None:
        system = self._system
        if not isinstance(system, Sampled):
            return None
        sample = system.sample(self._deployment)
        if sample is None and self._may_come_back:
            from assay.provision.machine.ports import with_listeners

            self._deployment = with_listeners(self._deployment)
            sample = system.sample(self._deployment)
            self._ended = self.samples[-1].sample
        return sample if sample is None or self._ended is None else _with(sample, self._ended)

    def _counted(self, devices: Devices | None) -> DeviceCounts | None:
        counts = None if devices is None else devices.counts()
        if counts is None or devices is None:
            return None
        return replace(counts, empty_writes=self._flush_requests[devices].count())

    def _other_programs_ns(self, sample: ProcessSample) -> int | None:
        """All that this process started is the experiment's: clients, servers, modelled disks."""
        if not sample.pids and not self._deployment.is_private:
            return None
        return process_table.ticks_of_others([os.getpid(), *sample.pids]) * TICK_NS

    def _work(self) -> None:
        # The first after a quarter of the interval: a run of half a second has one in its middle.
        wait_s = _LEAST_INTERVAL_S / 4
        while not self._stop.wait(wait_s):
            began_s = time.thread_time()
            if not self._take():
                return
            wait_s = max(_LEAST_INTERVAL_S, _SHARE * (time.thread_time() - began_s))


def _with(sample: ProcessSample, ended: ProcessSample) -> ProcessSample:
    """Sums go on where those of processes that have ended were."""
    sums = (sample.read_bytes, ended.read_bytes)
    read_bytes = None if None in sums else sum(filter(None, sums))
    return replace(sample, cpu_ns=sample.cpu_ns + ended.cpu_ns, read_bytes=read_bytes)


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
            samples, lambda timed: getattr(read(timed), name, None), began_unix_ns, observation
        )

    counts = {name: grown(name) for name in DeviceCounts.__struct_fields__}
    is_sampled = _span(samples, began_unix_ns, observation) <= _MOST_SPAN
    if not is_sampled or counts["read_bytes"] is None or counts["written_bytes"] is None:
        return None
    return convert({**counts, "device": device}, DeviceCost)


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
    samples: Sequence[TimedSample], sum_of: SumOf, began_unix_ns: int, observation: Observation
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
    samples: Sequence[TimedSample], sum_of: SumOf, began_unix_ns: int, observation: Observation
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
