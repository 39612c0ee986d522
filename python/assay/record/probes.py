"""Takes what a probe found of a storage; keeps it, and returns the one that belongs to a run."""

from __future__ import annotations

import json
import sqlite3

from assay.observation import shape
from assay.probe import Probe
from assay.record.document import json_text
from assay.record.file import insert


def keep(connection: sqlite3.Connection, run_id: int, probe: Probe) -> None:
    """Adds the probe that was made before this run."""
    insert(
        connection,
        "probes",
        run_id=run_id,
        storage=probe.storage,
        begun_unix_ns=probe.begun_unix_ns,
        document=json_text(probe.document),
    )


def of_run(connection: sqlite3.Connection, run_id: int) -> Probe | None:
    """The last probe of the run's storage in its experiment that was made before the run ended: an
    experiment that was resumed has made its storages, and probed them, again."""
    found = connection.execute(
        """
        SELECT probes.document
        FROM runs
        JOIN runs AS probed USING (experiment_id)
        JOIN probes ON probes.run_id = probed.id AND probes.storage = runs.storage
        WHERE runs.id = ?
          AND probes.begun_unix_ns <= coalesce(runs.ended_unix_ns, probes.begun_unix_ns)
        ORDER BY probes.begun_unix_ns DESC LIMIT 1
        """,
        (run_id,),
    ).fetchone()
    return (
        None if found is None else shape.read(Probe, json.loads(found[0]), f"run {run_id}: probe")
    )
