"""Takes the device under the data, the samples of a run and its progress; says what the machine did
in each second of the measurement.

The numbers are differences of the kernel's counters, read once a second, with the first progress
that is of the next one: some tenth of a second late. Where progress comes more seldom, they are the
mean of the seconds between. Those of the clients are what the engine says of its own processes in
the same progress. The server and other programs are sampled more seldom, as that costs more: what
is said of them meanwhile is what was sampled last, and at the end what the samples before and after
each second say.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from assay.contracts.engine.drive import ClientsSoFar, DriveProgress, ThreadUse
from assay.contracts.observation import MachineSecond, Observation
from assay.drive.monitoring.sampler import TimedSample
from assay.drive.monitoring.server_cost import SumOf, cpus_in_seconds
from assay.provision.machine.machine_sampling import sample_machine
from assay.storages.device_counters import DeviceCounts, Devices

_SECOND_NS = 1_000_000_000
_LATE_S = 0.5
"""How long what several processes say of clients is waited for: the last of them says it later."""


class _Counts(NamedTuple):
    at_s: float
    machine_ns: int | None
    device: DeviceCounts | None


class MachineSeconds:
    def __init__(
        self,
        devices: Devices | None,
        samples: Sequence[TimedSample],
        unmeasured_s: float,
        *,
        clients_are_here: bool,
        is_embedded: bool = False,
    ) -> None:
        """``samples``: they grow. ``unmeasured_s``: before the measurement begins.
        ``clients_are_here``: no other machine drives clients. ``is_embedded``: the process that is
        sampled is the client."""
        self._devices, self._samples = devices, samples
        self._clients_are_here, self._is_embedded = clients_are_here, is_embedded
        self._clients: ClientsSoFar | None = None
        self._use: ThreadUse | None = None
        """Since it was said before."""
        self._is_said = False
        """In the second that passes."""
        self._unmeasured_s = unmeasured_s
        self._elapsed_s = 0.0
        self._before: _Counts | None = None
        """At the beginning of the second that passes; None: none does yet."""
        self._samples_before = 0
        """How many were taken before the measurement."""
        self._found: list[MachineSecond] = []

    def at(self, report: DriveProgress) -> tuple[MachineSecond, ...]:
        """Those of the seconds that the progress reports."""
        if report.elapsed_s < self._elapsed_s:  # clients have connected, and begin only now
            self._before, self._found = None, []
        self._elapsed_s = report.elapsed_s
        if report.so_far is not None:
            self._say_of_clients(report.so_far)
        if report.draining is None:
            self._read_until(report.elapsed_s - self._unmeasured_s)
        numbers = dict.fromkeys(one.second for one in report.seconds)
        return tuple(self._found[number] for number in numbers if number < len(self._found))

    def of(self, observation: Observation, began_unix_ns: int) -> tuple[MachineSecond, ...]:
        """Of all its whole seconds; to be asked when clients have ended, and all samples are taken.
        ``began_unix_ns``: when sampling began."""
        whole = (observation.elapsed_ns - observation.drained_ns) // _SECOND_NS
        if len(self._found) < whole:
            self._say_of_clients(
                ClientsSoFar(
                    observation.elapsed_ns,
                    observation.threads,
                    observation.client_cost,
                    observation.statements,
                )
            )
        self._read_until(whole)
        sampled = (
            cpus_in_seconds(self._samples, sum_of, began_unix_ns, observation)
            for sum_of in (_of_others, self._of_server)
        )
        return tuple(
            replace(second, other_cpus=others, server_cpus=server)
            for second, others, server in zip(self._found, *sampled, strict=False)
        )

    def _say_of_clients(self, now: ClientsSoFar) -> None:
        self._use, self._clients = now.use_since(self._clients), now
        self._is_said = True

    def _read_until(self, measured_s: float) -> None:
        if measured_s < 0:
            return
        if self._before is None:
            self._before, self._samples_before = self._counted(), len(self._samples)
        elif measured_s >= len(self._found) + (1.0 if self._is_said else 1.0 + _LATE_S):
            self._is_said = False
            before, self._before = self._before, self._counted()
            for second in range(len(self._found), int(measured_s)):
                self._found.append(self._between(before, self._before, second))

    def _counted(self) -> _Counts:
        machine = sample_machine()
        return _Counts(
            time.monotonic(),
            None if machine is None else machine.user_ns + machine.system_ns + machine.steal_ns,
            None if self._devices is None else self._devices.counts(),
        )

    def _between(self, before: _Counts, now: _Counts, second: int) -> MachineSecond:
        took_s = now.at_s - before.at_s

        def cpus(later_ns: int | None, sooner_ns: int | None) -> float | None:
            return _rate(later_ns, sooner_ns, took_s * 1e9)

        use = self._use
        known = MachineSecond(
            second,
            client_cpus=round(use.cpus, 3) if use and self._clients_are_here else None,
            machine_cpus=cpus(now.machine_ns, before.machine_ns),
            other_cpus=self._sampled(_of_others),
            client_busy=round(use.busy, 3) if use and not self._is_embedded else None,
            server_cpus=self._sampled(self._of_server),
        )
        one, other = now.device, before.device
        if one is None or other is None or self._devices is None:
            return known
        return replace(
            known,
            device=self._devices.label,
            reads=_rate(one.reads, other.reads, took_s),
            writes=_rate(one.writes, other.writes, took_s),
            flushes=_rate(one.flushes, other.flushes, took_s),
            read_bytes=_rate(one.read_bytes, other.read_bytes, took_s),
            written_bytes=_rate(one.written_bytes, other.written_bytes, took_s),
        )

    def _of_server(self, timed: TimedSample) -> int | None:
        return None if self._is_embedded else timed.sample.cpu_ns

    def _sampled(self, sum_of: SumOf) -> float | None:
        """Processors in use between the last two samples, once both are of the measurement."""
        *_, before, last = [None, None, *self._samples[self._samples_before :]]
        if before is None or last is None:
            return None
        return _rate(sum_of(last), sum_of(before), (last.at_s - before.at_s) * 1e9)


def _of_others(timed: TimedSample) -> int | None:
    return timed.other_programs_ns


def _rate(later: int | None, sooner: int | None, took: float) -> float | None:
    if later is None or sooner is None or later < sooner or took <= 0:
        return None
    return round((later - sooner) / took, 3)
