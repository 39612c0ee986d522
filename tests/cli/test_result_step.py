"""Of several steps that measure, the one that is declared has the numbers of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Assay
from step_workloads import folder_of

STEPS = """\
[[tests.t.steps]]
do = "load"

[[tests.t.steps]]
do = "drive"
name = "reads"
scripts = ["read.sql"]
passes = 7
{result}
[[tests.t.steps]]
do = "drive"
name = "clean-up"
scripts = ["vacuum.sql"]
passes = 1
{again}"""
RESULT = "result = true\n"


def workload(folder: Path, result: str = "", again: str = "") -> Path:
    """A drive, and a timed clean-up."""
    steps = STEPS.format(result=result, again=again)
    return folder_of(folder / "mine", steps, vacuum="VACUUM;\n")


@pytest.mark.parametrize(("result", "transactions"), [(RESULT, 7), ("", 1)])
def test_the_declared_step_is_the_result(
    result: str, transactions: int, assay: Assay, working_folder: Path
) -> None:
    ended = assay("run", workload(working_folder, result), "--on", "sqlite")
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.driven is not None
    assert run.driven.outcomes.ok == transactions
    report = assay("report", "1", "--format", "markdown").out
    beside = [line for line in report.splitlines() if "| drive | " in line]
    assert len(beside) == 2  # a row for each step, with its TPS


def test_two_results_are_refused(assay: Assay, working_folder: Path) -> None:
    ended = assay("run", workload(working_folder, RESULT, RESULT), "--on", "sqlite")
    assert ended.status == 2
    assert "two steps are the result of the test: expected one" in ended.err
