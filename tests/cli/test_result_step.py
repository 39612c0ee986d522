"""Of several steps that measure, the one that is declared has the numbers of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Assay

WORKLOAD = """\
title = "A drive, and a timed clean-up"
source = "none"
default_test = "both"
default_system = "sqlite"

[data]
source = "generated"

[[tables]]
name = "t"
rows = "10"
primary_key = ["id"]

[tables.columns]
id = "int not null"

[tables.values]
id = ":row"

[tests.both]
title = "Reads, then a clean-up"
help = "Two steps that measure"

[[tests.both.steps]]
do = "load"

[[tests.both.steps]]
do = "drive"
name = "reads"
scripts = ["read.sql"]
passes = 7
{result}
[[tests.both.steps]]
do = "drive"
name = "clean-up"
scripts = ["vacuum.sql"]
passes = 1
{again}"""
RESULT = "result = true\n"


def workload(folder: Path, result: str = "", again: str = "") -> str:
    made = folder / "mine"
    made.mkdir()
    (made / "workload.toml").write_text(WORKLOAD.format(result=result, again=again))
    (made / "read.sql").write_text("SELECT count(*) FROM t;\n")
    (made / "vacuum.sql").write_text("VACUUM;\n")
    return "mine"


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
