"""`--precision` and `--budget`: what is planned, said and kept."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import pytest

from assay.record import DEFAULT_FILE_NAME
from commands import Assay
from running import started, wait_for_state

FILE = """\
script = ["one.sql"]
systems = ["null"]
clients = [1, 2]
precision = "50%"
budget = "5min"
[drive]
duration_s = 0.4
think_time = "constant:1ms"
"""


@pytest.fixture
def folder(working_folder: Path) -> Path:
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    (working_folder / "e.toml").write_text(FILE)
    return working_folder


def test_the_plan_says_how_often_and_the_report_why_it_ended(folder: Path, assay: Assay) -> None:
    plan = assay("plan", "e.toml")
    assert plan.err.startswith("3 to 30 repetitions of each cell, until its mean is known within")
    rows = [line for line in plan.out.splitlines() if line.lstrip()[:1].isdigit()]
    assert len(rows) == 2 * 3, "those that take place in any case"
    with started(folder, "run", "e.toml") as running:
        wait_for_state(folder, "done")
        running.send_signal(signal.SIGKILL)
        running.communicate()
    ended = assay("run", "e.toml")
    assert ended.status == 0
    assert "continue experiment 1" in ended.err
    found = ended.experiment
    assert not found.is_unfinished and found.id == 1
    assert all(3 <= cell.measured == cell.repetitions < 30 for cell in found.cells.values())
    assert "precision    ±50 % asked" in ended.out
    cells = assay("report", "--format", "json").document["tables"]["cells"]
    assert {cell["repetitions_ended_by"] for cell in cells} == {"precise enough"}
    assert all(0 <= cell["precision_ratio"] <= 0.5 for cell in cells)
    connection = sqlite3.connect(folder / DEFAULT_FILE_NAME)
    assert connection.execute("SELECT DISTINCT state FROM runs").fetchall() == [("done",)]
    connection.close()
    assert "as experiment 2" in assay("run", "e.toml", "--only", "null", "--budget", "1").err


@pytest.mark.parametrize("precision", ["0%", "200%", "5", "x", "-1%"])
def test_a_precision_that_cannot_be_is_refused(precision: str, folder: Path, assay: Assay) -> None:
    refused = assay("plan", "one.sql", "--on", "null", f"--precision={precision}")
    assert refused.status == 2
    assert (
        f"--precision: expected a percentage from 0.1% to 50%, found '{precision}'" in refused.err
    )
    (folder / "e.toml").write_text(FILE.replace("50%", precision))
    of_file = assay("plan", "e.toml")
    assert of_file.status == 2
    assert "e.toml:4: precision: expected a percentage" in of_file.err
