"""A statement that leaves a part of its changes where it fails is not counted as undone, nor done
again; a server's message hides a password where it is kept and where it is shown."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from assay.record import DEFAULT_FILE_NAME
from commands import IN_MEMORY, Assay, need
from step_workloads import folder_of

MARIADB = "mariadb[engine=MyISAM]"


@pytest.mark.parametrize(
    ("system", "script", "expected"),
    [
        (MARIADB, "INSERT INTO data (id, value) VALUES (:n, 1), (-:n, 2), (:n, 3);\n", "unknown"),
        ("mariadb", "INSERT INTO data (id, value) VALUES (:n, 1), (-:n, 2), (:n, 3);\n", "failed"),
        (MARIADB, "BEGIN;\nINSERT INTO data (id, value) VALUES (:n, 1);\n\\abort\n", "unknown"),
        ("sqlite", "INSERT OR FAIL INTO data (id, value) VALUES (:n, 1), (:n, 2);\n", "unknown"),
        ("sqlite", "INSERT INTO data (id, value) VALUES (:n, 1), (:n, 2);\n", "failed"),
    ],
)
def test_what_may_stay_is_unknown(
    assay: Assay, tmp_path: Path, system: str, script: str, expected: str
) -> None:
    need(system.partition("[")[0])
    folder = folder_of(tmp_path / "w", 'scripts = ["write.sql"]\ntransactions = 10\n')
    (folder / "write.sql").write_text("\\set n 1000000 + :transaction_number\n" + script)
    ended = assay(
        "run", str(folder), "--on", system, "--clients", "1", "--retries", "3", *IN_MEMORY
    )
    (run,) = ended.runs
    assert run.driven is not None
    outcomes = run.driven.outcomes
    assert getattr(outcomes, expected) == outcomes.scheduled == 10
    assert outcomes.attempts == 10


def test_a_password_in_a_statement_that_fails_is_hidden(
    assay: Assay, working_folder: Path, tmp_path: Path
) -> None:
    need("postgresql")
    script = tmp_path / "role.sql"
    script.write_text("ALTER ROLE nobody_x PASSWORD 'geheim';\n")
    ended = assay("run", str(script), "--on", "postgresql", "--transactions", "2", *IN_MEMORY)
    assert "***" in ended.out and "geheim" not in ended.out + ended.err
    with closing(sqlite3.connect(working_folder / DEFAULT_FILE_NAME)) as record:
        kept = [line for line in record.iterdump() if "geheim" in line]
    assert all('INTO "scripts"' in line for line in kept), "the script itself, and nothing else"
