"""``changes_data`` on real systems: a test that may change the data gets fresh ones, and one that
declares no changes is refused a statement that writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from able import able, one_of_each_line
from commands import Assay, need
from step_workloads import folder_of

SYSTEMS = pytest.mark.parametrize("system", one_of_each_line(able("read only sessions")))
TWICE = ("--repetitions", "2", "--storage", "tmpfs")
ONE = "transactions = 1\nclients = [1]\n"
READS_ALL = "SELECT id FROM data;\n\\expect rows 10\n"
HIDDEN = {
    "sqlite": "WITH one AS (SELECT 1 AS id) DELETE FROM data WHERE id IN (SELECT id FROM one);\n",
    "postgresql": "DO $$ BEGIN DELETE FROM data WHERE id = 1; END $$;\n",
    "mariadb": "SELECT 1\\; DELETE FROM data WHERE id = 1;\n",
    "mysql": "SELECT 1\\; DELETE FROM data WHERE id = 1;\n",
}
"""Statements that write although their first word is not that of a writing statement."""


@SYSTEMS
def test_a_test_without_changes_data_gets_fresh_data(
    assay: Assay, tmp_path: Path, system: str
) -> None:
    need(system)
    sly = READS_ALL + "DELETE FROM data WHERE id = 1;\n"
    folder = folder_of(tmp_path / "w", f'scripts = ["sly.sql"]\n{ONE}', sly=sly)
    ended = assay("run", folder, "--on", system, *TWICE)
    assert ended.status == 0, ended.err


@SYSTEMS
@pytest.mark.parametrize("hides", [False, True])
def test_changes_data_false_is_enforced(
    assay: Assay, tmp_path: Path, system: str, hides: bool
) -> None:
    need(system)
    writes = HIDDEN[system] if hides else "DELETE FROM data WHERE id = 1;\n"
    declared = f'scripts = ["sly.sql"]\nchanges_data = false\n{ONE}'
    folder = folder_of(tmp_path / "w", declared, sly=READS_ALL + writes)
    ended = assay("run", folder, "--on", system, *TWICE)
    assert ended.status == 1
    for run in ended.runs:
        assert "the test says changes_data = false" in run.reason


@SYSTEMS
def test_groups_run_concurrently_and_dumps_have_their_result(
    assay: Assay, tmp_path: Path, system: str
) -> None:
    need(system)
    declared = """
[[tests.t.steps]]
do = "load"
[[tests.t.steps]]
do = "drive"
duration_s = 0.5
[[tests.t.steps.groups]]
name = "readers"
scripts = ["read.sql"]
clients = 3
[[tests.t.steps.groups]]
name = "writers"
scripts = ["write.sql"]
clients = 2
arrival = "poisson"
offered_rate_per_s = 30
[[tests.t.steps]]
do = "restart"
[[tests.t.steps]]
do = "drive"
name = "list"
scripts = ["write.sql"]
clients = 4
queue = 100
"""
    ended = assay("run", folder_of(tmp_path / "w", declared), "--on", system, "--storage", "tmpfs")
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert [one.state for one in run.steps] == ["done"] * 4
    first, last = (one.driven for one in run.steps if one.driven is not None)
    readers, writers = first.groups
    assert readers.outcomes.ok > 0
    assert writers.outcomes.ok > 0
    assert last.outcomes.ok == 100
