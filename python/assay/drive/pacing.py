"""Takes what one client needs for its work; says how far apart clients must start, and how long
they must rest, so that several are at work together and none overtakes another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TRIED_TRANSACTIONS = 100
"""Enough to know how long a client takes for all of its transactions."""
MOST_ATTEMPTS = 4
"""Each with half the time between two starts that the one before had."""
_LEAST_STAGGER_S = 0.3
_LONGEST_TRANSACTIONS = 6
"""Starts are at least so many times apart what the single client's longest transaction took: closer
together, a machine that halts for a moment would make clients overtake one another."""


@dataclass(frozen=True)
class Pace:
    stagger_s: float = 0.0
    """Between two clients' starts."""
    pause_s: float = 0.0
    """That a client rests behind each transaction."""


def least_stagger_s(longest_s: float) -> float:
    """How far apart starts must be where a single client's longest transaction took so long."""
    return max(_LEAST_STAGGER_S, _LONGEST_TRANSACTIONS * longest_s)


def found_pace(given: Pace, one_s: float, transactions: int, at_once: int, apart_s: float) -> Pace:
    """With the starts a client's own time ÷ ``wanted`` apart, and ``apart_s`` at least. ``one_s``:
    what one client takes by itself, without a rest. What is given is kept.

    Clients rest so long that all at work together ask no more of the system than one that never
    rests: where they had to fight for processors or for one lock, chance would decide who is first.
    """
    busy_s = one_s + given.pause_s * transactions
    own_s = busy_s if given.pause_s else (at_once + 1) * one_s
    stagger_s = given.stagger_s or max(own_s / at_once, apart_s)
    missing_s = max(0.0, stagger_s * at_once - one_s)
    return Pace(stagger_s, given.pause_s or missing_s / transactions)


def at_work(ends_ns: Sequence[int], stagger_ns: int, at_once: int) -> list[int]:
    """How many clients are at work whenever one starts, from the first instant at which ``wanted``
    can be. Client *k* starts at *k* ``stagger_ns`` and ends at ``ends_ns[k]``."""
    starts_ns = [client * stagger_ns for client in range(len(ends_ns))]
    return [
        sum(end > now for end in ends_ns[: number + 1])
        for number, now in enumerate(starts_ns)
        if number >= at_once - 1
    ]
