"""Takes what a probe found of a storage; keeps it, and returns the one that belongs to a run."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from assay.contracts.observation.parts import shape
from assay.probe import Probe
from assay.record.file.json_text import json_text
from assay.record.file.record_file import insert


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


def of_experiment(connection: sqlite3.Connection, experiment_id: int) -> list[Probe]:
    """All of its probes, the last one first."""
    found = connection.execute(
        """
        SELECT run_id, document FROM probes
        WHERE run_id IN (SELECT id FROM runs WHERE experiment_id = ?)
        ORDER BY begun_unix_ns DESC
        """,
        (experiment_id,),
    )
    return [shape.read(Probe, json.loads(text), f"run {one}: probe") for one, text in found]


def of_run(probes: Iterable[Probe], storage: str, ended_unix_ns: int | None) -> Probe | None:
    """The last probe of the run's storage that was made before the run ended: an experiment that
    was resumed has made its storages, and probed them, again. ``found``: see `of_experiment`."""
    return next(
        (
            one
            for one in probes
            if one.storage == storage
            and (ended_unix_ns is None or one.begun_unix_ns <= ended_unix_ns)
        ),
        None,
    )
