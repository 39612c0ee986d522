"""Takes what a calibration measured; keeps it, and returns the one that is nearest to a run."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from assay.observation import Observation, Observed
from assay.record.document import json_text
from assay.record.file import insert
from assay.record.records import CalibrationRecord, Document

_COLUMNS = [
    name for name in CalibrationRecord.__dataclass_fields__ if name not in ("observation", "id")
]


def keep(
    connection: sqlite3.Connection,
    calibration: CalibrationRecord,
    machine: Mapping[str, Any],
    build: Mapping[str, Any],
) -> None:
    """Adds a calibration of this machine and build."""
    values = {**asdict(calibration), "observation": json_text(calibration.observation)}
    del values["id"]
    insert(connection, "calibrations", **values, machine=json_text(machine), build=json_text(build))


def nearest_to(
    connection: sqlite3.Connection, run_id: int, site: Document | None, observation: Observed | None
) -> CalibrationRecord | None:
    """The calibration of the run's driver, on its machine and with its build, that was made before
    the run ended: of the nearest number of clients, then of as many threads, then the newest."""
    if site is None or not isinstance(observation, Observation):
        return None
    found = connection.execute(
        f"""
        SELECT calibrations.id, {", ".join(f"calibrations.{name}" for name in _COLUMNS)},
               calibrations.observation
        FROM calibrations
        JOIN experiments USING (machine, build)
        JOIN runs ON runs.experiment_id = experiments.id
        WHERE runs.id = ? AND driver = ?
          AND calibrations.begun_unix_ns <= coalesce(runs.ended_unix_ns, calibrations.begun_unix_ns)
        """,
        (run_id, site["address"]["driver"]),
    ).fetchall()

    def distance(row: tuple[Any, ...]) -> tuple[float, bool, int]:
        named = dict(zip(["id", *_COLUMNS], row, strict=False))
        clients = abs(math.log(named["clients"] / max(1, observation.clients)))
        return clients, named["threads"] != observation.threads, -named["id"]

    if not found:
        return None
    *values, text = min(found, key=distance)
    named = dict(zip(["id", *_COLUMNS], values, strict=True))
    return CalibrationRecord(**named, observation=json.loads(text))
