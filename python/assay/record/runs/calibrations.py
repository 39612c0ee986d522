"""Takes what a calibration measured; keeps it, and returns the one that is nearest to a run."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable

from msgspec import structs

from assay.contracts.deployment import Deployment
from assay.contracts.observation import Observation, Observed
from assay.contracts.recorded import Build, Machine
from assay.judge.run import CalibrationRecord
from assay.record.file.json_text import json_text
from assay.record.file.record_file import insert

_COLUMNS = [
    name for name in CalibrationRecord.__struct_fields__ if name not in ("observation", "id")
]


def keep(
    connection: sqlite3.Connection,
    calibration: CalibrationRecord,
    machine: Machine,
    build: Build,
) -> None:
    """Adds a calibration of this machine and build."""
    values = {**structs.asdict(calibration), "observation": json_text(calibration.observation)}
    del values["id"]
    insert(connection, "calibrations", **values, machine=json_text(machine), build=json_text(build))


def of_experiment(connection: sqlite3.Connection, experiment_id: int) -> list[CalibrationRecord]:
    """Those of its machine, made with its build."""
    found = connection.execute(
        f"""
        SELECT calibrations.id, calibrations.observation,
               {", ".join(f"calibrations.{name}" for name in _COLUMNS)}
        FROM calibrations JOIN experiments USING (machine, build)
        WHERE experiments.id = ?
        """,
        (experiment_id,),
    )
    return [
        CalibrationRecord(
            **dict(zip(_COLUMNS, values, strict=True)), observation=json.loads(text), id=number
        )
        for number, text, *values in found
    ]


def nearest_to(
    calibrations: Iterable[CalibrationRecord],
    deployment: Deployment | None,
    observation: Observed | None,
    ended_unix_ns: int | None,
) -> CalibrationRecord | None:
    """The calibration of the run's driver that was made before the run ended: of the nearest number
    of clients, then of as many threads, then the newest. ``found``: see `of_experiment`."""
    if deployment is None or not isinstance(observation, Observation):
        return None

    def distance(calibration: CalibrationRecord) -> tuple[float, bool, int]:
        clients = abs(math.log(calibration.clients / max(1, observation.clients)))
        return clients, calibration.threads != observation.threads, -calibration.id

    suitable = (
        one
        for one in calibrations
        if one.driver == deployment.address.driver
        and (ended_unix_ns is None or one.begun_unix_ns <= ended_unix_ns)
    )
    return min(suitable, key=distance, default=None)
