"""Takes a record that another process may be writing; returns what each load generator of a step
does, or did, and what its clients have done so far."""

from __future__ import annotations

import msgspec

from assay.contracts.engine.drive import ClientsSoFar
from assay.contracts.observation import GeneratorReport, clients_left
from assay.record.progress.under_way import Connection, Place

_AT_WORK = """
SELECT 1, elapsed_ns / 1e9, UNMEASURED, work.document
FROM generators_at_work AS work LEFT JOIN drives USING (run_id, step)
WHERE run_id = ? AND step = ?
"""
_OBSERVED = """
SELECT 0, json_extract(seen.document, '$.elapsed_ns') / 1e9, UNMEASURED,
       seen.document -> '$.generators'
FROM observations AS seen LEFT JOIN drives USING (run_id, step)
WHERE run_id = ? AND step = ?
"""
_CLIENTS = "SELECT clients FROM generators_at_work WHERE run_id = ? AND step = ?"
_UNMEASURED = (
    "coalesce(json_extract(drives.document, '$.ramp_up_s'), 0) "
    "+ coalesce(json_extract(drives.document, '$.warm_up_s'), 0)"
)


class GeneratorsOfStep(msgspec.Struct, frozen=True):
    are_at_work: bool
    """The reports are of what they have done so far; lag and how busy they were, of the last
    second."""
    elapsed_s: float
    """Of the measurement."""
    unmeasured_s: float
    """Of the ramp-up and warm-up before it, which times since clients began include."""
    reports: tuple[GeneratorReport, ...]
    clients_left: str
    """As `assay.contracts.observation.clients_left`."""


def of_step(connection: Connection, place: Place, *, has_ended: bool) -> GeneratorsOfStep | None:
    """None where one process drives all clients. ``has_ended``: it was observed."""
    question = (_OBSERVED if has_ended else _AT_WORK).replace("UNMEASURED", _UNMEASURED)
    row = connection.execute(question, place).fetchone()
    if row is None or row[3] is None:
        return None
    are_at_work, elapsed_s, unmeasured_s, text = row
    reports = msgspec.json.decode(text, type=tuple[GeneratorReport, ...])
    measured_s = max(0.0, elapsed_s - unmeasured_s) if are_at_work else elapsed_s
    if not reports:
        return None
    return GeneratorsOfStep(
        bool(are_at_work), measured_s, unmeasured_s, reports, clients_left(reports)
    )


def clients_so_far(connection: Connection, place: Place) -> ClientsSoFar | None:
    """None where nothing is known yet, or the step has ended."""
    row = connection.execute(_CLIENTS, place).fetchone()
    return None if row is None else msgspec.json.decode(row[0], type=ClientsSoFar | None)
