"""Takes the plain data of an observation of any version; gives those of the newest.

Version 1 (without the key ``version``) called latency ``response_time``, knew one group of clients,
kept no distributions per second and no sums, and did not say how certain an error's effect is. What
it did not keep is None, or is derived where it can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.observation.observation import VERSION, Observation
from assay.observation.shape import ShapeError, read

Document = dict[str, Any]

_MAY_BE_DONE = frozenset({"lost connection", "protocol"})
"""Classes of errors behind which a statement may have been done all the same."""


def read_observation(document: Mapping[str, Any], name: str = "observation") -> Observation:
    """The typed value of an observation of any version. Raises `ShapeError` where a key is missing,
    is of another type, or is not known."""
    return read(Observation, newest(document, name), name)


def newest(document: Mapping[str, Any], name: str = "observation") -> Document:
    """The same as plain data of the newest version. Other documents, such as what an update
    reports, are left as they are."""
    version = document.get("version", 1)
    if version == VERSION or "outcomes" not in document:
        return dict(document)
    if version != 1:
        raise ShapeError(
            f"{name}.version: expected {VERSION} or less, found {version}: "
            "it was made by a newer Assay"
        )
    try:
        return _of_version_1(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ShapeError(f"{name}: not of the shape of version 1 ({error!r})") from None


def _of_version_1(old: Mapping[str, Any]) -> Document:
    new = {
        **old,
        "version": VERSION,
        "transactions": [_counted(one) for one in old.get("transactions", ())],
        "per_statement": [_counted(one) for one in old.get("per_statement", ())],
        "intervals": [_interval(one) for one in old.get("intervals", ())],
        "errors": [_error(one) for one in old.get("errors", ())],
        "client_ends": [{"group": "", **one} for one in old.get("client_ends", ())],
    }
    for key in ("all_ok", "passes"):
        if old.get(key) is not None:
            new[key] = _counted(old[key])
    if (law := old.get("littles_law")) is not None:
        new["littles_law"] = _renamed(law, "response_time_ns", "latency_ns")
    new["groups"] = [_only_group(new)] if "all_ok" in new else []
    return new


def _only_group(new: Document) -> Document:
    elapsed_ns = new.get("elapsed_ns", 0)
    per_s = new["outcomes"]["ok"] / (elapsed_ns / 1e9) if elapsed_ns else 0.0
    shared = (
        "clients",
        "arrival",
        "elapsed_ns",
        "outcomes",
        "outcomes_by_transaction",
        "transactions",
        "all_ok",
        "passes",
    )
    return {
        "name": "",
        "throughput_per_s": per_s,
        "errors": [one for one in new["errors"] if one.get("transaction") is not None],
        **{key: new[key] for key in shared if key in new},
    }


def _counted(old: Mapping[str, Any]) -> Document:
    """What has a count and distributions of it."""
    new = _renamed(old, "response_time", "latency")
    for key in ("latency", "service_time", "schedule_lag"):
        if isinstance(new.get(key), dict):
            new[key] = _distribution(new[key], new.get("count", 0))
    return new


def _distribution(old: Mapping[str, Any], count: int) -> Document:
    return {"count": count, "sum_ns": round(old.get("mean_ns", 0.0) * count), **old}


def _interval(old: Mapping[str, Any]) -> Document:
    return {"group": "", "latency": None, "schedule_lag": None, **old}


def _error(old: Mapping[str, Any]) -> Document:
    certainty = "unknown" if old.get("class") in _MAY_BE_DONE else "undone"
    return {"certainty": certainty, **old}


def _renamed(old: Mapping[str, Any], key: str, name: str) -> Document:
    return {name if one == key else one: value for one, value in old.items()}
