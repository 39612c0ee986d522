"""Takes samples of a server and an observation; returns the server's cost during the measurement.

The samples hold sums since the start of each process or device. Sums are interpolated linearly at
the beginning and the end of the measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from assay.drive.sampler import TimedSample
from assay.observation import Observation, ServerCost

_Sum = Callable[[TimedSample], int | None]


def server_cost(
    samples: Sequence[TimedSample], began_unix_ns: int, observation: Observation
) -> ServerCost | None:
    """CPU time and bytes read in the measurement, and the peak of the sampled memory.

    ``began_unix_ns``: when sampling began. None where the samples do not cover the measurement.
    """
    cpu_ns = _grown(samples, lambda timed: timed.sample.cpu_ns, began_unix_ns, observation)
    if cpu_ns is None:
        return None
    ended = observation.outcomes.ended
    return ServerCost(
        cpu_ns=cpu_ns,
        read_bytes=_grown(
            samples, lambda timed: timed.sample.read_bytes, began_unix_ns, observation
        ),
        resident_peak_bytes=max(timed.sample.resident_bytes for timed in samples),
        per_transaction_ns=round(cpu_ns / ended) if ended else 0,
    )


def device_cost(
    samples: Sequence[TimedSample], began_unix_ns: int, observation: Observation
) -> tuple[int, int] | None:
    """Bytes that the whole device under the data read and wrote in the measurement; None where not
    known."""
    read = _grown(samples, lambda timed: timed.device_read_bytes, began_unix_ns, observation)
    written = _grown(samples, lambda timed: timed.device_written_bytes, began_unix_ns, observation)
    if read is None or written is None:
        return None
    return read, written


def _grown(
    samples: Sequence[TimedSample],
    sum_of: _Sum,
    began_unix_ns: int,
    observation: Observation,
) -> int | None:
    if len(samples) < 2 or not observation.elapsed_ns:
        return None
    sums = [(sample.at_s, total) for sample in samples if (total := sum_of(sample)) is not None]
    if len(sums) < len(samples):
        return None
    from_s = (observation.started_unix_ns - began_unix_ns) / 1e9
    to_s = from_s + observation.elapsed_ns / 1e9
    return max(0, _at(sums, to_s) - _at(sums, from_s))


def _at(sums: Sequence[tuple[float, int]], at_s: float) -> int:
    """The sum at that instant, interpolated between the samples before and after it."""
    first_s, first = sums[0]
    if at_s <= first_s:
        return first
    for (before_s, low), (behind_s, high) in pairwise(sums):
        if at_s <= behind_s:
            share = (at_s - before_s) / (behind_s - before_s)
            return round(low + share * (high - low))
    return sums[-1][1]
