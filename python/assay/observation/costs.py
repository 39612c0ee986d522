"""What a measurement cost the machines of clients and server."""

from __future__ import annotations

from assay.observation.shape import Shape


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


class ServerCost(Shape, frozen=True):
    """What the server's processes cost its machine in the measurement."""

    cpu_ns: int
    read_bytes: int | None
    resident_peak_bytes: int
    per_transaction_ns: int
    written_bytes: int | None = None
    """As the kernel charged its processes; in records of before step 4 alone."""


class DeviceCost(Shape, frozen=True):
    """What the whole device under the data read and wrote in the measurement."""

    device: str
    read_bytes: int
    written_bytes: int
