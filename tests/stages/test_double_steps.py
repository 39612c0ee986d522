"""A kind of step of another package is one file and one line: it is read, planned, taken and
reported like a built-in one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import doubles
from assay.errors import ExperimentError
from step_workloads import HEAD, folder_of, ran

STEPS = """\
scripts = ["read.sql"]
transactions = 3

[[tests.t.steps]]
do = "load"

[[tests.t.steps]]
do = "mark"
name = "before"
file = "{file}"

[[tests.t.steps]]
do = "drive"
"""


@pytest.fixture(autouse=True)
def _registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    with doubles.registered():
        yield


def test_it_is_taken_in_its_place_and_on_record(tmp_path: Path) -> None:
    file = tmp_path / "marks"
    (run,) = ran(folder_of(tmp_path / "w", STEPS.format(file=file)), "null").runs
    assert [(one.do, one.name, one.state) for one in run.steps] == [
        ("load", "", "done"),
        ("mark", "before", "done"),
        ("drive", "", "done"),
    ]
    assert file.read_text(encoding="utf-8") == "null\n"
    assert run.driven is not None and run.driven.outcomes.ok == 3


def test_its_mistakes_are_reported_at_their_line(tmp_path: Path) -> None:
    declared = STEPS.replace('file = "{file}"', 'fil = "marks"')
    line = HEAD.count("\n") + declared[: declared.index('do = "mark"')].count("\n")
    with pytest.raises(ExperimentError, match=r"file") as refused:
        ran(folder_of(tmp_path / "w", declared), "null")
    assert refused.value.line in (line, line + 1)


def test_a_system_that_lacks_what_it_needs_refuses_the_run(tmp_path: Path) -> None:
    declared = f'[[tests.t.steps]]\ndo = "mark"\nfile = "{tmp_path / "marks"}"\n'
    (run,) = ran(folder_of(tmp_path / "w", declared), "documents").runs
    assert (run.state, "transactions" in run.reason) == ("refused", True)
    assert not (tmp_path / "marks").exists()
