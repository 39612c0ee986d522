"""How clients are driven: declared by a test, overridden by an experiment, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay import registry
from assay.errors import ArgumentError, ExperimentError
from assay.experiment import Driving, Experiment
from assay.experiment.from_command_line import Words, experiment
from assay.plan import Cell, plan
from assay.workload import reader
from assay.workload.values import Workload

WORKLOAD = """\
title = "Driven"
source = "nowhere"
default_test = "timed"

[data]
source = "generated"

[parameters.seconds]
type = "float"
default = 4.0
help = "How long"

[parameters.pause]
type = "text"
default = "exponential:1s"
help = "Between two transactions"

[tests.timed]
title = "Timed"
help = "By time"
duration_s = "seconds"
warm_up_s = 2
think_time = "pause"
retries = { most = 3, classes = ["deadlock"] }
reconnect = { timeout_s = 5 }
isolation = "serializable"

[tests.timed.mix]
one = 45
two = 55
"""


def folder_of(folder: Path, text: str = WORKLOAD) -> Path:
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    for name in ("one", "two"):
        (folder / f"{name}.sql").write_text(f"-- {name}: a select\nselect 1;\n")
    return folder


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    return reader.read(str(folder_of(tmp_path)))


def cells(folder: Path, **words: Any) -> list[Cell]:
    asked, found = experiment(Words(str(folder), on=("sqlite",), **words))
    return [run.cell for run in plan(asked, found).runs]


def test_a_test_declares_how_its_clients_are_driven(workload: Workload) -> None:
    test = workload.test("timed")
    assert (test.order, test.mix, test.scripts) == ("mix", {"one": 45, "two": 55}, ("one", "two"))
    assert [
        one.weight for one in workload.scripts_for(test, registry.system("sqlite").dialect)
    ] == [45, 55]
    assert test.driving == Driving(
        duration_s="seconds",
        warm_up_s=2,
        think_time="pause",
        retries=3,
        retry_classes=("deadlock",),
        reconnect_timeout_s=5.0,
        isolation="serializable",
    )


def test_parameters_become_numbers_and_the_command_line_overrides(tmp_path: Path) -> None:
    (as_it_is,) = cells(folder_of(tmp_path))
    assert (as_it_is.driving.duration_s, as_it_is.driving.think_time) == (4.0, "exponential:1s")
    levels = cells(tmp_path, set=("seconds=1,8",), warm_up_s=0.5, think_time="none", retries=0)
    assert [one.driving.duration_s for one in levels] == [1.0, 8.0]
    assert {(one.driving.warm_up_s, one.driving.think_time) for one in levels} == {(0.5, None)}
    assert {one.driving.retries for one in levels} == {0}


def test_a_given_limit_replaces_all_limits_of_the_test(tmp_path: Path) -> None:
    (cell,) = cells(folder_of(tmp_path), transactions=7)
    assert cell.driving.stop == {"transactions": 7}
    (cell,) = cells(tmp_path, transactions=7, duration_s=3.0)
    assert cell.driving.stop == {"transactions": 7, "duration_s": 3.0}


def test_each_offered_rate_is_a_cell_of_an_open_loop(tmp_path: Path) -> None:
    found = cells(folder_of(tmp_path), offered_rate_per_s="100,250.5", think_time="none")
    assert [one.driving.offered_rate_per_s for one in found] == [100.0, 250.5]
    assert {one.driving.arrival for one in found} == {"constant"}
    assert len({one.fingerprint for one in found}) == 2
    (poisson,) = cells(tmp_path, offered_rate_per_s="9", arrival="poisson", think_time="none")
    assert poisson.driving.arrival == "poisson"


def test_different_driving_makes_a_different_cell(tmp_path: Path) -> None:
    folder_of(tmp_path)
    changes: list[dict[str, Any]] = [
        {},
        {"warm_up_s": 3.0},
        {"ramp_up_s": 1.0},
        {"duration_s": 5.0},
        {"latency_limit_s": 0.02},
        {"retries": 1},
        {"isolation": "read committed"},
        {"connection": "per transaction"},
        {"read": "replica"},
        {"per_statement": True},
        {"allow_shell": True},
        {"keying_time": "constant:1ms"},
        {"script": (str(tmp_path / "one.sql"),)},
    ]
    fingerprints = [cells(tmp_path, **change)[0].fingerprint for change in changes]
    assert len(set(fingerprints)) == len(changes)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ({"arrival": "poisson", "think_time": "none"}, "no rate is given", "--offered-rate 1000"),
        ({"offered_rate_per_s": "100"}, "think_time has no effect in an open", "--think-time none"),
        (
            {"offered_rate_per_s": "100", "arrival": "closed"},
            "no effect in a closed loop",
            "--arrival",
        ),
        ({"offered_rate_per_s": "ten"}, "found 'ten'", "--offered-rate 1000,2000"),
        (
            {"offered_rate_per_s": "0"},
            r"transactions per second from 0.000001 to 10,000,000, or a profile .*, found '0'",
            "--offered-rate 1000,2000",
        ),
        ({"think_time": "1s"}, "--think-time: expected a distribution", "exponential:1s"),
        ({"set": ("pause=often",)}, "think_time is 'often'", "exponential:1s"),
        (
            {"set": ("seconds=0",)},
            "duration_s = 0.0: expected a number of seconds from 0.001",
            None,
        ),
    ],
)
def test_invalid_driving_is_refused_with_the_fix(
    tmp_path: Path, words: dict[str, Any], message: str, hint: str | None
) -> None:
    with pytest.raises(ArgumentError, match=message) as refused:
        cells(folder_of(tmp_path), **words)
    assert hint is None or hint in str(refused.value.hint)


@pytest.mark.parametrize(
    ("wrong", "line", "complaint"),
    [
        ('duration_s = "second"', 21, "neither a number nor a parameter"),
        ('duration_s = "pause"', 21, "the parameter pause is of type text; expected int or float"),
        ("passes = 1", 21, "a mix has no passes"),
        ('duration_s = 1\narrival = "open"', 22, "invalid value"),
        ('duration_s = 1\nthink_tiem = "pause"', 22, "did you mean 'think_time'"),
        ('duration_s = 1\nkeying_time = "1s"', 22, "not a distribution of pauses"),
        ('duration_s = 1\nconnection = "new"', 22, "invalid value"),
        ('duration_s = 1\nread = "standby"', 22, "invalid value"),
        ("duration_s = 1\nramp_up_s = -1", 22, "of seconds from 0"),
        ('duration_s = 1\ndata = "some"', 22, "invalid value"),
    ],
)
def test_a_mistake_in_a_test_is_placed(
    tmp_path: Path, wrong: str, line: int, complaint: str
) -> None:
    text = WORKLOAD.replace('duration_s = "seconds"', wrong)
    with pytest.raises(ExperimentError) as caught:
        reader.read(str(folder_of(tmp_path, text)))
    assert complaint in f"{caught.value.message} {caught.value.hint}"
    assert caught.value.line == line


def test_weights_belong_to_existing_scripts(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="no script is called 'three'") as caught:
        reader.read(str(folder_of(tmp_path, WORKLOAD + "three = 1\n")))
    assert caught.value.line == 31


def test_an_experiment_file_uses_the_keys_of_a_test(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    folder_of(tmp_path / "w")
    file = tmp_path / "e.toml"
    file.write_text(
        'workload = "w"\nsystems = ["sqlite"]\nclients = [2]\n\n[drive]\nduration_s = 9\n'
        'offered_rate_per_s = [10, 20]\nthink_time = "none"\nlatency_limit_s = 0.5\n'
    )
    asked, workload = experiment(Words(str(file)))
    found = [run.cell.driving for run in plan(asked, workload).runs]
    assert [one.offered_rate_per_s for one in found] == [10, 20]
    assert {(one.duration_s, one.latency_limit_s, one.think_time) for one in found} == {
        (9, 0.5, None)
    }
    file.write_text('workload = "w"\nsystems = ["sqlite"]\n\n[drive]\nduratoin_s = 9\n')
    with pytest.raises(ExperimentError, match="unknown key 'duratoin_s'") as caught:
        experiment(Words(str(file)))
    assert (caught.value.line, "did you mean 'duration_s'" in str(caught.value.hint)) == (5, True)


def test_several_tests_of_a_workload_are_named_behind_the_point() -> None:
    def tests(target: str) -> tuple[str, ...]:
        asked: Experiment = experiment(Words(target))[0]
        return asked.tests

    assert tests("bibsql.parallel,checks") == ("parallel", "checks")
    assert set(tests("bibsql.*")) >= {"checks", "sequential", "parallel", "update", "limit"}
