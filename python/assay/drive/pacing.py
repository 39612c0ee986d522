"""Takes the time that one client needs for its work; returns the interval between starts and the
pause after transactions with which several clients work at once and none overtakes another.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

TRIED_TRANSACTIONS = 100
"""Enough to estimate how long a client takes for all of its transactions."""
MOST_ATTEMPTS = 4
"""Each with half the interval of the one before."""
_LEAST_STAGGER_S = 0.3
_LONGEST_TRANSACTIONS = 6
"""The least interval, in longest transactions of the single client: with a shorter one, a short
stall of the machine could make clients overtake one another."""


class Pace(Struct, frozen=True):
    stagger_s: float = 0.0
    """Between two clients' starts."""
    pause_s: float = 0.0
    """Of a client after each transaction."""


def least_stagger_s(longest_s: float) -> float:
    """The least interval between starts, given a single client's longest transaction."""
    return max(_LEAST_STAGGER_S, _LONGEST_TRANSACTIONS * longest_s)


def found_pace(given: Pace, one_s: float, transactions: int, at_once: int, apart_s: float) -> Pace:
    """With the starts a client's own time ÷ ``at_once`` apart, and ``apart_s`` at least. ``one_s``:
    the time of one client alone, without pauses. Given values are kept.

    The pauses are so long that all clients together load the system no more than one without
    pauses: under contention for processors or a lock, chance would decide their order.
    """
    busy_s = one_s + given.pause_s * transactions
    own_s = busy_s if given.pause_s else (at_once + 1) * one_s
    stagger_s = given.stagger_s or max(own_s / at_once, apart_s)
    missing_s = max(0.0, stagger_s * at_once - one_s)
    return Pace(stagger_s, given.pause_s or missing_s / transactions)


def at_work(ends_ns: Sequence[int], stagger_ns: int, at_once: int) -> list[int]:
    """How many clients are at work whenever one starts, from the first instant at which ``at_once``
    can be. Client *k* starts at *k* ``stagger_ns`` and ends at ``ends_ns[k]``."""
    starts_ns = [client * stagger_ns for client in range(len(ends_ns))]
    return [
        sum(end > now for end in ends_ns[: number + 1])
        for number, now in enumerate(starts_ns)
        if number >= at_once - 1
    ]
