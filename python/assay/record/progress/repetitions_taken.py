"""Takes an experiment that is repeated as needed; reads what its runs gave, and removes the planned
runs that are not needed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from assay.judge.precision import number_to_be_precise
from assay.record.progress import cell_verdicts
from assay.record.runs import reading
from assay.record.runs.records import RunRecord


class Repetition(NamedTuple):
    """A run that has ended."""

    number: float | None
    """The one whose mean has to be precise; None: it was not measured to its end."""
    elapsed_s: float
    """From its beginning to its end, with provision and load."""
    driven_s: float
    """From the first step behind the load on: what a further repetition takes at least."""


class Taken(NamedTuple):
    """How long a run took; see `Repetition`."""

    elapsed_s: float
    driven_s: float


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


def run(connection: sqlite3.Connection, experiment_id: int, position: int) -> RunRecord:
    """That at the position."""
    (run_id,) = connection.execute(
        "SELECT id FROM runs WHERE experiment_id = ? AND position = ?", (experiment_id, position)
    ).fetchone()
    return reading.run(connection, run_id)


def read(connection: sqlite3.Connection, experiment_id: int, position: int) -> Repetition:
    """Of the run at that position, which has ended."""
    number = number_to_be_precise(run(connection, experiment_id, position).evidence)
    return Repetition(number, *taken(connection, experiment_id, position))


def spare(connection: sqlite3.Connection, experiment_id: int, positions: Iterable[int]) -> None:
    """Removes planned runs that have not begun; their cells are judged if nothing else of them is
    left to do."""
    of_cells: set[str] = set()
    for position in positions:
        place = (experiment_id, position)
        for (fingerprint,) in connection.execute(
            "SELECT cell_fingerprint FROM runs WHERE experiment_id = ? AND position = ?", place
        ):
            of_cells.add(fingerprint)
        connection.execute(
            "DELETE FROM runs WHERE experiment_id = ? AND position = ? AND state = 'planned'", place
        )
    for fingerprint in of_cells:
        of_cell = connection.execute(
            "SELECT id FROM runs WHERE experiment_id = ? AND cell_fingerprint = ? "
            "AND superseded = 0 LIMIT 1",
            (experiment_id, fingerprint),
        ).fetchone()
        if of_cell is not None:
            cell_verdicts.settle(connection, int(of_cell[0]))
