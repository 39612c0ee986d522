"""Takes the runs of a plan; returns what earlier ones took, and which of them have ended in the
experiment that would be continued."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from assay.contracts.recorded import Command
from assay.plan import Plan, PlannedRun
from assay.plan.forecast import CellTimes
from assay.record.file.json_text import json_text, storable
from assay.record.progress import continuing
from assay.text.secrets import without_secrets

_LATEST = 5
"""So many earlier runs count for the size of data."""


class UnfinishedExperiment(NamedTuple):
    """The experiment that `assay run` would continue."""

    experiment_id: int
    states: Mapping[int, str]
    """Position in the plan of each run that has ended → its state."""
    under_way_in: int | None
    """The process that is at work on it, in which case `assay run` refuses; None: there is none."""
    runs: Mapping[int, bool]
    """Number of each of its runs → whether it has ended."""


_TIMES = """
WITH done AS (
  SELECT id, experiment_id, repetition = 1 AS is_first, begun_unix_ns, ended_unix_ns
  FROM runs WHERE cell_fingerprint = ? AND state = 'done' AND superseded = 0)
SELECT is_first, ended_unix_ns - begun_unix_ns,
       ended_unix_ns - coalesce(
         (SELECT min(begun_unix_ns) FROM stages WHERE run_id = one.id AND state = 'driving'),
         begun_unix_ns)
FROM done AS one
WHERE experiment_id = (SELECT max(experiment_id) FROM done WHERE is_first = one.is_first)
"""


def times(connection: sqlite3.Connection, cells: Iterable[str]) -> dict[str, CellTimes]:
    """How long the runs of a cell took, by its fingerprint: first repetitions and later ones, each
    in the last experiment that has done one. Cells that were never done are left out."""
    found = {}
    for cell in dict.fromkeys(cells):
        runs = connection.execute(_TIMES, (cell,)).fetchall()
        if runs:
            first_s = [elapsed_ns / 1e9 for is_first, elapsed_ns, _ in runs if is_first]
            later_s = [elapsed_ns / 1e9 for is_first, elapsed_ns, _ in runs if not is_first]
            driven_s = [
                driven_ns / 1e9 for is_first, _, driven_ns in runs if is_first or not first_s
            ]
            found[cell] = CellTimes(_mean(first_s), _mean(later_s), fmean(driven_s))
    return found


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


_SIZES = """
SELECT json_extract(cell, '$.system.options'),
       json_extract(document, '$.size_on_disk_bytes') AS size_bytes
FROM runs JOIN experiments ON experiments.id = experiment_id
          JOIN datasets ON datasets.run_id = runs.id
WHERE test = ? AND system = ? AND runs.parameters = ? AND experiments.workload = ?
      AND size_bytes IS NOT NULL
ORDER BY runs.id DESC LIMIT ?
"""


def sizes_on_disk(connection: sqlite3.Connection, runs: Iterable[PlannedRun]) -> dict[int, int]:
    """Bytes of the data that the same system was filled with for the same test and parameters, on
    any storage and at most; by the position of the run. Those that were never loaded are left
    out."""
    asked: dict[str, int | None] = {}
    found = {}
    for run in runs:
        cell = run.cell
        place = (cell.test, cell.system.name, json_text(cell.parameters), storable(cell.workload))
        options = dict(cell.system.options)
        key = json_text([place, options])
        if key not in asked:
            rows = connection.execute(_SIZES, (*place, _LATEST)).fetchall()
            known = [size for given, size in rows if json.loads(given or "{}") == options]
            asked[key] = max(known, default=None)
        size_bytes = asked[key]
        if size_bytes is not None:
            found[run.position] = size_bytes
    return found


def data_bytes(
    connection: sqlite3.Connection, workload: str, run: PlannedRun, input_fingerprint: str
) -> int | None:
    """What the data of the run's test took on disk in earlier runs, at most, on any storage: with
    the same workload and input, system and parameters. None: there are none."""
    cell = run.cell
    rows = connection.execute(
        "SELECT json_extract(datasets.document, '$.size_on_disk_bytes'), "
        "json_extract(datasets.document, '$.fingerprint') "
        "FROM runs JOIN experiments ON experiments.id = runs.experiment_id "
        "JOIN datasets ON datasets.run_id = runs.id "
        "WHERE experiments.workload_fingerprint = ? AND runs.test = ? AND runs.system_label = ? "
        "AND runs.parameters = ?",
        (
            workload,
            cell.test,
            storable(without_secrets(cell.system_label)),
            json_text(cell.parameters),
        ),
    )
    sizes = [
        int(size_bytes)
        for size_bytes, loaded in rows
        if size_bytes is not None and (loaded in input_fingerprint or not input_fingerprint)
    ]
    return max(sizes, default=None)


def unfinished(
    connection: sqlite3.Connection, command: Command, plan: Plan
) -> UnfinishedExperiment | None:
    """None where `assay run` would begin anew. Runs are found by their cells: whether a script, the
    data or a version has changed is seen when they are executed."""
    found = continuing.find(connection, plan, (), command)
    if found is None or not (found.is_under_way or found.is_of_use):
        return None
    return UnfinishedExperiment(
        found.experiment_id,
        {place: old.run.state for place, old in found.kept.items()},
        found.before.identity.pid if found.is_under_way else None,
        {old.run.id: old.is_ended for old in found.runs.runs},
    )
