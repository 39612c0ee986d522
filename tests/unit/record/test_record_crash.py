"""A process killed in the middle of a run: ended runs are complete, this run is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.record import Store

pytestmark = pytest.mark.slow
VICTIM = """
import sys, time
from pathlib import Path
from msgspec import structs
import invented_records as invented
from assay.record import Store

with Store(Path(sys.argv[1])) as store:
    planned = invented.plan([invented.POSTGRESQL, invented.SQLITE, invented.MARIADB])
    store.begin_experiment(
        planned.experiment, planned, structs.replace(invented.FACTS, build={})
    )
    invented.write_run(store, planned.runs[0], 5 * invented.S)
    store.begin_run(planned.runs[1])
    store.provisioned(invented.deployment(planned.runs[1].cell))
    print("killable", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A record whose process was killed with kill -9 while its second run was loading."""
    path = tmp_path / "records.sqlite"
    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
    )
    try:
        assert victim.stdout is not None
        assert victim.stdout.readline() == "killable\n"
        with Store(path, must_exist=True) as store:
            states = [run.state for run in store.runs()]
            assert store.latest().is_under_way
        assert states == ["done", "loading", "planned"], "as seen while the process lives"
    finally:
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        if victim.stdout is not None:
            victim.stdout.close()
    return path


def test_runs_before_the_kill_are_whole_and_the_run_under_way_is_interrupted(path: Path) -> None:
    with Store(path, must_exist=True) as store:
        experiment = store.latest()
    assert [run.state_shown for run in experiment.runs] == [
        "done",
        "interrupted (process ended)",
        "planned",
    ]
    assert not experiment.is_under_way
    first, second, _ = experiment.runs
    assert first.driven is not None and first.driven.elapsed_ns == 5_000_000_000
    assert second.deployment is not None, "what the killed run had handed over is kept"
    assert second.data is None


def test_the_next_experiment_records_the_end_of_the_killed_one(path: Path) -> None:
    import invented_records as invented

    invented.experiment(path, invented.plan([invented.SQLITE]), 1.0)
    import sqlite3

    connection = sqlite3.connect(path)
    found = connection.execute("SELECT state, reason FROM runs WHERE id = 2").fetchall()
    connection.close()
    assert found == [("interrupted", "process ended")]
