"""An experiment that was interrupted, or stopped in any stage, is continued."""

from __future__ import annotations

import csv
import json
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from assay.record import DEFAULT_FILE_NAME, Store
from commands import Assay, need, run_in
from running import said_until, server_of, started, wait_for_second, wait_for_state
from step_workloads import folder_of
from waiting import HANG_S

FILE = """\
script = ["one.sql"]
systems = ["null", "sqlite"]
clients = [1, 2]
[drive]
duration_s = 1
think_time = "constant:2ms"
"""


@pytest.fixture
def folder(working_folder: Path) -> Path:
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    (working_folder / "e.toml").write_text(FILE)
    return working_folder


def rows(folder: Path, question: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / DEFAULT_FILE_NAME)) as connection:
        return connection.execute(question).fetchall()


def run_until_second(folder: Path, number: int, *options: str) -> None:
    """Runs the file; sends the signal while the second run is at work."""
    with started(folder, "run", "e.toml", *options) as running:
        said_until(running, "run 2 of 4", "  drive")
        running.send_signal(number)
        running.communicate()


def test_a_log_of_transactions_goes_on_in_the_same_file(folder: Path, assay: Assay) -> None:
    log = ("--log", "t.csv", "--log-sample", "0.1")
    run_until_second(folder, signal.SIGKILL, *log)
    with (folder / "t.csv").open("a") as text:
        text.write("2,1,one,0,1,1,2,1,ok\n2,1,on")  # as a process that is killed leaves them
    assert assay("run", "e.toml", *log).status == 0
    with (folder / "t.csv").open(newline="") as text:
        found = Counter((int(row["run"]), row["begun_unix_ns"]) for row in csv.DictReader(text))
    kept = rows(
        folder,
        "SELECT run_id, json_extract(document, '$.started_unix_ns'), "
        "json_extract(document, '$.log.rows') FROM observations",
    )
    assert len(kept) == 4
    assert found == {(run, str(begun)): count for run, begun, count in kept}
    other = assay("run", "e.toml", *log)
    assert (other.status, "already exists" in other.err) == (2, True), "it would begin anew"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_same_file_goes_on_and_a_finished_one_begins_anew(
    folder: Path, assay: Assay, number: int
) -> None:
    run_until_second(folder, number)
    before = rows(folder, "SELECT id, begun_unix_ns FROM runs WHERE state = 'done'")
    plan = assay("plan", "e.toml")
    assert f"would continue experiment 1, in which {len(before)} of 4 runs" in plan.err
    assert plan.out.count("done") == len(before)
    another = assay("plan", "e.toml", "--new")
    assert "continue" not in another.err and "done" not in another.out
    found = assay("run", "e.toml", "--format", "markdown")
    assert found.status == 0, found.err
    assert "continue experiment 1" in found.err
    assert "began again; continued" in found.out
    assert rows(folder, "SELECT count(*), count(DISTINCT cell_fingerprint) FROM runs") == [(4, 4)]
    after = rows(folder, "SELECT id, begun_unix_ns FROM runs WHERE state = 'done'")
    assert len(after) == 4 and set(before) <= set(after)
    again = assay("run", "e.toml", "--only", "null")
    assert again.experiment.id == 2
    assert [run.state for run in again.runs] == ["done", "planned"] * 2
    assert "record       2 of 4 runs have ended; " in again.out
    header = assay("report", "--format", "markdown").out
    assert f"- unfinished: 2 of 4 runs have ended; `cd {folder} && assay run e.toml`" in header
    left = assay("run", "e.toml", "--format", "markdown")
    assert left.experiment.id == 2
    assert [run.state for run in left.runs] == ["done"] * 4
    assert "after the runs that were asked for had ended" in left.out
    assert "- interrupted: " not in left.out and "- unfinished: " not in left.out
    (first, second) = (
        json.loads(assay("report", str(number), "--format", "json").out) for number in (1, 2)
    )
    parts = [one["tables"]["continuations"][0]["is_interruption"] for one in (first, second)]
    assert parts == [True, False]
    assert (second["experiment"]["runs_ended"], second["experiment"]["continued_by"]) == (4, None)


def test_an_interrupted_part_is_continued_by_its_own_command(folder: Path, assay: Assay) -> None:
    ways = ["--no-probe", "--no-durability"]
    with started(folder, "run", "e.toml", "--only", "null", *ways) as running:
        said_until(running, "  drive")
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert "stopped in run 1 of 4" in said
    assert "the same command again continues this experiment, and begins run 1 of 4 again" in said
    header = assay("report", "--format", "markdown").out
    part = "assay run e.toml --only null --no-probe --no-durability"
    assert f"`cd {folder} && {part}` continues it" in header
    assay("report", "--format", "html", "--output", "page.html")
    assert "1 interrupted" in (folder / "page.html").read_text()
    part = assay("run", "e.toml", "--only", "null")
    assert part.experiment.id == 1
    assert [run.state for run in part.runs] == ["done", "planned"] * 2
    header = assay("report", "--format", "markdown").out
    assert f"`cd {folder} && assay run e.toml` continues it" in header


def test_a_changed_script_and_new_begin_anew(folder: Path, assay: Assay) -> None:
    run_until_second(folder, signal.SIGKILL)
    (folder / "one.sql").write_text("SELECT 2;\n")
    changed = assay("run", "e.toml", "--only", "null")
    assert changed.experiment.id == 2, "nothing of the first can be kept"
    assert assay("run", "e.toml", "--new", "--only", "null").experiment.id == 3
    assert assay("run", "e.toml", "--transactions", "5").experiment.id == 4, "another command"
    assert "continue experiment 3" in assay("run", "e.toml").err


