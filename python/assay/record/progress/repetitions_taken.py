"""Takes an experiment that is under way; reads how long its runs took and, once where it goes on,
those that ended in a process before; removes planned runs that are not needed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from assay.judge.run import Run
from assay.record.runs import reading


class Taken(NamedTuple):
    """How long a run took."""

    elapsed_s: float
    """From its beginning to its end, with provision and load."""
    driven_s: float
    """From the first step behind the load on: what a further repetition takes at least."""


def taken(connection: sqlite3.Connection, experiment_id: int, position: int) -> Taken:
    """By the run at that position, which has ended."""
    begun_unix_ns, driven_from_ns, ended_unix_ns = connection.execute(
        """
        SELECT coalesce(begun_unix_ns, ended_unix_ns),
               (SELECT min(begun_unix_ns) FROM stages
                WHERE run_id = runs.id AND state = 'driving'),
               ended_unix_ns
        FROM runs WHERE experiment_id = ? AND position = ?
        """,
        (experiment_id, position),
    ).fetchone()
    if driven_from_ns is None:
        driven_from_ns = begun_unix_ns
    return Taken((ended_unix_ns - begun_unix_ns) / 1e9, (ended_unix_ns - driven_from_ns) / 1e9)


def ended(
    connection: sqlite3.Connection, experiment_id: int, positions: Iterable[int]
) -> dict[int, Run]:
    """The runs at these positions, which ended in a process before."""
    found = {}
    for position in positions:
        (run_id,) = connection.execute(
            "SELECT id FROM runs WHERE experiment_id = ? AND position = ?",
            (experiment_id, position),
        ).fetchone()
        found[position] = reading.run(connection, run_id)
    return found


def spare(connection: sqlite3.Connection, experiment_id: int, positions: Iterable[int]) -> None:
    """Removes planned runs that have not begun."""
    for position in positions:
        connection.execute(
            "DELETE FROM runs WHERE experiment_id = ? AND position = ? AND state = 'planned'",
            (experiment_id, position),
        )
