"""Shows a percentile, or how many samples it would need (`assay.judge.statistics.samples`).

A percentile is the upper edge of a bucket of an HDR histogram, and is shown with no more digits
than the width of that bucket allows; over repetitions, of the bucket of the one in the middle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.contracts.observation import Latency, Observation, Resolution
from assay.judge.statistics import samples
from assay.judge.statistics.samples import BY_NAME, NOT_REACHED, UNREACHED
from assay.judge.statistics.spread import middle_places
from assay.report.values import Number, ReportCell, absent
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


def why_none(times: Latency, key: str) -> str:
    """Why there is no number under this key (``p95_ns``): ``n<72``, ``not reached``; empty: there
    is one."""
    name = key.removesuffix("_ns")
    if name not in (*BY_NAME, "mean", "max"):
        return ""
    value_ns = samples.time_ns(times, name)
    if value_ns is None:
        return f"n<{samples.needed_for(name)}"
    return NOT_REACHED if value_ns == UNREACHED else ""


def middle_width(numbers: Sequence[Number]) -> int | None:
    """The width of the bucket that the median of these comes from; of two in the middle, the
    wider."""
    middle = middle_places([number.value for number in numbers])
    return max((numbers[place].resolution or 0 for place in middle), default=0) or None


def width_of(key: str, value: float, observation: Observation | None) -> int:
    """The same for a value of the observation; 0 where its key is that of no percentile."""
    if observation is None or not is_percentile(key):
        return 0
    return bucket_width_ns(value, observation.resolution)


def cell(times: Latency, name: str, unit: str, resolution: Resolution) -> ReportCell:
    """One of `SHARES` or ``max``, or why there is none: how many samples it would need, or that
    too many transactions had no answer."""
    value_ns = samples.known_ns(times, name)
    if value_ns is None:
        return absent(why_none(times, name.replace(".", "_")))
    width_ns = 0 if name == "max" else bucket_width_ns(value_ns, resolution)
    made = Number(value_ns, "ns", n=times.due, resolution=width_ns or None)
    return ReportCell(units.time(value_ns, unit, resolution_ns=width_ns), made)


def unit_of(latencies: Iterable[Latency]) -> str:
    """The unit in which these times are best read: µs where no p99 reaches a millisecond."""
    longest = max(
        (times.max_ns if times.p99_ns is None else times.p99_ns for times in latencies), default=0
    )
    return "µs" if longest < 1_000_000 else "ms"