def test_the_plan_says_what_the_run_does(folder: Path, assay: Assay) -> None:
    longer = FILE.replace("duration_s = 1", "duration_s = 6")
    (folder / "e.toml").write_text(longer)
    with started(folder, "run", "e.toml") as running:
        wait_for_state(folder, "done")
        wait = f"experiment 1 of this file is under way in process {running.pid}"
        assert f"`assay run` would be refused now: {wait}" in assay("plan", "e.toml").err
        refused = run_in(folder, "run", "e.toml")
        assert refused.returncode == 2 and wait in refused.stderr
        running.kill()
        running.communicate()
    (folder / "e.toml").write_text(longer.replace("clients = [1, 2]", "clients = [1]"))
    assert "would continue experiment 1" in assay("plan", "e.toml").err
    (folder / "e.toml").write_text(FILE.replace("duration_s = 1", "duration_s = 0.5"))
    assert "would continue" not in assay("plan", "e.toml").err
    assert assay("run", "e.toml").experiment.id == 2


@pytest.mark.usefixtures("folder")
def test_a_part_chosen_without_a_file_is_the_whole_plan(assay: Assay) -> None:
    found = assay(
        "run", "one.sql", "--on", "null,sqlite", "--transactions", "5", "--only", "sqlite"
    )
    assert found.status == 0, found.err
    assert [(run.position, run.system, run.state) for run in found.runs] == [(0, "sqlite", "done")]
    nothing = assay("plan", "one.sql", "--on", "null", "--only", "here2")
    assert nothing.status == 2
    assert "--only here2: no run has a test, a system or a storage of this name" in nothing.err


ENDLESS = """\
WITH RECURSIVE n(x) AS (
    SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE EXISTS (SELECT 1 FROM data WHERE value > 0)
)
SELECT x FROM n WHERE x < 0;
"""
"""A check that does not end once clients have written; behind the load it does."""
STAGES = {
    "provision": "  start", "probe": "  probe", "load": "  load", "drive": "  drive",
    "check": "  drive",
}  # fmt: skip
"""The line of progress with which each begins; checks have none."""


def workload(folder: Path, stage: str) -> Path:
    """A workload in which this stage takes longer than the test."""
    made = folder_of(folder / "workload", 'scripts = ["write"]\nduration_s = 0.3\n')
    if stage in ("provision", "load"):
        toml = made / "workload.toml"
        toml.write_text(toml.read_text().replace('rows = "10"', 'rows = "100000000"'))
    (made / "checks").mkdir()
    check = ENDLESS if stage == "check" else "SELECT id FROM data WHERE id < 0;\n"
    (made / "checks" / "none.sql").write_text(check)
    return made


_SIGNALS = {
    "sqlite": (signal.SIGINT, signal.SIGTERM),
    "postgresql": (signal.SIGTERM, signal.SIGINT),
}


@pytest.mark.parametrize(
    ("system", "stage", "number"),
    [
        # By turns, so that each stage has both signals; the others with `--every-system`.
        pytest.param(
            system, stage, number,
            marks=pytest.mark.same_line if (place + turn) % 2 else (),
            id=f"{system}-{stage}-{number.name}",
        )
        for system, numbers in _SIGNALS.items()
        for place, stage in enumerate(STAGES)
        for turn, number in enumerate(numbers)
    ],
)  # fmt: skip
def test_a_signal_ends_a_run_in_each_stage(
    working_folder: Path, system: str, stage: str, number: signal.Signals
) -> None:
    need(system)
    words = [str(workload(working_folder, stage)), "--on", system, "--clients", "2"]
    words += ["--probe-seconds", "600", "--again"] if stage == "probe" else ["--no-probe"]
    words += ["--duration", "600", "--think-time", "constant:5ms"] if stage == "drive" else []
    with started(working_folder, "run", *words) as running:
        message = said_until(running, STAGES[stage])
        if stage == "check":
            wait_for_state(working_folder, "checking")
        if stage == "drive":
            wait_for_second(working_folder)
        time.sleep(0.3)
        family = psutil.Process(running.pid).children(recursive=True)
        running.send_signal(number)
        _, rest = running.communicate(timeout=HANG_S)
        message += rest
    assert running.returncode == 128 + number, message
    assert f"{number.name}: stopping" in message
    assert ("ended by SIGTERM" if number is signal.SIGTERM else "interrupted") in message
    assert "Traceback" not in message and "error" not in message
    _, left = psutil.wait_procs(family, timeout=HANG_S)
    assert all(one.status() == psutil.STATUS_ZOMBIE for one in left), message
    with Store(working_folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        (run,) = store.latest().runs
    assert (run.state, run.verdict) == ("interrupted", "invalid")
    assert (run.driven is not None) == (stage in ("drive", "check"))


def test_why_a_server_ended_during_the_load_is_named(working_folder: Path) -> None:
    need("postgresql")
    words = [str(workload(working_folder, "load")), "--on", "postgresql", "--no-probe"]
    with started(working_folder, "run", *words) as running:
        said_until(running, STAGES["load"])
        time.sleep(0.5)
        server = server_of(running)
        for process in (server, *server.children()):
            with suppress(psutil.NoSuchProcess):  # ended because another was killed
                process.kill()
        running.communicate(timeout=HANG_S)
    with Store(working_folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        (run,) = store.latest().runs
    assert (run.state, running.returncode) == ("failed", 3)
    assert "SIGKILL" in run.reason, run.reason
