"""Takes a run that has ended; keeps its cell's verdict, if it was the cell's last repetition."""

from __future__ import annotations

import sqlite3
import time

from assay import judge
from assay.record.file.json_text import json_text
from assay.record.file.record_file import insert
from assay.record.runs import reading


def settle(connection: sqlite3.Connection, run_id: int) -> None:
    """Does nothing while a repetition of the cell has not ended."""
    place = connection.execute(
        "SELECT experiment_id, cell_fingerprint FROM runs WHERE id = ?", (run_id,)
    ).fetchone()
    of_cell = "FROM runs WHERE experiment_id = ? AND cell_fingerprint = ? AND superseded = 0"
    unended = f"SELECT 1 {of_cell} AND ended_unix_ns IS NULL LIMIT 1"
    if connection.execute(unended, place).fetchone() is not None:
        return
    ids = connection.execute(f"SELECT id {of_cell} ORDER BY repetition", place).fetchall()
    runs = [reading.run(connection, id_) for (id_,) in ids]
    found = judge.of_cell([(run.evidence, run.judged) for run in runs])
    connection.execute("DELETE FROM cells WHERE experiment_id = ? AND cell_fingerprint = ?", place)
    insert(
        connection,
        "cells",
        experiment_id=place[0],
        cell_fingerprint=place[1],
        repetitions=found.repetitions,
        measured=found.measured,
        verdict=found.verdict.word,
        verdict_reason=found.verdict.reason,
        warnings=json_text([warning._asdict() for warning in found.warnings]),
        judged_unix_ns=time.time_ns(),
    )
