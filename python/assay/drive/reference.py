"""Takes ways to load, drive and ask; has one client leave its traces, then many; gives both.

The reliability test of E831 (Kreymer 1995): sets of updates are started so that at least three are
at work at once, and the rows of each are compared with those that a single client leaves on a small
table. Clients start one after the other, apart by what one takes alone divided by how many must be
together; as long as none overtakes the one before it, all that they leave is known. So that none
does, each rests behind each transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from assay.drive.query import Answer
from assay.drive.transactions import Observation
from assay.errors import RunFailed

_PACE_TRANSACTIONS = 100
"""Enough to know how long a client takes for all of its own."""
_LEAST_STAGGER_S = 0.3
_HICCUPS = 6
"""Starts are at least so many times apart what the single client's longest transaction took: closer
together, a machine that halts for a moment would make clients overtake one another."""
_MOST_ATTEMPTS = 4
"""Each with half the time between two starts that the one before had."""

Dumps = tuple[Answer, ...]
"""One for each client of the many."""


@dataclass(frozen=True)
class Left:
    """What clients left."""

    dumps: Dumps
    own: Dumps
    """Of each client what does not depend on who came before it; empty where nobody asks."""


@dataclass(frozen=True)
class Pace:
    stagger_s: float = 0.0
    """Between two clients' starts."""
    pause_s: float = 0.0
    """That a client rests behind each transaction."""


class Bench(Protocol):
    """Where traces are left: the small data of the reference, or those that are asked about."""

    def load(self) -> None:
        """Afterwards it holds what was loaded and nothing else."""

    def drive(self, clients: int, transactions: int, pace: Pace) -> Observation:
        """So many clients, each with so many transactions."""

    def dump(self) -> Left: ...


@dataclass(frozen=True)
class Traces:
    observation: Observation
    """Of the many; its ``reference`` tells how they were together."""
    expected: Left
    """By a single client."""
    found: Left
    """By the many."""


def observe(
    reference: Bench,
    asked: Bench,
    *,
    clients: int,
    transactions: int,
    at_once: int,
    given: Pace,
) -> Traces:
    """Drives the one client and then the many, each on data of their own. What of the pace is 0 is
    found, so that ``at_once`` clients are together."""
    reference.load()
    alone = reference.drive(1, transactions * clients, Pace())
    if alone["outcomes"]["ok"] < transactions * clients:
        raise RunFailed(f"the single client failed{_first_error(alone)}")
    expected = reference.dump()
    # Tables grow with the clients' work, so that the last of them has more to do than the first.
    one_ns = max(_alone_ns(asked, transactions), 2 * alone["elapsed_ns"] // clients)
    wanted = min(at_once, clients)
    longest_ns = max(one["response_time"]["max_ns"] for one in alone["transactions"])
    apart_s = max(_LEAST_STAGGER_S, _HICCUPS * longest_ns / 1e9)
    pace = found_pace(given, one_ns / 1e9, transactions, wanted, apart_s)
    for attempt in range(1, _MOST_ATTEMPTS + 1):
        asked.load()
        observation = asked.drive(clients, transactions, pace)
        ends_ns = [end["elapsed_ns"] for end in observation["client_ends"]]
        together = at_work(ends_ns, round(pace.stagger_s * 1e9), wanted)
        if min(together) >= wanted or given.stagger_s or attempt == _MOST_ATTEMPTS:
            break
        pace = replace(pace, stagger_s=pace.stagger_s / 2)
    observation["reference"] = {
        "alone_elapsed_ns": alone["elapsed_ns"],
        "one_alone_ns": one_ns,
        "stagger_ns": round(pace.stagger_s * 1e9),
        "pause_ns": round(pace.pause_s * 1e9),
        "least_at_once": min(together),
        "most_at_once": max(together),
    }
    return Traces(observation, expected, asked.dump())


def found_pace(given: Pace, one_s: float, transactions: int, wanted: int, apart_s: float) -> Pace:
    """With the starts a client's own time ÷ ``wanted`` apart, and ``apart_s`` at least. ``one_s``:
    what one client takes by itself, without a rest.

    Clients rest so long that all at work together ask no more of the system than one that never
    rests: where they had to fight for processors or for one lock, chance would decide who is first.
    """
    busy_s = one_s + given.pause_s * transactions
    own_s = busy_s if given.pause_s else (wanted + 1) * one_s
    stagger_s = given.stagger_s or max(own_s / wanted, apart_s)
    missing_s = max(0.0, stagger_s * wanted - one_s)
    return Pace(stagger_s, given.pause_s or missing_s / transactions)


def at_work(ends_ns: Sequence[int], stagger_ns: int, wanted: int) -> list[int]:
    """How many clients are at work whenever one starts, from the first instant at which ``wanted``
    can be. Client *k* starts at *k* ``stagger_ns`` and ends at ``ends_ns[k]``."""
    starts_ns = [client * stagger_ns for client in range(len(ends_ns))]
    return [
        sum(end > now for end in ends_ns[: number + 1])
        for number, now in enumerate(starts_ns)
        if number >= wanted - 1
    ]


def _first_error(observation: Observation) -> str:
    errors = observation["errors"]
    return f": {errors[0]['class']}: {errors[0]['message']}" if errors else ""


def _alone_ns(asked: Bench, transactions: int) -> int:
    """What one client takes for all of its transactions, by itself on the data asked about."""
    some = min(_PACE_TRANSACTIONS, transactions)
    asked.load()
    elapsed_ns: int = asked.drive(1, some, Pace())["elapsed_ns"]
    return round(elapsed_ns * transactions / some)
