"""Takes the cells of a plan; returns what their earlier runs took, and which of its runs have ended
in the experiment that would be continued."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from assay.plan import Plan
from assay.record import continuing
from assay.record.runs_again import ENDED, Runs

_LATEST = 5
"""So many of a cell's runs count."""


class Earlier(NamedTuple):
    """What earlier runs of a cell took."""

    elapsed_s: float
    """On average, with provision and load."""
    size_on_disk_bytes: int | None
    """Of the data, at most; None: it was not measured."""


class Unfinished(NamedTuple):
    """The experiment that `assay run` would continue."""

    experiment_id: int
    states: Mapping[int, str]
    """Position in the plan of each run that has ended → its state."""


def earlier(connection: sqlite3.Connection, cells: Iterable[str]) -> dict[str, Earlier]:
    """By the fingerprint of the cell; those that were never done are left out."""
    found = {}
    for cell in dict.fromkeys(cells):
        runs = connection.execute(
            "SELECT ended_unix_ns - begun_unix_ns, "
            "(SELECT max(json_extract(document, '$.size_on_disk_bytes')) FROM datasets "
            "WHERE run_id = runs.id) "
            "FROM runs WHERE cell_fingerprint = ? AND state = 'done' ORDER BY id DESC LIMIT ?",
            (cell, _LATEST),
        ).fetchall()
        if runs:
            sizes = [size for _, size in runs if size is not None]
            elapsed_s = sum(elapsed_ns for elapsed_ns, _ in runs) / len(runs) / 1e9
            found[cell] = Earlier(elapsed_s, max(sizes, default=None))
    return found


def unfinished(
    connection: sqlite3.Connection, command: Mapping[str, Any], plan: Plan
) -> Unfinished | None:
    """None where `assay run` would begin anew. Runs are found by their cells: whether a script, the
    data or a version has changed is seen when they are executed."""
    experiment_id = continuing.unfinished(connection, command)
    if experiment_id is None:
        return None
    found = Runs(connection, experiment_id, set())
    matched = {run.position: found.match(run) for run in plan.runs}
    return Unfinished(
        experiment_id,
        {place: old.state for place, old in matched.items() if old and old.state in ENDED},
    )
