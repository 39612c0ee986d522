"""Takes the plain data of an observation of version 2; gives those of version 3.

In version 2 percentiles of an open loop were of the transactions that ended ok alone. In version 3
they are of all that were due: those that were skipped, or of which the outcome is unknown, are
above all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from assay import _engine

Document = dict[str, Any]
Types = Sequence[Mapping[str, Any]]


def of_version_2(old: Mapping[str, Any]) -> Document:
    """Raises `KeyError`, `TypeError`, `ValueError` … where it is damaged."""
    unanswered = _unanswered(old)
    if not any(unanswered.values()):
        return dict(old)
    new = _with_ranks(old, unanswered)
    new["groups"] = [_with_ranks(group, _unanswered(group)) for group in old["groups"]]
    return new


def _unanswered(old: Mapping[str, Any]) -> dict[str, int]:
    """By transaction type, those of open loops."""
    kind = old["arrival"]["kind"]
    if kind == "mixed":
        total: dict[str, int] = {}
        for group in old["groups"]:
            for name, count in _unanswered(group).items():
                total[name] = total.get(name, 0) + count
        return total
    if kind == "closed":
        return {}
    by_type = old["outcomes_by_transaction"] or [{"name": "", **old["outcomes"]}]
    return {one["name"]: one["skipped"] + one["unknown"] for one in by_type}


def _with_ranks(old: Mapping[str, Any], unanswered: Mapping[str, int]) -> Document:
    transactions = [
        {**one, "latency": _ranked(one["latency"], unanswered.get(one["name"], 0))}
        if one["outcome"] == "ok"
        else one
        for one in old["transactions"]
    ]
    all_ok = old["all_ok"]
    latency = _ranked(all_ok["latency"], sum(unanswered.values()))
    return {**old, "transactions": transactions, "all_ok": {**all_ok, "latency": latency}}


_ENCODED = ("count", "min_ns", "max_ns", "sum_ns", "overflow", "histogram")


def _ranked(latency: Mapping[str, Any], unanswered: int) -> Document:
    if not unanswered:
        return dict(latency)
    part = {**{name: latency[name] for name in _ENCODED}, "unanswered": unanswered}
    try:
        text = _engine.merge_latency(msgspec.json.encode([part]).decode())
    except _engine.EngineError as error:
        raise ValueError(error.message) from None
    return dict(msgspec.json.decode(text))
