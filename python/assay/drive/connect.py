"""Takes a way to drive; lets clients work within one session, and with one for each transaction;
gives what a session costs.

Kreymer (1995): «By moving the server connect and disconnect code in and out of this loop we have
measured the connect+disconnect overhead».
"""

from __future__ import annotations

from collections.abc import Callable

from assay.drive.transactions import Observation
from assay.errors import RunFailed

Drive = Callable[[str], Observation]
"""Drives the clients with connections as `Driving.connection` says."""


def observe(drive: Drive) -> Observation:
    """The observation of the clients that connect for each transaction; its ``connect`` holds the
    times of one turn of both loops, and their difference."""
    outside = drive("kept")
    inside = drive("per transaction")
    outside_ns, inside_ns = _turn_ns(outside), _turn_ns(inside)
    inside["connect"] = {
        "inside_ns": inside_ns,
        "outside_ns": outside_ns,
        "connect_ns": inside_ns - outside_ns,
    }
    return inside


def _turn_ns(observation: Observation) -> int:
    """One transaction of one client, with whatever the loop has around it."""
    ended: int = observation["outcomes"]["ok"]
    if not ended or ended < observation["outcomes"]["scheduled"]:
        errors = observation["errors"]
        first = f": {errors[0]['class']}: {errors[0]['message']}" if errors else ""
        raise RunFailed(f"a transaction of the loop failed{first}")
    turns: int = ended // observation["clients"]
    elapsed_ns: int = observation["elapsed_ns"]
    return round(elapsed_ns / turns)
