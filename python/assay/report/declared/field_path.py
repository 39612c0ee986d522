"""Takes a run and a dotted path; returns the value at that path, and its unit.

A path goes through the observation: a name selects a key of an object, and in a list of
transactions the type of that name whose outcome is ``ok``. ``samples`` selects the largest value of
any sample of the server's processes, ``data`` a fact of the loaded data
(``data.size_on_disk_bytes``), ``deployment`` one of the server (``deployment.creation_ns``), and
``open_files.most`` the greatest number of open handles on a single file. The last name ends in the
unit: ``_ns``, ``_bytes``, ``_per_s``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.contracts.observation import Latency, UnreadReport
from assay.record import Run
from assay.record.metrics import clients
from assay.report.cells import percentiles
from assay.text.field_names import field_names

SAMPLES, MOST_OF_A_FILE = "samples", "open_files.most"
_BEFORE_CLIENTS: Mapping[str, Callable[[Run], Any]] = {
    "data": lambda run: run.data,
    "deployment": lambda run: run.deployment,
}
"""Where a path begins → what was there before the first client."""
ELAPSED = clients.ELAPSED.name
ENDED_BY_DURATION = "ended by its duration"
"""In place of the elapsed time of a run that was asked to last so long."""
_UNITS = {"_ns": "ns", "_bytes": "bytes", "_per_s": "per_s", "_ratio": "ratio"}


def value(run: Run, key: str) -> Any:
    """None where the run has no value at that path, or too few samples for a percentile."""
    first, *rest = key.split(".")
    if first == SAMPLES and len(rest) == 1:
        seen = [getattr(timed.sample, rest[0], None) for timed in run.samples]
        return max((value for value in seen if value is not None), default=None)
    if key == MOST_OF_A_FILE:
        return max((file.handles for file in run.open_files), default=None)
    found: Any = run.observation
    if isinstance(found, UnreadReport):
        found = found.content
    if rest and is_before_clients(key):
        found, first, rest = _BEFORE_CLIENTS[first](run), rest[0], rest[1:]
    for name in (first, *rest):
        found = _step(found, name)
    return found


def is_before_clients(key: str) -> bool:
    """Whether it is known once the data are loaded."""
    return key.partition(".")[0] in _BEFORE_CLIENTS


def result(run: Run, key: str) -> Any:
    """The value as a result of the test: an elapsed time is none where a duration was asked for."""
    return clients.ELAPSED.result(run) if key == ELAPSED else value(run, key)


def why_none(run: Run, key: str) -> str:
    """Instead of the result, where there is none: ``n<72`` for a percentile of too few samples,
    ``not reached`` where too many transactions had no answer."""
    if key == ELAPSED and value(run, key):
        return ENDED_BY_DURATION
    above, _, name = key.rpartition(".")
    times = value(run, above) if above else None
    why = percentiles.why_none(times, name) if isinstance(times, Latency) else ""
    return why or "none"


def unit(key: str) -> str:
    return next((unit for end, unit in _UNITS.items() if key.endswith(end)), "count")


def _step(place: Any, name: str) -> Any:
    if isinstance(place, Mapping):
        return place.get(name)
    if isinstance(place, tuple):
        of_that_name = (one for one in place if getattr(one, "name", None) == name)
        return next((one for one in of_that_name if getattr(one, "outcome", "ok") == "ok"), None)
    if isinstance(place, Latency) and percentiles.why_none(place, name):
        return None
    kind: Any = type(place)
    return getattr(place, name) if name in (field_names(kind) or ()) else None
