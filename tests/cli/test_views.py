"""Views of a workload: read by scripts and checks, spelled for a dialect where it needs that,
dropped with the tables, and never in the place of one that was there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from assay.errors import ArgumentError, ExperimentError
from assay.workload import reader
from step_workloads import folder_of, ran

TEST = 'scripts = ["few"]\ntransactions = 3\n'
VIEWS = """
[[views]]
name = "few"
query = "SELECT id FROM data WHERE id < 4;"

[[views]]
name = "fewer"
query = "SELECT nothing FROM few"
[views.overrides]
sqlite = "SELECT id FROM few WHERE id < 3"
duckdb = "SELECT id FROM few WHERE id < 3"
"""
READS = "SELECT id FROM fewer;\n\\expect rows 2\n"


def of_views(folder: Path, views: str = VIEWS) -> Path:
    made = folder_of(folder, TEST + views, few=READS)
    (made / "checks").mkdir()
    (made / "checks" / "none.sql").write_text("SELECT id FROM fewer WHERE id > 2;\n")
    return made


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_scripts_and_checks_read_a_view(tmp_path: Path, system: str) -> None:
    (run,) = ran(of_views(tmp_path), system).runs
    assert (run.state, run.reason) == ("done", "")
    assert [check["found"] for check in run.checks if check["id"] == "none"] == [0]


def test_a_view_of_ours_is_dropped_and_another_is_left(tmp_path: Path) -> None:
    file, folder = tmp_path / "own.db", of_views(tmp_path / "w")
    with closing(sqlite3.connect(file)) as base:
        base.execute("CREATE VIEW mine AS SELECT 1 AS id")
        ran(folder, f"sqlite:///{file}")
        views = "SELECT name FROM sqlite_master WHERE type = 'view'"
        assert base.execute(views).fetchall() == [("mine",)]
        base.execute("CREATE VIEW few AS SELECT 5 AS id")
        with pytest.raises(ArgumentError, match="holds a view or a table few already"):
            ran(folder, f"sqlite:///{file}", records=tmp_path / "second.sqlite")
        assert base.execute("SELECT id FROM few").fetchall() == [(5,)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"few"', '"data"', "a second table or view is called data"),
        ("id < 4;", "id < :least", "the query of a view has no variables, found :least"),
        ("sqlite =", "sqlit =", "no dialect is called 'sqlit'"),
        ("query = ", "qeury = ", "query is missing"),
    ],
)
def test_mistakes_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = of_views(tmp_path, VIEWS.replace(old, new, 1))
    with pytest.raises(ExperimentError) as caught:
        reader.read(str(folder))
    assert message in caught.value.message
    assert caught.value.line > 0
