"""Takes samples and an observation; returns what the server, the device under its data and the
whole machine did during the measurement.

The samples hold sums since the start of each process or device. Sums are interpolated linearly at
the beginning and the end of the measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from assay.contracts.observation import DeviceCost, MachineCost, Observation, ServerCost
from assay.drive.sampler import TimedSample

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
    samples: Sequence[TimedSample], began_unix_ns: int, observation: Observation, device: str
) -> DeviceCost | None:
    """What the whole device under the data did in the measurement; None where not known.
    ``device``: its name."""

    def grown(name: str) -> int | None:
        return _grown(
            samples,
            lambda timed: None if timed.device is None else getattr(timed.device, name),
            began_unix_ns,
            observation,
        )

    read_bytes, written_bytes = grown("read_bytes"), grown("written_bytes")
    if read_bytes is None or written_bytes is None:
        return None
    return DeviceCost(
        device=device,
        read_bytes=read_bytes,
        written_bytes=written_bytes,
        reads=grown("reads"),
        writes=grown("writes"),
        empty_writes=grown("empty_writes"),
        flushes=grown("flushes"),
        busy_ns=grown("busy_ns"),
        queue_ns=grown("queue_ns"),
    )


def machine_cost(
    samples: Sequence[TimedSample], began_unix_ns: int, observation: Observation
) -> MachineCost | None:
    """Processor states of the whole machine in the measurement, and the largest of its sampled load
    and memory; None where not known."""

    def grown(name: str) -> int | None:
        return _grown(
            samples,
            lambda timed: None if timed.machine is None else getattr(timed.machine, name),
            began_unix_ns,
            observation,
        )

    states = {
        name: time_ns
        for name in ("user_ns", "system_ns", "idle_ns", "iowait_ns", "steal_ns")
        if (time_ns := grown(name)) is not None
    }
    machines = [timed.machine for timed in samples if timed.machine is not None]
    if len(states) < 5:
        return None

    def sampled(name: str) -> list[Any]:
        return [value for one in machines if (value := getattr(one, name)) is not None]

    def peak(name: str) -> Any:
        return max(sampled(name), default=None)

    return MachineCost(
        **states,
        load_1min_peak=peak("load_1min"),
        load_5min_peak=peak("load_5min"),
        load_15min_peak=peak("load_15min"),
        cached_peak_bytes=peak("cached_bytes"),
        dirty_peak_bytes=peak("dirty_bytes"),
        used_peak_bytes=peak("used_bytes"),
        free_least_bytes=min(sampled("free_bytes"), default=None),
        buffers_peak_bytes=peak("buffers_bytes"),
        shared_peak_bytes=peak("shared_bytes"),
        swap_used_peak_bytes=peak("swap_used_bytes"),
        context_switches=grown("context_switches"),
        interrupts=grown("interrupts"),
        other_programs_ns=_grown(
            samples, lambda timed: timed.other_programs_ns, began_unix_ns, observation
        ),
    )


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
