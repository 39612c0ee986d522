"""Takes the verdicts of cells whose last repetition has ended; writes them."""

from __future__ import annotations

import sqlite3
import time

from assay.judge.cells import Judged
from assay.record.file.json_text import json_text
from assay.record.file.record_file import insert

NONE: Judged = {}


def keep(connection: sqlite3.Connection, experiment_id: int, judged: Judged) -> None:
    """In place of what was written of these cells before."""
    for fingerprint, cell in judged.items():
        forget(connection, experiment_id, fingerprint)
        insert(
            connection,
            "cells",
            experiment_id=experiment_id,
            cell_fingerprint=fingerprint,
            repetitions=cell.repetitions,
            measured=cell.measured,
            verdict=cell.verdict.word,
            verdict_reason=cell.verdict.reason,
            warnings=json_text([warning._asdict() for warning in cell.warnings]),
            judged_unix_ns=time.time_ns(),
        )


def forget(connection: sqlite3.Connection, experiment_id: int, fingerprint: str) -> None:
    """The cell has other repetitions now."""
    connection.execute(
        "DELETE FROM cells WHERE experiment_id = ? AND cell_fingerprint = ?",
        (experiment_id, fingerprint),
    )
