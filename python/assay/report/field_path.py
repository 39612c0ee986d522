"""Takes a run and a path of names with dots; gives what stands at its end, and its unit.

A path goes through the observation: a name of a table leads on, and in a list of transactions the
name of one leads to those of its kind that ended ``ok``. ``samples`` leads to the largest value of
any sample of the server's processes. The last name tells the unit: ``_ns``, ``_bytes``, ``_per_s``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.record import RunRecord

SAMPLES = "samples"
_EARLIER = {"response_time": "latency"}
"""Names in workload files, and records, of before."""
_UNITS = {"_ns": "ns", "_bytes": "bytes", "_per_s": "per_s"}


def value(run: RunRecord, key: str) -> Any:
    """None where the run holds nothing there."""
    first, *rest = key.split(".")
    if first == SAMPLES and len(rest) == 1:
        seen = [getattr(timed.sample, rest[0], None) for timed in run.samples]
        return max((one for one in seen if one is not None), default=None)
    found: Any = run.observation
    for name in (first, *rest):
        found = _step(found, name)
    return found


def unit(key: str) -> str:
    return next((unit for end, unit in _UNITS.items() if key.endswith(end)), "count")


def _step(place: Any, name: str) -> Any:
    if isinstance(place, Mapping):
        return place.get(_EARLIER.get(name, name))
    if isinstance(place, list):
        of_that_name = (one for one in place if one.get("name") == name)
        return next((one for one in of_that_name if one.get("outcome", "ok") == "ok"), None)
    return None
