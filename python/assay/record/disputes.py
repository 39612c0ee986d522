"""Takes a run that has ended, the dispute over its answers and its verdict now; writes both."""

from __future__ import annotations

import json
import sqlite3

from assay.errors import RunFailed
from assay.judge import Verdict
from assay.judge.check.questions import Dispute
from assay.record.file.json_text import json_text, storable
from assay.text.secrets import without_secrets


def keep(connection: sqlite3.Connection, run_id: int, dispute: Dispute, verdict: Verdict) -> None:
    """The documents of its checks get the notes of the dispute, in place of an earlier one's."""
    connection.execute(
        "UPDATE runs SET verdict = ?, verdict_reason = ?, "
        "exit_status = coalesce(nullif(exit_status, 0), ?) WHERE id = ?",
        (
            verdict.word,
            storable(without_secrets(verdict.reason)),
            RunFailed.exit_code,
            run_id,
        ),
    )
    for step, document in connection.execute(
        "SELECT step, document FROM checks WHERE run_id = ?", (run_id,)
    ).fetchall():
        checks = [dispute.of_check(check) for check in json.loads(document)]
        connection.execute(
            "UPDATE checks SET document = ? WHERE run_id = ? AND step = ?",
            (json_text(checks), run_id, step),
        )
