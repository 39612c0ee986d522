"""Shows a percentile, or how many samples it would need (`assay.judge.samples`).

A percentile is the upper edge of a bucket of an HDR histogram, and is shown with no more digits
than the width of that bucket allows.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.judge.samples import BY_NAME, SHARES, samples_needed
from assay.observation import Latency, Observation, Resolution
from assay.report.values import Cell, Number, absent
from assay.text import units


def bucket_width_ns(value_ns: float, resolution: Resolution) -> int:
    """How wide the cell of the histogram is in which ``value_ns`` is counted: the first
    2 * 10^digits cells (rounded up to a power of two) are the narrowest, then it doubles with the
    value."""
    lowest_ns = resolution.lowest_ns
    narrowest = int(2 * 10**resolution.significant_digits - 1).bit_length()
    return lowest_ns << max(0, int(value_ns / lowest_ns).bit_length() - narrowest)


def is_percentile(path: str) -> bool:
    """Whether a path through the observation ends in one of `SHARES`."""
    return path.rpartition(".")[2].removesuffix("_ns") in BY_NAME


def lacking(times: Latency, name: str) -> int:
    """How many samples a percentile (``p95_ns``) needs, where there are fewer; 0: enough."""
    if not is_percentile(name):
        return 0
    needed = samples_needed(BY_NAME[name.removesuffix("_ns")])
    return needed if times.count < needed else 0


def width_of(key: str, value: float, observation: Observation | None) -> int:
    """The same for a value of the observation; 0 where its key is that of no percentile."""
    if observation is None or not is_percentile(key):
        return 0
    return bucket_width_ns(value, observation.resolution)


def cells(times: Latency, unit: str, resolution: Resolution) -> tuple[Cell, ...]:
    """n, each of `SHARES`, and the maximum, which needs no more than one sample."""
    return (
        Cell(str(times.count), Number(times.count, "count")),
        *(one(times, name, unit, resolution) for name in (*SHARES, "max")),
    )


def one(times: Latency, name: str, unit: str, resolution: Resolution) -> Cell:
    """One of `SHARES` or ``max``, or how many samples it would need."""
    n = times.count
    if name == "max":
        max_ns = times.max_ns
        return Cell(units.time(max_ns, unit), Number(max_ns, "ns", n=n)) if n else absent("n<1")
    if n < (needed := samples_needed(SHARES[name])):
        return absent(f"n<{needed}")
    value_ns = value_of(times, name)
    width_ns = bucket_width_ns(value_ns, resolution)
    made = Number(value_ns, "ns", n=n, resolution=width_ns)
    return Cell(units.time(value_ns, unit, resolution_ns=width_ns), made)


def value_of(times: Latency, name: str) -> int:
    """Of one of `SHARES`, or of ``max``."""
    value_ns: int = getattr(times, f"{name.replace('.', '_')}_ns")
    return value_ns


def unit_of(found: Iterable[Latency]) -> str:
    """The unit in which these times are best read: µs where no p99 reaches a millisecond."""
    return "µs" if max((times.p99_ns for times in found), default=0) < 1_000_000 else "ms"
