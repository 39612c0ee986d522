"""What a measurement cost the machines of clients and server."""

from __future__ import annotations

import msgspec

from assay.contracts.observation.parts.shape import Shape

TICK_NS = 10_000_000
"""In which the kernel reports the CPU time of processes (``USER_HZ`` is 100)."""


class ClientCost(Shape, frozen=True):
    """What the clients' process cost its machine, as the kernel counts it."""

    user_ns: int
    system_ns: int
    per_transaction_ns: float
    resident_peak_bytes: int
    resident_bytes: int
    resident_grown_bytes: int
    voluntary_switches: int
    involuntary_switches: int
    waited_for_processor_ns: int
    machine_busy_ns: int | None

    @property
    def cpu_ns(self) -> int:
        """In the process and in the kernel for it."""
        return self.user_ns + self.system_ns


class LogReport(Shape, frozen=True):
    """The log of single transactions, and what writing it cost the client."""

    sample: float
    rows: int
    bytes: int
    cpu_ns: int


class ServerCost(Shape, frozen=True):
    """What the server's processes cost its machine in the measurement."""

    cpu_ns: int
    read_bytes: int | None
    resident_peak_bytes: int
    per_transaction_ns: float
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    """What else the kernel counted of them, by name; what is not known is not in it."""

    @property
    def known_cpu_ns(self) -> int | None:
        """None where it is less than a tick, in which the kernel counts: that much may be none, or
        nearly one."""
        return self.cpu_ns if self.cpu_ns >= TICK_NS else None


class DeviceCost(Shape, frozen=True):
    """What the whole device under the data did in the measurement. None: not counted."""

    device: str
    read_bytes: int
    written_bytes: int
    reads: int | None = None
    writes: int | None = None
    flushes: int | None = None
    busy_ns: int | None = None
    queue_ns: int | None = None
    empty_writes: int | None = None
    """Those of ``writes`` that ask for a flush and carry no data. None: not counted."""

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

    user_ns: int
    system_ns: int
    idle_ns: int
    iowait_ns: int
    steal_ns: int
    load_1min_peak: float
    cached_peak_bytes: int
    dirty_peak_bytes: int
    other_programs_ns: int | None = None
    """CPU time of programs other than client and server, with what serves its storage."""
    load_5min_peak: float | None = None
    load_15min_peak: float | None = None
    used_peak_bytes: int | None = None
    """Memory that programs could not have."""
    free_least_bytes: int | None = None
    """Memory that held nothing, at its smallest."""
    buffers_peak_bytes: int | None = None
    shared_peak_bytes: int | None = None
    """Shared by processes, and files in memory."""
    swap_used_peak_bytes: int | None = None
    context_switches: int | None = None
    interrupts: int | None = None

    @property
    def capacity_ns(self) -> int:
        """The time of all processors together."""
        return self.user_ns + self.system_ns + self.idle_ns + self.iowait_ns + self.steal_ns
