"""Takes the process of an experiment and the data of its run; says what both do at this moment: CPU
time of the client, the machine's, and what the device under the data reads, writes and flushes.

The record has these when the step has ended. Until then the server of the page samples
them, from the kernel: the experiment does nothing for it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.contracts.storage_facts import RAW
from assay.provision.machine.family import SYSTEM_TICKS, USER_TICKS
from assay.provision.machine.identity import stat_fields
from assay.provision.machine.machine_sampling import sample_machine
from assay.record.progress.under_way import DataPlace
from assay.storages.device_counters import DeviceCounts, Devices, device_at, devices_under

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_LEAST_S = 0.5


class Doing(msgspec.Struct, frozen=True, omit_defaults=True):
    """Per second, since the look before. What is not known is left out."""

    client_cpu: float | None = None
    """CPU seconds per second of the process that is the client: 1 is one processor."""
    busy: float | None = None
    """The share of the machine's processors that do not idle."""
    device: str = ""
    reads: float | None = None
    writes: float | None = None
    flushes: float | None = None
    read_bytes: float | None = None
    written_bytes: float | None = None


@dataclass(frozen=True)
class _Sample:
    at_s: float
    client_ticks: int | None
    busy_ns: int | None
    """Of all processors, as the next."""
    all_ns: int | None
    device: DeviceCounts | None


class WatchedMachine:
    """Of one run."""

    def __init__(self, pid: int, places: Sequence[DataPlace]) -> None:
        self._pid = pid
        self._devices = _devices(places)
        self._before: _Sample | None = None
        self._doing: Doing | None = None

    def look(self) -> Doing | None:
        """None at the first look, and where nothing is known."""
        before, now = self._before, self._sample()
        if before is not None and now.at_s - before.at_s < _LEAST_S:
            return self._doing
        self._before = now
        if before is not None:
            self._doing = self._between(before, now)
        return self._doing

    def _sample(self) -> _Sample:
        fields = stat_fields(self._pid)
        machine = sample_machine()
        ticks = None if fields is None else int(fields[USER_TICKS]) + int(fields[SYSTEM_TICKS])
        busy_ns = all_ns = None
        if machine is not None:
            busy_ns = machine.user_ns + machine.system_ns + machine.steal_ns
            all_ns = busy_ns + machine.idle_ns + machine.iowait_ns
        return _Sample(
            time.monotonic(),
            ticks,
            busy_ns,
            all_ns,
            None if self._devices is None else self._devices.counts(),
        )

    def _between(self, before: _Sample, now: _Sample) -> Doing:
        took_s = now.at_s - before.at_s

        def rate(later: int | None, sooner: int | None) -> float | None:
            if later is None or sooner is None or later < sooner:
                return None
            return round((later - sooner) / took_s, 2)

        cpu = rate(now.client_ticks, before.client_ticks)
        client_cpu = None if cpu is None else round(cpu / _TICKS_PER_S, 3)
        busy_ns, all_ns = rate(now.busy_ns, before.busy_ns), rate(now.all_ns, before.all_ns)
        busy = round(busy_ns / all_ns, 3) if busy_ns is not None and all_ns else None
        one, other = now.device, before.device
        if one is None or other is None or self._devices is None:
            return Doing(client_cpu, busy)
        return Doing(
            client_cpu,
            busy,
            self._devices.label,
            rate(one.reads, other.reads),
            rate(one.writes, other.writes),
            rate(one.flushes, other.flushes),
            rate(one.read_bytes, other.read_bytes),
            rate(one.written_bytes, other.written_bytes),
        )


def _devices(places: Sequence[DataPlace]) -> Devices | None:
    """None where those of a node are not known, or it has none."""
    found: list[Path] = []
    for place in places:
        is_device = place.is_own_device or place.file_system == RAW
        try:
            one = (
                device_at(Path(place.device)) if is_device else devices_under(Path(place.directory))
            )
        except OSError:
            return None
        if one is None:
            return None
        found += one.nodes
    return Devices(tuple(dict.fromkeys(found))) if found else None
