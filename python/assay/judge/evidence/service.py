"""Takes an observation; finds clients that were hardly served, and time that is not accounted for.

A histogram does not show a transaction that never ends. In a closed loop it shows in its client,
which completes fewer transactions than the others, and its time is missing in Little's law: clients
= throughput x (latency + pause).
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts.observation import Observation
from assay.contracts.observation.parts.service import InFlight
from assay.text import units

STARVED_SHARE = 0.10
"""A client with less than this share of the transactions of the most served one is starved."""
LEAST_MOST = 30
"""Transactions that the most served client must have ended, so that it is not chance."""
LAW_LIMIT = 0.10
"""Share of the clients that may be missing by Little's law."""


def is_unequal(observation: Observation) -> bool:
    return bool(starved(observation) or missing_by_law(observation))


def starved(observation: Observation) -> str:
    """Which clients ended hardly anything beside others of their group; empty where there are none,
    or where it is unknown."""
    if observation.littles_law is None:
        return ""
    by_group: dict[str, list[int]] = {}
    for one in observation.client_ends:
        if one.state == "done":
            by_group.setdefault(one.group, []).append(one.transactions)
    for ended in by_group.values():
        most = max(ended)
        few = [count for count in ended if count < STARVED_SHARE * most]
        if most >= LEAST_MOST and few:
            return _starved_words(ended, few, observation.in_flight)
    return ""


def _starved_words(ended: Sequence[int], few: Sequence[int], in_flight: InFlight) -> str:
    words = f"{len(few)} of {units.counted(len(ended), 'client')} ended {_range(few)} transactions"
    words += f", the most served {max(ended)}"
    if in_flight.count:
        oldest_s = in_flight.oldest_ns / 1e9
        words += f"; {in_flight.count} under way at the end, the oldest for {oldest_s:.1f} s"
    return words


def missing_by_law(observation: Observation) -> str:
    """How many clients are missing by Little's law; empty where none are, or none is kept."""
    law = observation.littles_law
    if law is None or not law.clients or 1 - law.clients_by_law / law.clients <= LAW_LIMIT:
        return ""
    return f"{law.clients:.2f} clients at work, {law.clients_by_law:.2f} in the figures"


def _range(few: Sequence[int]) -> str:
    least, most = min(few), max(few)
    return str(least) if least == most else f"{least}-{most}"
