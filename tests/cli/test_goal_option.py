"""`--goal`: what is planned, said and kept, on a system whose capacity is known."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assay import env_vars
from assay.comparison.goals import CONFIRMED
from assay.contracts.observation.costs import OTHERS_LIMIT
from commands import IN_MEMORY, Assay
from running import started, wait_for_state

FILE = """\
script = ["one.sql"]
systems = ["null[delay=constant:100ms]"]
clients = 1
goal = "mean < 5s"
goal_tolerance = "100%"
[drive]
duration_s = 1
offered_rate_per_s = [1, 80]
"""
CAPACITY_PER_S = 10


def is_decided(goal: dict[str, Any]) -> bool:
    """Where it is not, other programs were at work, and no level is said."""
    if goal["not_decided"] is None:
        return True
    assert goal["not_decided"].startswith("other programs used ")
    assert goal["other_programs"] > OTHERS_LIMIT
    assert (goal["met_at_per_s"], goal["not_met_at_per_s"]) == (None, None)
    assert (goal["met_at"], goal["not_met_at"], goal["at_limit"]) == (None, None, None)
    assert goal["found"] == f"not decided: {goal['not_decided']}"
    return False


@contextlib.contextmanager
def busy_cpus() -> Iterator[None]:
    """Other programs, one for each CPU, which work for a third of the time."""
    code = "import time\nwhile True:\n    until = time.process_time() + 0.005\n"
    code += "    while time.process_time() < until: pass\n    time.sleep(0.01)"
    busy = [sys.executable, "-c", code]
    programs = [subprocess.Popen(busy) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


@pytest.fixture
def folder(working_folder: Path) -> Path:
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    (working_folder / "e.toml").write_text(FILE)
    return working_folder


def test_the_capacity_lies_in_the_interval_that_is_said(folder: Path, assay: Assay) -> None:
    plan = assay("plan", "e.toml", "--format", "json")
    assert "goal mean < 5s: usually 4 trials of each cell" in plan.err
    assert [run["position"] for run in json.loads(plan.out)] == [5], "the middle of nine"
    with started(folder, "run", "e.toml") as running:
        wait_for_state(folder, "done")
        running.send_signal(signal.SIGKILL)
        _, first = running.communicate()
    ended = assay("run", "e.toml")
    assert ended.status == 0
    assert "continue experiment 1" in ended.err
    assert "run 1 of at most " in first
    assert "goal         mean < 5s: " in ended.out
    found = ended.experiment
    assert not found.is_unfinished and found.id == 1
    report = assay("report", "--format", "json").document["tables"]
    (goal,) = report["goals"]
    assert goal["trials"] == len(report["cells"])
    assert goal["offered_rate_per_s"] is None
    if is_decided(goal):
        assert goal["not_met_at_per_s"] <= 4 * CAPACITY_PER_S
        assert goal["not_met_runs"] >= CONFIRMED
        if goal["met_at_per_s"] is not None:
            assert goal["met_at_per_s"] <= 2 * CAPACITY_PER_S < 80
            assert goal["met_runs"] >= CONFIRMED
    assert "The highest offered rate with mean < 5s" in assay("report").out


@pytest.mark.usefixtures("folder")
def test_a_percentile_of_too_few_is_missed_with_a_lower_one(assay: Assay) -> None:
    words = ("--goal", "p99 < 20ms", "--offered-rate", "20,80", "--goal-tolerance", "100%")
    on = ("--on", "null[delay=constant:40ms]", "--clients", "4", "--duration", "1")
    ended = assay("run", "one.sql", *on, *words, "--no-probe")
    assert ended.status == 0, ended.err
    said = " ".join(ended.out.split())
    (goal,) = assay("report", "--format", "json").document["tables"]["goals"]
    if is_decided(goal):
        assert "none met it, not even at 20/s (already the p50 latency 4" in said, said


@pytest.mark.usefixtures("folder")
def test_trials_that_other_programs_disturb_are_measured_again_and_decide_nothing(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They use all CPUs for the whole search."""
    monkeypatch.setenv(env_vars.REPEAT_DISTURBED.name, "yes")
    words = ("--goal", "p99 < 1us", "--offered-rate", "60,80", "--goal-tolerance", "100%")
    with busy_cpus():
        ended = assay("run", "one.sql", "--on", "null", "--clients", "1", "--duration", "1", *words)
    assert ended.status == 0, ended.err
    tables = assay("report", "--format", "json").document["tables"]
    (goal,) = tables["goals"]
    assert not is_decided(goal)
    again = [run for run in tables["runs"] if run["in_place_of"] is not None]
    assert 3 <= len(again) <= 3 * goal["trials"]
    assert f"goal         p99 < 1us: not decided: {goal['not_decided'][:20]}" in ended.out
    assert "not decided" in assay("report").out


