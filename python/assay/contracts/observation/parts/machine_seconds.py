"""What the machine of the clients did in one second of the measurement."""

from __future__ import annotations

from assay.contracts.observation.parts.shape import Shape


class MachineSecond(Shape, frozen=True):
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
    """The name of the whole device under the data, of which the next are."""
    reads: float | None = None
    writes: float | None = None
    flushes: float | None = None
    read_bytes: float | None = None
    written_bytes: float | None = None
    client_busy: float | None = None
    """Share of the time of each thread that drives clients, also of those of other machines. None
    also where the system works in them."""
    server_cpus: float | None = None
    """Of the server's processes."""
