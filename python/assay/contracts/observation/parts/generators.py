"""The load generators of a fleet, what each did, and what its machine and clock were."""

from __future__ import annotations

from assay.contracts.observation.parts.shape import Shape


class GeneratorReport(Shape, frozen=True):
    machine: str
    """Its name in the fleet."""
    clients: int
    ok: int
    """Measured transactions; of one that was lost, those that it had reported."""
    failed: int
    unknown: int
    """Of one that was lost: the most that it may have done since its last report."""
    lag_p99_ns: int | None = None
    """How late transactions of an open loop were begun; None: a closed loop, or it was lost."""
    cpu_share: float | None = None
    """Busy share of its threads; None: not measured."""
    waited_share: float | None = None
    """Share of their time in which its threads waited for a processor."""
    load_1min: float | None = None
    """Of its machine, behind the measurement."""
    clock_ahead_ns: int | None = None
    """Its monotonic clock after that of the machine that coordinates."""
    clock_uncertainty_ns: int | None = None
    """The most by which that may be wrong."""
    clock_drift_ns_per_s: float | None = None
    """How much farther its clock went in each second, as far as that is certain; None: it was not
    read afterwards."""
    lost_after_s: float | None = None
    """Since clients began; None: it was not lost."""

    @property
    def is_lost(self) -> bool:
        return self.lost_after_s is not None