def test_a_single_disturbed_run_is_measured_again_unless_you_say_otherwise(
    assay: Assay, working_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script that writes to your file is not run more often than you asked."""
    monkeypatch.setenv(env_vars.REPEAT_DISTURBED.name, "yes")
    with closing(sqlite3.connect(working_folder / "shop.db")) as shop:
        shop.execute("CREATE TABLE sale (n)")
    (working_folder / "writes.sql").write_text("INSERT INTO sale VALUES (1);\n")
    in_memory = (*IN_MEMORY, "--on", "sqlite", "--warm-up", "0")
    again = "1 of 2 runs left out, as other programs disturbed it; 1 measured again"
    with busy_cpus():
        for words, runs in (
            (("tpcb", *in_memory), 2),
            (("tpcb", *in_memory, "--no-repeat"), 1),
            (("writes.sql", "--on", "sqlite:///shop.db", "--no-durability"), 1),
        ):
            ended = assay("run", *words, "--clients", "2", "--duration", "1")
            assert (ended.status, len(ended.runs)) == (0, runs), ended.out + ended.err
            assert "2 repetitions" not in ended.out
            assert (again in " ".join(ended.out.split())) is (runs == 2)
            assert "starved" not in ended.out


def sized_workload(folder: Path, script: str, transactions: str) -> None:
    """With a parameter ``size``."""
    folder.mkdir()
    (folder / "workload.toml").write_text(
        'title = "Sizes"\nsource = "none"\ndefault_test = "all"\n[data]\nsource = "none"\n'
        '[parameters.size]\ntype = "int"\ndefault = 1\nhelp = "Rows"\n'
        '[tests.all]\ntitle = "All"\nhelp = "All"\nscripts = ["one.sql"]\n'
        f"transactions = {transactions}\n"
    )
    (folder / "one.sql").write_text(script)


COUNTING = """\
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < :size)
SELECT count(*) FROM n;
"""


def test_a_size_far_beyond_the_limit_is_not_run_to_its_end(
    assay: Assay, working_folder: Path
) -> None:
    """The larger sizes would take an hour each."""
    sized_workload(working_folder / "work", COUNTING, "1")
    sizes = "size=100,10000000000,20000000000"
    ended = assay(
        "run", "work", "--on", "sqlite", *IN_MEMORY, "--goal", "elapsed < 700ms",
        "--goal-over", "size", "--set", sizes,
    )  # fmt: skip
    assert ended.status == 0, ended.out + ended.err
    why = "elapsed time more than 2.1 s: ended, 3 times the limit"
    assert f"run 2 exceeded: {why}" in ended.err
    by_size = {run.parameters["size"]: run for run in ended.runs}
    assert (by_size[100].state, by_size[100].reason) == ("done", "")
    excessive = by_size[10_000_000_000]
    assert (excessive.state, excessive.reason, excessive.verdict) == ("exceeded", why, "")
    tables = assay("report", "--format", "json").document["tables"]
    (goal,) = tables["goals"]
    if is_decided(goal):
        assert (goal["met_at"], goal["not_met_at"], goal["at_limit"]) == (100, 10_000_000_000, None)
        assert goal["why_not_met"] == why
        assert "goal         elapsed < 700ms: met up to size 100 (elapsed time" in ended.out
        assert f"not at size 10000000000 ({why})" in " ".join(ended.out.split())
    row = next(one for one in tables["runs"] if one["state"] == "exceeded")
    assert (row["elapsed_ns"], row["reason"]) == (None, why)
    assert "exceeded (elapsed time more than 2.1 s: ended" in assay("report").out
    assert "errors" not in {one for run in tables["runs"] for one in run["warnings"]}
    assert "1 exceeded" in ended.out and "failed" not in ended.out.partition("TPS")[0]


def test_the_largest_size_whose_run_ends_within_a_limit(assay: Assay, working_folder: Path) -> None:
    """Each transaction takes 20 ms: 25 of them fit into half a second, some busy day 12."""
    sized_workload(working_folder / "work", "SELECT 1;\n", '"size"')
    ended = assay(
        "run", "work", "--on", "null[delay=constant:20ms]", "--goal", "elapsed < 500ms",
        "--goal-over", "size", "--set", "size=1,2,5,10,20,50,100,200",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    timed = ("--goal", "elapsed < 500ms", "--goal-over", "size", "--set", "size=1,2")
    refused = assay("plan", "work", "--on", "null", "--duration", "1", *timed)
    assert "hint: leave --duration out" in refused.err
    (goal,) = assay("report", "--format", "json").document["tables"]["goals"]
    assert goal["trials"] <= 4
    assert goal["met_at_per_s"] is None
    if is_decided(goal):
        assert goal["met_at"] in (10, 20)
        assert goal["not_met_at"] in (20, 50)
        assert "goal         elapsed < 500ms: met up to size" in ended.out
    assert "The highest size with elapsed < 500ms" in assay("report").out
