"""A record that is locked when a run ends: the measurement goes to a rescue file, which can be
merged."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import forked_programs
from waiting import wait_until


def test_a_measurement_outlives_a_lock_on_its_record(tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    record = tmp_path / "r.sqlite"
    words = [
        "one.sql",
        "--on",
        "null[delay=constant:1ms]",
        "--clients",
        "1",
        "--duration",
        "2",
        "--records",
        record,
    ]
    environment = {**os.environ, "ASSAY_RECORD_TIMEOUT_S": "2"}
    with forked_programs.start(
        "assay", ["run", *words], folder=tmp_path, environment=environment
    ) as run:
        wait_until(lambda: ask(record, "SELECT 1 FROM drives"), "clients are at work")
        other = sqlite3.connect(record, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        report, message = run.communicate()
        other.close()
    assert run.returncode == 3, message
    assert "another process has locked" in message
    assert "throughput" in report, "the report is made from the rescue file"
    (rescue,) = tmp_path.glob("r.sqlite.rescue-*-1")
    assert f"assay merge {rescue} --records {record}" in " ".join(message.split())
    assert ask(record, "SELECT ended_unix_ns, state = 'done' FROM runs") == [(None, 0)]
    merged = forked_programs.run("assay", ["merge", rescue, "--records", record])
    assert merged.returncode == 0, merged.stderr
    assert "added 1 run" in merged.stderr
    assert ask(record, "SELECT state FROM runs") == [("done",)]
    assert ask(record, "SELECT ok > 0 FROM outcomes") == [(1,)]


def ask(record: Path, question: str) -> list[tuple[object, ...]]:
    if not record.exists():
        return []
    connection = sqlite3.connect(record)
    try:
        return connection.execute(question).fetchall()
    except sqlite3.OperationalError:
        return []  # it is being made
    finally:
        connection.close()
