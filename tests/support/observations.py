"""Invented observations: empty, except for what a test sets."""

from __future__ import annotations

from typing import Any

from assay.contracts.observation import VERSION, Observation, read_observation

EMPTY_HISTOGRAM = "HISTFAAAACF4nJNpmSzMwMDAyAABzFAayGd2M9ixgMH+A1QEAFKmBEw="


def latency(count: int = 0, each_ns: int = 0) -> dict[str, Any]:
    """``count`` samples of one length; the histogram itself is empty."""
    percentiles = ("p50_ns", "p90_ns", "p95_ns", "p99_ns", "p99_9_ns")
    return {
        "count": count, "min_ns": each_ns, "max_ns": each_ns, "sum_ns": count * each_ns,
        "mean_ns": float(each_ns), "overflow": 0, "histogram": EMPTY_HISTOGRAM,
        **dict.fromkeys(percentiles, each_ns),
    }  # fmt: skip


def outcomes(**counts: int) -> dict[str, int]:
    """Every transaction was begun at once, and no other time."""
    names = ("ok", "aborted", "failed", "unknown", "skipped", "late", "retries")
    found = {**dict.fromkeys(names, 0), **counts}
    ended = sum(found[name] for name in names[:4])
    return {"scheduled": ended + found["skipped"], "attempts": ended + found["retries"], **found}


def error(**changes: Any) -> dict[str, Any]:
    return {
        "class": "other", "code": "", "certainty": "undone", "message": "m", "count": 1,
        "retried": 0, "transaction": None, "first_at_ns": 0, **changes,
    }  # fmt: skip


def observation(**changes: Any) -> Observation:
    """A whole observation, with these keys replaced."""
    numbers = ("elapsed_ns", "drained_ns", "connect_ns", "statements", "reconnects")
    lists = (
        "outcomes_by_transaction", "transactions", "per_statement", "groups", "intervals", "errors",
        "client_ends", "stalls", "suspensions", "outages", "results",
    )  # fmt: skip
    cost = ("user_ns", "system_ns", "resident_peak_bytes", "resident_bytes", "resident_grown_bytes")
    waits = ("voluntary_switches", "involuntary_switches", "waited_for_processor_ns")
    return read_observation(
        {
            "version": VERSION,
            "started_unix_ns": 1,
            "clients": 1,
            "threads": 1,
            "arrival": {"kind": "closed", "offered_rate_per_s": None},
            "resolution": {"lowest_ns": 1, "significant_digits": 3, "highest_ns": 3600 * 10**9},
            "outcomes": outcomes(),
            "all_ok": {
                "count": 0, "latency": latency(), "service_time": latency(), "schedule_lag": None,
            },
            "passes": None,
            "transactions_per_client": {"least": 0, "median": 0, "most": 0},
            "in_flight": {"count": 0, "oldest_ns": 0, "begun_in_warm_up": 0},
            "carried_over": {"count": 0, "longest_ns": 0},
            "littles_law": None,
            "client_cost": {
                **dict.fromkeys((*cost, *waits), 0),
                "per_transaction_ns": 0.0,
                "machine_busy_ns": None,
            },
            "ended_by": "stop",
            **dict.fromkeys(numbers, 0),
            **dict.fromkeys(lists, ()),
            **changes,
        }
    )  # fmt: skip
