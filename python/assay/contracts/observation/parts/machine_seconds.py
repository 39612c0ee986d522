"""What the machine of the clients did in one second of the measurement."""

from __future__ import annotations

from assay.contracts.observation.parts.shape import Shape


class MachineSecond(Shape, frozen=True):
    """Per second. What is not known is left out."""

    second: int
    client_cpus: float | None = None
    """CPU seconds per second of the process that drives the clients: 1 is one processor. None:
    other processes drive them."""
    machine_cpus: float | None = None
    """Of all programs and the kernel."""
    other_cpus: float | None = None
    """Of programs that are neither the client's nor the server's, as last sampled."""
    device: str = ""
    """The name of the whole device under the data, of which the next are."""
    reads: float | None = None
    writes: float | None = None
    flushes: float | None = None
    read_bytes: float | None = None
    written_bytes: float | None = None
