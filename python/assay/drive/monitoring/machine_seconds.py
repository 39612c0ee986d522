"""Takes the device under the data, the samples of a run and its progress; says what the machine did
in each second of the measurement.

The numbers are differences of the kernel's counters, read once a second, with the first progress
that is of the next one: some tenth of a second late. Where progress comes more seldom, they are the
mean of the seconds between.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from assay.contracts.engine.drive import DriveProgress
from assay.contracts.observation import MachineSecond, Observation
from assay.drive.monitoring.sampler import TimedSample
from assay.provision.machine.machine_sampling import sample_machine
from assay.storages.device_counters import DeviceCounts, Devices

_SECOND_NS = 1_000_000_000


class _Counts(NamedTuple):
    at_s: float
    client_ns: int
    machine_ns: int | None
    device: DeviceCounts | None


class MachineSeconds:
    def __init__(
        self,
        devices: Devices | None,
        samples: Sequence[TimedSample],
        unmeasured_s: float,
        *,
        drives_here: bool,
    ) -> None:
        """``samples``: they grow. ``unmeasured_s``: before the measurement begins. ``drives_here``:
        this process is the client."""
        self._devices, self._samples, self._drives_here = devices, samples, drives_here
        self._unmeasured_s = unmeasured_s
        self._elapsed_s = 0.0
        self._before: _Counts | None = None
        """At the beginning of the second that passes; None: none does yet."""
        self._found: list[MachineSecond] = []

    def at(self, report: DriveProgress) -> tuple[MachineSecond, ...]:
        """Those of the seconds that the progress reports."""
        if report.elapsed_s < self._elapsed_s:  # clients have connected, and begin only now
            self._before, self._found = None, []
        self._elapsed_s = report.elapsed_s
        if report.draining is None:
            self._read_until(report.elapsed_s - self._unmeasured_s)
        numbers = dict.fromkeys(one.second for one in report.seconds)
        return tuple(self._found[number] for number in numbers if number < len(self._found))

    def of(self, observation: Observation) -> tuple[MachineSecond, ...]:
        """Of all its whole seconds; to be asked when clients have ended."""
        whole = (observation.elapsed_ns - observation.drained_ns) // _SECOND_NS
        self._read_until(whole)
        return tuple(self._found[:whole])

    def _read_until(self, measured_s: float) -> None:
        if measured_s < 0:
            return
        if self._before is None:
            self._before = self._counted()
        elif measured_s >= len(self._found) + 1:
            before, self._before = self._before, self._counted()
            for second in range(len(self._found), int(measured_s)):
                self._found.append(self._between(before, self._before, second))

    def _counted(self) -> _Counts:
        machine = sample_machine()
        return _Counts(
            time.monotonic(),
            time.process_time_ns(),
            None if machine is None else machine.user_ns + machine.system_ns + machine.steal_ns,
            None if self._devices is None else self._devices.counts(),
        )

    def _between(self, before: _Counts, now: _Counts, second: int) -> MachineSecond:
        took_s = now.at_s - before.at_s

        def cpus(later_ns: int | None, sooner_ns: int | None) -> float | None:
            return _rate(later_ns, sooner_ns, took_s * 1e9)

        client = cpus(now.client_ns, before.client_ns) if self._drives_here else None
        machine, others = cpus(now.machine_ns, before.machine_ns), self._others()
        known = MachineSecond(second, client, machine, others)
        one, other = now.device, before.device
        if one is None or other is None or self._devices is None:
            return known
        return MachineSecond(
            second,
            client,
            machine,
            others,
            self._devices.label,
            _rate(one.reads, other.reads, took_s),
            _rate(one.writes, other.writes, took_s),
            _rate(one.flushes, other.flushes, took_s),
            _rate(one.read_bytes, other.read_bytes, took_s),
            _rate(one.written_bytes, other.written_bytes, took_s),
        )

    def _others(self) -> float | None:
        *_, before, last = [None, None, *self._samples[-2:]]
        if before is None or last is None:
            return None
        took_ns = (last.at_s - before.at_s) * 1e9
        return _rate(last.other_programs_ns, before.other_programs_ns, took_ns)


def _rate(later: int | None, sooner: int | None, took: float) -> float | None:
    if later is None or sooner is None or later < sooner or took <= 0:
        return None
    return round((later - sooner) / took, 3)
