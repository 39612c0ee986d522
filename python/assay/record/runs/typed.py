"""Takes documents of a run as they are kept; gives what judging and reporting read of them, typed
(`ShapeError` with document and key where one has another shape); and the nearest calibration."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable
from typing import Any, cast

from msgspec import structs

from assay.contracts.deployment import Deployment
from assay.contracts.documents import ShapeError, convert, with_hidden
from assay.contracts.observation import Observation, Observed
from assay.contracts.recorded import Build, Machine
from assay.errors import Bug
from assay.judge.result_checks import Check
from assay.judge.run import CalibrationRecord
from assay.record.file.kept_texts import json_text
from assay.record.file.record_file import insert


def deployment(document: Any, name: str) -> Deployment | None:
    """As it was; None where there is none. Raises `ShapeError`, with ``name`` and the key."""
    if document is None:
        return None
    try:
        return convert(_with_hidden(document), Deployment, name)
    except Bug as error:  # a damaged record: no node, for example
        raise ShapeError(f"{name}: {error.message}") from None


_TEXTS = ("options", "settings", "settings_asked")
"""Mappings of texts; the password of an endpoint stays null."""


def _with_hidden(document: Any) -> Any:
    """With `HIDDEN` for each of these texts that is a secret, at its endpoints too."""
    if not isinstance(document, dict):
        return document
    hidden = {name: with_hidden(document[name]) for name in _TEXTS if name in document}
    if isinstance(document.get("endpoints"), list):
        hidden["endpoints"] = [_with_hidden(endpoint) for endpoint in document["endpoints"]]
    return {**document, **hidden}


def machine(document: Any) -> Machine:
    """The same, seen to be of the shape that judging and reports read; with its further keys."""
    convert(document, Machine, "machine")
    return cast(Machine, document)


def checks(document: Any, name: str) -> tuple[Check, ...]:
    return convert(document, tuple[Check, ...], name)


def changes(document: Any) -> dict[str, tuple[Any, Any]]:
    return convert(document, dict[str, tuple[Any, Any]], "changes")


def build(document: Any) -> Build:
    """The same, seen to be of the shape that reports read; with its further keys."""
    convert(document, Build, "build")
    return cast(Build, document)


_CALIBRATION_COLUMNS = [
    name for name in CalibrationRecord.__struct_fields__ if name not in ("observation", "id")
]


def keep_calibration(
    connection: sqlite3.Connection, calibration: CalibrationRecord, machine: Machine, build: Build
) -> None:
    """Adds a calibration of this machine and build."""
    values = {**structs.asdict(calibration), "observation": json_text(calibration.observation)}
    del values["id"]
    insert(connection, "calibrations", **values, machine=json_text(machine), build=json_text(build))


def calibrations_of_experiment(
    connection: sqlite3.Connection, experiment_id: int
) -> list[CalibrationRecord]:
    """Those of its machine, made with its build."""
    found = connection.execute(
        f"""
        SELECT calibrations.id, calibrations.observation,
               {", ".join(f"calibrations.{name}" for name in _CALIBRATION_COLUMNS)}
        FROM calibrations JOIN experiments USING (machine, build)
        WHERE experiments.id = ?
        """,
        (experiment_id,),
    )
    return [
        CalibrationRecord(
            **dict(zip(_CALIBRATION_COLUMNS, values, strict=True)),
            observation=json.loads(text),
            id=number,
        )
        for number, text, *values in found
    ]


def nearest_calibration(
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
