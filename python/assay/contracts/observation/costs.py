"""What a measurement cost the machines of clients and server, in each second and in all, and the
caches that it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Generic, TypeVar

import msgspec

from assay.contracts.documents import Shape
from assay.contracts.observation.field_merge import (
    WHOLE,
    FieldMerge,
    greatest_or_none,
    least_or_none,
    merged,
    same,
    sum_or_none,
)
from assay.contracts.observation.transactions import BegunOutcomes, EncodedHistogram

TICK_NS = 10_000_000
"""In which the kernel reports the CPU time of processes (``USER_HZ`` is 100)."""
OTHERS_LIMIT = 0.05
"""Share of the machine's CPUs beyond which other programs leave nothing decided."""
LEAST_OTHERS_NS = 30_000_000
"""Less CPU time of other programs may come from the kernel's counting in ticks of 1-10 ms alone."""


class ClientCost(Shape, frozen=True):
    """What the clients' process cost its machine, as the kernel counts it."""

    user_ns: Annotated[int, merged(sum)]
    system_ns: Annotated[int, merged(sum)]
    per_transaction_ns: Annotated[float, merged(WHOLE)]
    resident_peak_bytes: Annotated[int, merged(sum, later=max)]
    resident_bytes: Annotated[int, merged(sum, later=max)]
    resident_grown_bytes: Annotated[int, merged(sum, later=max)]
    voluntary_switches: Annotated[int, merged(sum)]
    involuntary_switches: Annotated[int, merged(sum)]
    waited_for_processor_ns: Annotated[int, merged(sum)]
    machine_busy_ns: Annotated[int | None, merged(WHOLE)]

    @property
    def cpu_ns(self) -> int:
        """In the process and in the kernel for it."""
        return self.user_ns + self.system_ns


class LogReport(Shape, frozen=True):
    """The log of single transactions, and what writing it cost the client."""

    sample: Annotated[float, merged(same)]
    rows: Annotated[int, merged(sum)]
    bytes: Annotated[int, merged(sum)]
    cpu_ns: Annotated[int, merged(sum)]


