"""Reads back what a node is really set to, and insists on what was asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from assay.contracts.systems.abilities import Spelled
from assay.errors import SystemRefused
from assay.provision.engine.engine_calls import Session
from assay.systems.answers import rows_of
from assay.systems.cassandra.configuration import SET_BY_ASSAY, chosen_by_assay
from assay.text.sizes import in_largest_unit

_DECISIVE = """
    commitlog_sync commitlog_sync_period commitlog_sync_group_window commitlog_segment_size
    commitlog_total_space commitlog_disk_access_mode commit_failure_policy disk_failure_policy
    periodic_commitlog_sync_lag_block trickle_fsync
    memtable_heap_space memtable_offheap_space memtable_allocation_type memtable_flush_writers
    memtable_cleanup_threshold
    file_cache_enabled file_cache_size key_cache_size row_cache_size counter_cache_size
    column_index_size disk_access_mode disk_optimization_strategy
    compaction_throughput concurrent_compactors concurrent_reads concurrent_writes
    concurrent_counter_writes flush_compression
    read_request_timeout write_request_timeout range_request_timeout counter_write_request_timeout
    cas_contention_timeout native_transport_timeout native_transport_max_threads
    hinted_handoff_enabled dynamic_snitch internode_compression cross_node_timeout
    paxos_variant storage_compatibility_mode auto_snapshot incremental_backups
    num_tokens partitioner endpoint_snitch sstable.selected_format
"""
DECISIVE = frozenset(_DECISIVE.split())
"""Settings that decide speed or durability; recorded also where they are at their default. Names
that a version does not have are left out of its record."""

UNKNOWN = "it does not answer a query of system_views.settings"

_EVERYWHERE = "cluster_name"
"""A setting of every node; an answer without it was made up."""
_QUERY = "SELECT name, value FROM system_views.settings"

_TRUTH = {"yes": "true", "on": "true", "no": "false", "off": "false"}
_NOTHING = ("none", "null", "~", "")
_QUANTITY = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*([a-z/]*)")
_FACTORS = {
    "": 1,
    **{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86_400},
    **{"b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30},
    **{"b/s": 1, "kib/s": 1 << 10, "mib/s": 1 << 20},
}
_UNITS = (
    (("ns", 1), ("us", 10**3), ("ms", 10**6), ("s", 10**9), ("m", 60 * 10**9),
     ("h", 3600 * 10**9), ("d", 86_400 * 10**9)),
    (("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)),
    (("B/s", 1), ("KiB/s", 1 << 10), ("MiB/s", 1 << 20)),
)  # fmt: skip
"""Of times, sizes and rates, as the server writes them."""


def read(session: Session) -> dict[str, str] | None:
    """Every setting of the node; None where it does not tell them."""
    found = {str(name): value or "" for name, value in rows_of(session, _QUERY, columns=2) or ()}
    return found if _EVERYWHERE in found else None


def insist(effective: Mapping[str, str], asked: Mapping[str, str]) -> None:
    """Raises `SystemRefused` for the first setting that was asked and is not in effect."""
    for name, value in asked.items():
        if name not in effective:
            near = get_close_matches(name, effective)
            raise SystemRefused(
                f"the setting {name} was asked as {value!r}, and the server has no such setting",
                hint=f"did you mean {' or '.join(near)}?" if near else None,
            )
        if not is_in_effect(value, effective[name]):
            raise SystemRefused(
                f"the setting {name} was asked as {value!r} and is {effective[name]!r}",
                hint="leave it out, or ask for what the server can do",
            )


def is_in_effect(asked: str, effective: str) -> bool:
    """Whether both texts mean the same: ``1024KiB`` and ``1MiB``."""
    left, right = (_meaning(text) for text in (asked, effective))
    return left == right


def spelled(asked: Mapping[str, str]) -> Iterator[Spelled]:
    """Each setting in one spelling, and whether it is what Assay's nodes have. What the server has
    by itself is known to a running node alone."""
    ours = chosen_by_assay(asked)
    for name, value in asked.items():
        is_default = name in ours and is_in_effect(value, ours[name])
        yield Spelled(name, _in_one_spelling(value), is_default)


def _in_one_spelling(text: str) -> str:
    word = " ".join(text.strip().strip("\"'").split())
    lower = word.lower()
    if lower in _NOTHING:
        return "none"
    quantity = _QUANTITY.fullmatch(lower)
    if quantity is None or not quantity[1].isdecimal():
        return _TRUTH.get(lower, word)
    for units in _UNITS:
        size = next((size for unit, size in units if unit.lower() == quantity[2]), None)
        if size is not None:
            return in_largest_unit(int(quantity[1]) * size, units)
    return word


def effective(reported: Mapping[str, str], asked: Mapping[str, str]) -> dict[str, str]:
    """What the record keeps: what decides speed and durability, and what was asked."""
    return {
        name: value
        for name, value in sorted(reported.items())
        if (name in DECISIVE and value) or (name in asked and name not in SET_BY_ASSAY)
    }


def durability_lowered_by(settings: Mapping[str, str], consistency: str) -> dict[str, str]:
    """The effective settings with which an acknowledged write can be lost when a machine stops, and
    what to set instead."""
    found = {}
    if settings.get("commitlog_sync", "").lower() == "periodic":
        found["commitlog_sync = periodic"] = "commitlog_sync = batch or group"
    if consistency == "any":
        found["consistency = any"] = "consistency = one or more"
    return found


def _meaning(text: str) -> str | float:
    word = " ".join(text.strip().lower().strip("\"'").split())
    if word in _NOTHING:
        return "none"
    quantity = _QUANTITY.fullmatch(word)
    if quantity is not None and quantity[2] in _FACTORS:
        return round(float(quantity[1]) * _FACTORS[quantity[2]], 9)
    return _TRUTH.get(word, word)
