"""Takes an observation; returns what happened in each of its seconds, all groups together."""

from __future__ import annotations

from assay.contracts.observation import Interval, Observation


def ok(observation: Observation) -> list[int]:
    """Transactions of the clients that ended ok, second by second, without those that they had
    queued for others (`Observation.of_clients`)."""
    deferred = {group.name for group in observation.groups if group.is_deferred}
    return [
        sum(one.ok for one in groups if one.group not in deferred)
        for groups in _seconds(observation)
    ]


def suspended(observation: Observation) -> frozenset[int]:
    """The seconds in which this program did not run all the time."""
    return frozenset(
        at
        for at, groups in enumerate(_seconds(observation))
        if any(one.suspended_ns for one in groups)
    )


def _seconds(observation: Observation) -> list[list[Interval]]:
    """The rows of each second, one of each group."""
    by_second: dict[int, list[Interval]] = {}
    for one in observation.intervals:
        by_second.setdefault(one.second, []).append(one)
    return [by_second[second] for second in sorted(by_second)]
