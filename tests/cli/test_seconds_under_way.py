"""The seconds of a run are in the record while they pass, for any other process; what was observed
takes their place when the run ends, and a kill leaves them."""

from __future__ import annotations

import csv
import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import forked_programs
from assay.provision.undo.leftovers import clear_leftovers
from assay.record import DEFAULT_FILE_NAME, Store
from commands import run_in
from forked_programs import Started
from waiting import HANG_S, wait_until

SECONDS = "SELECT second, group_name, ok, failed, mean_ns, p99_ns FROM intervals ORDER BY 1, 2"


def started(folder: Path, *words: str) -> Started:
    (folder / "one.sql").write_text("select 1;\n")
    return forked_programs.start(
        "assay",
        ["run", "one.sql", "--on", "null[delay=constant:1ms]", "--clients", "4", *words],
        folder=folder,
        environment={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
    )


def asked(folder: Path, question: str) -> list[tuple[Any, ...]]:
    """As any program that can read SQLite; nothing while there is no record."""
    path = folder / DEFAULT_FILE_NAME
    if not path.exists():
        return []
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
        try:
            return connection.execute(question).fetchall()
        except sqlite3.OperationalError:
            return []


def test_another_process_reads_each_second_and_the_observation_takes_their_place(
    tmp_path: Path,
) -> None:
    with started(tmp_path, "--duration", "15") as running:
        wait_until(lambda: len(asked(tmp_path, SECONDS)) > 1, "two seconds have passed")
        assert asked(tmp_path, "SELECT count(*) FROM observations") == [(0,)]
        first = asked(tmp_path, SECONDS)[0]
        assert asked(tmp_path, "SELECT state FROM runs") == [("driving",)]
        report = run_in(tmp_path, "report", "latest", "--format", "intervals-csv")
        assert running.poll() is None, "the run is still under way"
        _, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 0, message
    assert report.returncode == 0, report.stderr
    lines = list(csv.DictReader(report.stdout.splitlines()))
    assert [line["second"] for line in lines[:2]] == ["0", "1"]
    assert int(lines[0]["ok"]) == first[2] > 100
    second, group, _, failed, mean_ns, p99_ns = first
    assert (second, group, failed) == (0, "", 0)
    assert 1e6 < mean_ns <= p99_ns
    after = asked(tmp_path, SECONDS)
    assert [row[0] for row in after] == list(range(len(after))), "each second once"
    assert after[0] == first
    assert asked(tmp_path, "SELECT count(*) FROM seconds") == [(0,)]
    with Store(tmp_path / DEFAULT_FILE_NAME, must_exist=True) as store:
        (run,) = store.latest().runs
    assert run.driven is not None and len(run.driven.intervals) == len(after)


def test_a_kill_leaves_the_seconds_of_an_unfinished_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started(tmp_path, "--duration", "120") as running:
        wait_until(lambda: len(asked(tmp_path, SECONDS)) > 1, "two seconds have passed")
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=HANG_S)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    clear_leftovers()
    left = asked(tmp_path, SECONDS)
    assert len(left) > 1
    with Store(tmp_path / DEFAULT_FILE_NAME, must_exist=True) as store:
        (run,) = store.latest().runs
    assert (run.state, run.reason, run.observation) == ("interrupted", "process ended", None)
    assert [(one.second, one.ok) for one in run.seconds] == [row[::2][:2] for row in left]


@pytest.mark.parametrize("mode", ["EXCLUSIVE", "IMMEDIATE"])
def test_a_locked_record_does_not_hold_up_a_measurement(tmp_path: Path, mode: str) -> None:
    with started(tmp_path, "--duration", "3") as running:
        wait_until(lambda: asked(tmp_path, SECONDS), "a second has passed")
        path = tmp_path / DEFAULT_FILE_NAME
        with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as connection:
            connection.execute(f"BEGIN {mode}")
            time.sleep(2.5)
            connection.execute("ROLLBACK")
        _, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 0, message
    counts = [row[2] for row in asked(tmp_path, SECONDS)]
    assert len(counts) >= 3 and all(count > 100 for count in counts[:3])