def sums_of_all(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """By name, of what every part has."""
    return {
        name: sum(part[name] for part in parts)
        for name in parts[0]
        if all(name in part for part in parts)
    }


class ServerCost(Shape, frozen=True):
    """What the server's processes cost its machine in the measurement."""

    cpu_ns: Annotated[int, merged(sum)]
    read_bytes: Annotated[int | None, merged(sum_or_none)]
    resident_peak_bytes: Annotated[int, merged(max)]
    per_transaction_ns: Annotated[float, merged(WHOLE)]
    counts: Annotated[dict[str, int], merged(sums_of_all)] = msgspec.field(default_factory=dict)
    """What else the kernel counted of them, by name; what is not known is not in it."""

    @property
    def known_cpu_ns(self) -> int | None:
        """None where it is less than a tick, in which the kernel counts: that much may be none, or
        nearly one."""
        return self.cpu_ns if self.cpu_ns >= TICK_NS else None


Number = TypeVar("Number")


class DeviceRequests(Shape, Generic[Number], frozen=True):
    """What block devices were asked for. None: not counted."""

    read_bytes: Number
    written_bytes: Number
    reads: Number | None = None
    """Requests that were completed; the kernel merges adjacent ones."""
    writes: Number | None = None
    flushes: Number | None = None
    """None: the device has no volatile cache, so the kernel sends it no flushes; or the kernel is
    older than 5.5 and does not count them."""


class DeviceCounts(DeviceRequests[int], frozen=True):
    """As the kernel counts: since the machine was started, or the device made."""

    fields_merge: ClassVar[FieldMerge] = merged(sum_or_none)
    busy_ns: int | None = None
    """Time with at least one request under way; of several devices the mean."""
    queue_ns: int | None = None
    """Time of all requests under way, summed: divided by the time that passed, the mean length of
    the queue."""
    empty_writes: int | None = None
    """Those of ``writes`` that ask for a flush and carry no data; counted by
    `assay.storages.device_counters.flush_requests`."""


class DeviceCost(DeviceCounts, frozen=True, kw_only=True):
    """What the whole device under the data did in the measurement."""

    device: Annotated[str, merged(same)]

    @property
    def data_writes(self) -> int | None:
        """Writes that carry data; None where they are not known apart from requests for a flush.
        A device without a volatile cache is sent none of these."""
        if self.writes is None or self.flushes is None:
            return self.writes
        return None if self.empty_writes is None else max(0, self.writes - self.empty_writes)


class DataInMemory(Shape, frozen=True):
    """The files of the data directory."""

    file_bytes: int
    cached_bytes: int
    """Of them, in the page cache."""


class MachineCost(Shape, frozen=True):
    """Processor states of the whole machine in the measurement, summed over its processors; its
    load and its memory at their largest. None: not counted."""

    user_ns: Annotated[int, merged(sum_or_none)]
    system_ns: Annotated[int, merged(sum_or_none)]
    idle_ns: Annotated[int, merged(sum_or_none)]
    iowait_ns: Annotated[int, merged(sum_or_none)]
    steal_ns: Annotated[int, merged(sum_or_none)]
    load_1min_peak: Annotated[float, merged(greatest_or_none)]
    cached_peak_bytes: Annotated[int, merged(greatest_or_none)]
    dirty_peak_bytes: Annotated[int, merged(greatest_or_none)]
    other_programs_ns: Annotated[int | None, merged(sum_or_none)] = None
    """CPU time of programs other than client and server, with what serves its storage."""
    load_5min_peak: Annotated[float | None, merged(greatest_or_none)] = None
    load_15min_peak: Annotated[float | None, merged(greatest_or_none)] = None
    used_peak_bytes: Annotated[int | None, merged(greatest_or_none)] = None
    """Memory that programs could not have."""
    free_least_bytes: Annotated[int | None, merged(least_or_none)] = None
    """Memory that held nothing, at its smallest."""
    buffers_peak_bytes: Annotated[int | None, merged(greatest_or_none)] = None
    shared_peak_bytes: Annotated[int | None, merged(greatest_or_none)] = None
    """Shared by processes, and files in memory."""
    swap_used_peak_bytes: Annotated[int | None, merged(greatest_or_none)] = None
    context_switches: Annotated[int | None, merged(sum_or_none)] = None
    interrupts: Annotated[int | None, merged(sum_or_none)] = None

    @property
    def capacity_ns(self) -> int:
        """The time of all processors together."""
        return self.user_ns + self.system_ns + self.idle_ns + self.iowait_ns + self.steal_ns


class MachineSecond(DeviceRequests[float | None], frozen=True, kw_only=True):
    """Per second. What is not known is left out."""

    second: int
    client_cpus: float | None = None
    """CPU seconds per second of the processes that drive the clients: 1 is one processor. None:
    other machines drive them."""
    machine_cpus: float | None = None
    """Of all programs and the kernel."""
    other_cpus: float | None = None
    """Of programs that are neither the client's nor the server's. While clients work, this and the
    server's are those that were sampled last; at the end, between the samples around the second."""
    device: str = ""
    """The name of the whole device under the data, of which the requests are."""
    read_bytes: float | None = None
    written_bytes: float | None = None
    client_busy: float | None = None
    """Share of the time of each thread that drives clients, also of those of other machines. None
    also where the system works in them."""
    server_cpus: float | None = None
    """Of the server's processes."""


class Interval(BegunOutcomes, frozen=True, kw_only=True):
    """By the instant at which transactions ended. An observation of version 1 has percentiles and
    no distributions here."""

    second: Annotated[int, merged(same)]
    group: Annotated[str, merged(same)]
    skipped: Annotated[int, merged(sum)]
    clients_connected: Annotated[int, merged(WHOLE)]
    latency: Annotated[EncodedHistogram | None, merged(WHOLE)]
    schedule_lag: Annotated[EncodedHistogram | None, merged(WHOLE)]
    p50_ns: Annotated[int, merged(WHOLE)]
    p99_ns: Annotated[int, merged(WHOLE)]
    max_ns: Annotated[int, merged(WHOLE)]
    schedule_lag_p99_ns: Annotated[int | None, merged(WHOLE)]
    stalled_ns: Annotated[int, merged(WHOLE)]
    suspended_ns: Annotated[int, merged(WHOLE)]


class CacheState(Shape, frozen=True):
    """Of the operating system's page cache and the system's own buffer, before the measurement."""

    cache: str
    """What was asked for: ``cold``, ``cold-machine`` or ``warm``."""
    done: tuple[str, ...]
    """What was done: ``restarted``, ``its files dropped``, ``its files read`` …"""
    file_bytes: int | None = None
    """Of the files in the data directories; None: they cannot be seen."""
    cached_bytes: int | None = None
    """Of them, in the page cache after that."""
