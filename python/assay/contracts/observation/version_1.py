"""Takes the plain data of an observation of version 1 (without the key ``version``); gives those of
version 2.

Version 1 called latency ``response_time``, knew one group of clients, kept no distributions per
second and no sums, and did not say how certain an error's effect is. Its first programs kept less
than later ones. What was not kept is derived where it can be; else it is zero or empty, and named
in ``not_kept``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from assay import _engine

Document = dict[str, Any]

_MAY_BE_DONE = frozenset({"lost connection", "protocol"})
"""Classes of errors behind which a statement may have been done all the same."""
_RESOLUTION = {"lowest_ns": 512, "significant_digits": 3, "highest_ns": 3_600_000_000_000}
"""Of observations that do not say it: their buckets were 512 ns wide below a millisecond."""
_NOT_KEPT: Document = {
    "drained_ns": 0,
    "connect_ns": 0,
    "threads": 0,
    "statements": 0,
    "reconnects": 0,
    "littles_law": None,
    "passes": None,
    "in_flight": {"count": 0, "oldest_ns": 0, "begun_in_warm_up": 0},
    "carried_over": {"count": 0, "longest_ns": 0},
    "client_cost": {},
    **dict.fromkeys(
        ("outcomes_by_transaction", "per_statement", "results", "outages", "stalls", "suspensions"),
        (),
    ),
}
_OUTCOMES = ("aborted", "failed", "unknown", "skipped", "late", "retries")
_COSTS = (
    "resident_grown_bytes", "voluntary_switches", "involuntary_switches",
    "waited_for_processor_ns",
)  # fmt: skip


def of_version_1(old: Mapping[str, Any]) -> Document:
    """Raises `KeyError`, `TypeError`, `ValueError` … where it is damaged."""
    new: Document = {
        **_NOT_KEPT,
        "resolution": _RESOLUTION,
        "arrival": {"kind": "closed", "offered_rate_per_s": None},
        **old,
        "outcomes": _outcomes(old["outcomes"]),
        "transactions": [_transaction(item) for item in old.get("transactions", ())],
        "per_statement": [_counted(item) for item in old.get("per_statement", ())],
        "intervals": [_interval(item) for item in old.get("intervals", ())],
        "errors": [_error(item) for item in old.get("errors", ())],
        "client_ends": [{"group": "", **item} for item in old.get("client_ends", ())],
    }
    if new["passes"] is not None:
        new["passes"] = _counted(new["passes"])
    if (law := new["littles_law"]) is not None:
        new["littles_law"] = _renamed(law, "response_time_ns", "latency_ns")
    all_ok = old.get("all_ok")
    new["all_ok"] = _all_ok(new["transactions"]) if all_ok is None else _timed(all_ok)
    new["client_cost"] = _client_cost(new["client_cost"], new["outcomes"])
    if "transactions_per_client" not in old:
        new["transactions_per_client"] = _per_client(new["client_ends"])
    new["groups"] = [_only_group(new)]
    new["not_kept"] = [name for name in _NOT_KEPT if name not in old]
    return new


def _outcomes(old: Mapping[str, Any]) -> Document:
    known = {**dict.fromkeys(_OUTCOMES, 0), **old}
    attempts = known["scheduled"] - known["skipped"] + known["retries"]
    return {"attempts": attempts, **known}


def _only_group(new: Document) -> Document:
    elapsed_ns = new["elapsed_ns"]
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
        "errors": [error for error in new["errors"] if error.get("transaction") is not None],
        **{key: new[key] for key in shared},
    }


def _transaction(old: Mapping[str, Any]) -> Document:
    return {"late": 0, **_timed(old)}


def _timed(old: Mapping[str, Any]) -> Document:
    """A closed loop kept latency alone: what was not said to lag began when it was due."""
    new = _counted(old)
    return {"service_time": new["latency"], "schedule_lag": None, **new}


def _counted(old: Mapping[str, Any]) -> Document:
    """What has a count and distributions of it."""
    new = _renamed(old, "response_time", "latency")
    for key in ("latency", "service_time", "schedule_lag"):
        if isinstance(new.get(key), dict):
            new[key] = _distribution(new[key], new.get("count", 0))
    return new


def _distribution(old: Mapping[str, Any], count: int) -> Document:
    return {"count": count, "sum_ns": round(old.get("mean_ns", 0.0) * count), **old}


def _all_ok(transactions: Sequence[Mapping[str, Any]]) -> Document:
    """Of all types that ended ok, whose distributions add up exactly."""
    ok = [transaction for transaction in transactions if transaction["outcome"] == "ok"]
    merged = {
        key: _merged([transaction[key] for transaction in ok])
        for key in ("latency", "service_time")
    }
    lags = [
        transaction["schedule_lag"] for transaction in ok if transaction["schedule_lag"] is not None
    ]
    lag = _merged(lags) if lags else None
    return {"count": sum(transaction["count"] for transaction in ok), **merged, "schedule_lag": lag}


def _merged(parts: Sequence[Mapping[str, Any]]) -> Document:
    if len(parts) == 1:
        return dict(parts[0])
    try:
        text = _engine.merge_latency(msgspec.json.encode(parts).decode())
    except _engine.EngineError as error:
        raise ValueError(error.message) from None
    return dict(msgspec.json.decode(text))


def _client_cost(old: Mapping[str, Any], outcomes: Mapping[str, Any]) -> Document:
    known = {**dict.fromkeys(("user_ns", "system_ns", "resident_peak_bytes", *_COSTS), 0), **old}
    ended = outcomes["scheduled"] - outcomes["skipped"]
    each_ns = (known["user_ns"] + known["system_ns"]) / ended if ended else 0.0
    return {
        "resident_bytes": known["resident_peak_bytes"],
        "per_transaction_ns": each_ns,
        "machine_busy_ns": None,
        **known,
    }


def _per_client(ends: Sequence[Mapping[str, Any]]) -> Document:
    counts = sorted(end["transactions"] for end in ends) or [0]
    middle = (counts[(len(counts) - 1) // 2] + counts[len(counts) // 2]) // 2
    return {"least": counts[0], "median": middle, "most": counts[-1]}


def _interval(old: Mapping[str, Any]) -> Document:
    counts = dict.fromkeys((*_OUTCOMES, "clients_connected", "stalled_ns", "suspended_ns"), 0)
    return {
        "group": "",
        "latency": None,
        "schedule_lag": None,
        "schedule_lag_p99_ns": None,
        **counts,
        **old,
    }


def _error(old: Mapping[str, Any]) -> Document:
    certainty = "unknown" if old.get("class") in _MAY_BE_DONE else "undone"
    code = old.get("code") or ""
    known = {"retried": 0, "transaction": None, "first_at_ns": 0}
    return {"certainty": certainty, **known, **old, "code": code}


def _renamed(old: Mapping[str, Any], key: str, name: str) -> Document:
    return {
        name if name_in_old == key else name_in_old: value for name_in_old, value in old.items()
    }
