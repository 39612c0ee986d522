"""Takes numbers of runs and a question about one table; returns its rows by run, or by step.

There is one question for all of the runs: SQLite takes longer to begin one than to read the few
rows of a run.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

RUNS = "(SELECT value FROM json_each(?))"
"""In a question: the numbers of the runs."""

Row = tuple[Any, ...]


def by_run(
    connection: sqlite3.Connection, runs: Sequence[int], question: str
) -> dict[int, list[Row]]:
    """The first column of the question is the number of the run; the others are returned. Runs
    without rows are not in the result."""
    found: dict[int, list[Row]] = {}
    for run_id, *values in connection.execute(question, (json.dumps(runs),)):
        found.setdefault(run_id, []).append(tuple(values))
    return found


def by_step(
    connection: sqlite3.Connection, runs: Sequence[int], question: str
) -> dict[tuple[int, int], list[Row]]:
    """The first two columns are the number of the run and the position of its step."""
    found: dict[tuple[int, int], list[Row]] = {}
    for run_id, step, *values in connection.execute(question, (json.dumps(runs),)):
        found.setdefault((run_id, step), []).append(tuple(values))
    return found
