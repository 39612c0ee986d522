"""Takes a run that has ended and the dispute over its answers; makes its numbers invalid and its
checks wrong."""

from __future__ import annotations

import json
import sqlite3
from typing import TypedDict

from assay.errors import RunFailed
from assay.judge.check.questions import Dispute
from assay.record.file.json_text import json_text, storable
from assay.text.secrets import without_secrets


class _CheckDocument(TypedDict):
    """Of a `Check`, what a dispute changes; further keys stay."""

    id: str
    ok: bool | None
    note: str


def keep(connection: sqlite3.Connection, run_id: int, dispute: Dispute) -> None:
    """What an earlier dispute said is replaced."""
    (verdict, said) = connection.execute(
        "SELECT verdict, verdict_reason FROM runs WHERE id = ?", (run_id,)
    ).fetchone()
    reason, before = (storable(without_secrets(text)) for text in (dispute.reason, dispute.before))
    if before and before in said:
        reason = said.replace(before, reason)
    elif verdict == "invalid":
        reason = f"{said}; {reason}"
    connection.execute(
        "UPDATE runs SET verdict = 'invalid', verdict_reason = ?, "
        "exit_status = coalesce(nullif(exit_status, 0), ?) WHERE id = ?",
        (reason, RunFailed.exit_code, run_id),
    )
    for step, document in connection.execute(
        "SELECT step, document FROM checks WHERE run_id = ?", (run_id,)
    ).fetchall():
        checks = [_disputed(check, dispute) for check in json.loads(document)]
        connection.execute(
            "UPDATE checks SET document = ? WHERE run_id = ? AND step = ?",
            (json_text(checks), run_id, step),
        )


def _disputed(check: _CheckDocument, dispute: Dispute) -> _CheckDocument:
    note = dispute.notes.get(check["id"])
    if note is None:
        return check
    own = check["note"].partition("results differ")[0].removesuffix("; ")
    return {**check, "ok": False, "note": f"{own}; {note}" if own else note}
