"""Takes the state that a run enters, and how it ends; keeps it, with the time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from assay.record.file.json_text import storable
from assay.record.file.record_file import insert
from assay.record.runs.run_ends import EndState
from assay.text.secrets import without_secrets


def enter(connection: sqlite3.Connection, run_id: int, state: str, now_ns: int) -> None:
    """Adds the stage, and sets the run's state to it."""
    insert(connection, "stages", run_id=run_id, state=state, begun_unix_ns=now_ns)
    connection.execute(
        "UPDATE runs SET state = ?, begun_unix_ns = coalesce(begun_unix_ns, ?) WHERE id = ?",
        (state, now_ns, run_id),
    )


def end(
    connection: sqlite3.Connection,
    run_id: int,
    state: EndState,
    reason: str,
    verdict: tuple[str, str],
    warnings: Iterable[tuple[str, str]],
    exit_status: int | None,
    now_ns: int,
) -> None:
    """Keeps why it ended so, its verdict (word, reason) and its warnings (name, detail).
    ``exit_status``: see `assay.record.runs.run_ends`."""
    for position, (name, detail) in enumerate(warnings):
        insert(
            connection,
            "warnings",
            run_id=run_id,
            position=position,
            name=name,
            detail=storable(without_secrets(detail)),
        )
    enter(connection, run_id, state, now_ns)
    word, why = verdict
    connection.execute(
        "UPDATE runs SET reason = ?, verdict = ?, verdict_reason = ?, exit_status = ?, "
        "ended_unix_ns = ? WHERE id = ?",
        (
            storable(without_secrets(reason)),
            word,
            storable(without_secrets(why)),
            exit_status,
            now_ns,
            run_id,
        ),
    )
