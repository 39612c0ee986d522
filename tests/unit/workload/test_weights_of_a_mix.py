"""Weights of a mix are numbers, or parameters, which can be factors."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ArgumentError, ExperimentError
from assay.experiment.from_command_line import Words, experiment
from assay.plan import plan
from assay.plan.drives import drives
from assay.workload import reader
from step_workloads import folder_of

READS = """
[parameters.reads]
type = "int"
default = 9
help = "Reads of ten transactions"
"""
BY_PARAMETER = (
    'scripts = ["read@:reads", "write@1"]\nduration_s = 1\n',
    'mix = { read = "reads", "write.sql" = 1 }\nduration_s = 1\n',
)


def _weights(folder: Path, *settings: str) -> list[dict[str, int]]:
    asked, workload = experiment(Words(str(folder), on=("null",), set=settings))
    return [dict(drives(workload, run)[0].mix) for run in plan(asked, workload).runs]


@pytest.mark.parametrize("declared", BY_PARAMETER)
def test_a_parameter_is_a_weight_and_a_factor(tmp_path: Path, declared: str) -> None:
    folder = folder_of(tmp_path, declared + READS)
    assert _weights(folder) == [{"read": 9, "write": 1}]
    levels = _weights(folder, "reads=0,50")
    assert sorted(found["read"] for found in levels) == [0, 50]


def test_shares_become_whole_weights(tmp_path: Path) -> None:
    shares = READS.replace('"int"', '"float"').replace("= 9", "= 0.95")
    shares += shares.replace("parameters.reads", "parameters.writes").replace("0.95", "0.05")
    declared = 'mix = { read = "reads", "write.sql" = "writes" }\nduration_s = 1\n'
    folder = folder_of(tmp_path, declared + shares)
    assert _weights(folder) == [{"read": 95, "write": 5}]
    assert _weights(folder, "reads=1", "writes=0") == [{"read": 1, "write": 0}]
    assert _weights(folder, "reads=0.1234") == [{"read": 1234, "write": 500}]
    for setting in ("reads=0.12345", "reads=-0.5", "reads=1e7"):
        with pytest.raises(ArgumentError, match=r"weight"):
            _weights(folder, setting)


def test_a_group_and_a_step_have_weights_too(tmp_path: Path) -> None:
    group = """
[[tests.t.steps]]
do = "drive"
duration_s = 1

[[tests.t.steps.groups]]
name = "all"
scripts = ["read@:reads", "write@2"]
"""
    folder = folder_of(tmp_path, group + READS)
    asked, workload = experiment(Words(str(folder), on=("null",), set=("reads=3",)))
    (run,) = plan(asked, workload).runs
    (found,) = drives(workload, run)[0].groups
    assert (dict(found.mix), found.order) == ({"read": 3, "write": 2}, "mix")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("reads=-1",), "reads = -1, the weight of read: expected a whole number from 0 to"),
        (("reads=5,-1",), "reads = -1, the weight of read"),
        (("reads=0",), None),
    ],
)
def test_a_level_that_is_no_weight_is_refused_before_the_run(
    tmp_path: Path, settings: tuple[str, ...], message: str | None
) -> None:
    folder = folder_of(tmp_path, BY_PARAMETER[0] + READS)
    if message is None:
        assert _weights(folder, *settings) == [{"read": 0, "write": 1}]
        return
    with pytest.raises(ArgumentError, match=message):
        _weights(folder, *settings)


def test_a_mix_in_which_nothing_is_left_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 'scripts = ["read@:reads"]\nduration_s = 1\n' + READS)
    with pytest.raises(
        ArgumentError, match="no script of the mix has a weight above 0: read reads"
    ):
        _weights(folder, "reads=0")


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ('scripts = ["read@:raeds"]', "neither a number nor a parameter"),
        ('scripts = ["read@many"]', "read@many: expected a whole number"),
        ('scripts = ["read@1", "read@2"]', "read has two weights"),
        ('scripts = ["read@1"]\norder = "sequence"', "weights have no effect in a sequence"),
        ('mix = { read = "name" }', "the parameter name is of type text"),
    ],
)
def test_what_is_no_weight_is_refused_with_its_line(
    tmp_path: Path, declared: str, message: str
) -> None:
    more = READS + '\n[parameters.name]\ntype = "text"\ndefault = "x"\nhelp = "A word"\n'
    with pytest.raises(ExperimentError, match=message) as refused:
        reader.read(str(folder_of(tmp_path, f"{declared}\nduration_s = 1\n" + more)))
    assert refused.value.line
