"""Where each script is sent, as a workload or `--read` says it: plans have it with the names of the
scripts that a step runs, and as one word where all of them go there."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.contracts.driving import read_of
from assay.errors import ArgumentError, ExperimentError
from assay.experiment.from_command_line import Words, experiment
from assay.plan import plan
from assay.plan.drives import drives
from assay.workload.ad_hoc_script import workload_of
from step_workloads import folder_of

MIX = "transactions = 1\nmix = { write = 1, look = 3, find = 3 }\n"
GROUPS = """duration_s = 1
{read}
[[tests.t.steps]]
do = "load"
[[tests.t.steps]]
do = "drive"
[[tests.t.steps.groups]]
name = "writers"
scripts = ["write"]
[[tests.t.steps.groups]]
name = "both"
scripts = ["write", "look"]
[[tests.t.steps.groups]]
name = "readers"
scripts = ["look", "find"]
read = "any"
"""


def planned(folder: Path, **words: str) -> dict[str, str]:
    """By group (empty: none) where its scripts are sent."""
    for name in ("look", "find"):
        (folder / f"{name}.sql").write_text("SELECT 1;\n")
    asked, _ = experiment(Words(str(folder), on=("postgresql",), **words))
    workload = workload_of(asked)
    (run,) = plan(asked, workload).runs
    (drive,) = drives(workload, run)
    return {one.name: one.driving.read for one in drive.groups} or {"": drive.run.cell.driving.read}


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ('read = "replica"', "replica"),
        ('read = { look = "replica" }', "look=replica"),
        ('read = { look = "replica", find = "any" }', "find=any,look=replica"),
        ('read = { "*" = "replica" }', "replica"),
        ('read = { "look.sql" = "primary" }', "primary"),
    ],
)
def test_scripts_are_sent_where_a_test_says(tmp_path: Path, read: str, expected: str) -> None:
    assert planned(folder_of(tmp_path, MIX + read + "\n")) == {"": expected}


def test_the_option_takes_the_place_of_what_the_test_says(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, MIX + 'read = { look = "replica" }\n')
    assert planned(folder, read="find=any") == {"": "find=any"}


def test_groups_have_what_their_step_says_of_their_scripts(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, GROUPS.format(read='read = { look = "replica" }'))
    assert planned(folder) == {"writers": "primary", "both": "look=replica", "readers": "any"}


def test_others_go_to_the_primary() -> None:
    assert [read_of("a=replica,b=any", name) for name in "abc"] == ["replica", "any", "primary"]
    assert read_of("any", "a") == "any"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("lok=replica", "no script is called lok"),
        ("look=replicas", "expected primary, replica or any, or SCRIPT=WORD"),
        ("look", "expected primary, replica or any, or SCRIPT=WORD"),
        ("=any", "expected primary, replica or any, or SCRIPT=WORD"),
    ],
)
def test_a_wrong_word_is_refused(tmp_path: Path, word: str, message: str) -> None:
    folder = folder_of(tmp_path, MIX)
    with pytest.raises(ArgumentError) as refused:
        planned(folder, read=word)
    assert message in refused.value.message


@pytest.mark.parametrize("read", ["{}", '{ look = "replicas" }', '"look"'])
def test_a_wrong_key_is_refused_with_its_line(tmp_path: Path, read: str) -> None:
    folder = folder_of(tmp_path, f"{MIX}read = {read}\n")
    with pytest.raises(ExperimentError) as refused:
        planned(folder)
    assert refused.value.line is not None
