"""Takes a deployment; samples its server's processes, the device under its data, that under its log
where it is another one, and the machine during a run.

Sampling loads the machine that is measured, so it is limited: after a sample that took *t* of CPU
time, the next one comes at least 200 *t* later, which limits it to 0.5 % of one processor. A server
with 128 sessions takes some 10 ms, and so is sampled every two seconds. The first and the last
sample are taken while no client works, so that there are always two.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack
from types import TracebackType

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.deployment import Deployment
from assay.contracts.systems.abilities import Sampled
from assay.contracts.systems.protocol import ProcessSample, System
from assay.provision.machine import family
from assay.provision.machine.machine_sampling import MachineSample, sample_machine
from assay.storages.device_counters import DeviceCounts, Devices, devices_of, devices_of_log
from assay.storages.flush_requests import FlushRequests, flush_requests

_LEAST_INTERVAL_S = 1.0
_SHARE = 200
_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
            from assay.provision.machine.listeners import with_listeners

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
        return family.ticks_of_others([os.getpid(), *sample.pids]) * _TICK_NS

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
