"""Takes samples of a server and what was driven; gives what the server cost the machine meanwhile.

The samples hold sums since each process began. Between two of them a sum is taken to grow evenly,
so that it is known also at the instants at which the measurement began and ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from assay.drive.sampler import TimedSample


def server_cost(
    samples: Sequence[TimedSample], began_unix_ns: int, observation: Mapping[str, Any]
) -> dict[str, int] | None:
    """Processor time, bytes read and written in the measurement, and the most memory seen.

    ``began_unix_ns``: when sampling began. None where the samples do not reach over any of it.
    """
    if len(samples) < 2 or not observation.get("elapsed_ns"):
        return None
    from_s = (observation["started_unix_ns"] - began_unix_ns) / 1e9
    to_s = from_s + observation["elapsed_ns"] / 1e9
    grown = {
        name: max(0, _at(samples, name, to_s) - _at(samples, name, from_s))
        for name in ("cpu_ns", "read_bytes", "written_bytes")
    }
    ended = sum(one["count"] for one in observation["transactions"])
    return {
        **grown,
        "resident_peak_bytes": max(one.sample.resident_bytes for one in samples),
        "per_transaction_ns": round(grown["cpu_ns"] / ended) if ended else 0,
    }


def _at(samples: Sequence[TimedSample], name: str, at_s: float) -> int:
    """The sum at that instant, on the line between the samples before and behind it."""
    if at_s <= samples[0].at_s:
        return int(getattr(samples[0].sample, name))
    for before, behind in pairwise(samples):
        if at_s <= behind.at_s:
            low: int = getattr(before.sample, name)
            high: int = getattr(behind.sample, name)
            share = (at_s - before.at_s) / (behind.at_s - before.at_s)
            return round(low + share * (high - low))
    return int(getattr(samples[-1].sample, name))
