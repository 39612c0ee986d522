"""An isolation level for each system: plans have it for the cells of that system alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ExperimentError
from assay.experiment.from_command_line import Words, experiment
from assay.plan import plan
from assay.workload import reader
from assay.workload.ad_hoc_script import workload_of
from step_workloads import folder_of

TEST = 'scripts = ["write"]\ntransactions = 1\n'
LEVELS = 'isolation = { postgresql = "read committed", mysql = "serializable" }\n'
STEPS = f'[[tests.t.steps]]\ndo = "load"\n[[tests.t.steps]]\ndo = "drive"\n{LEVELS}'
EXPECTED = {"postgresql": "read committed", "mysql": "serializable", "sqlite": ""}


def planned(words: Words) -> dict[str, set[str]]:
    """System → the levels of its drives."""
    from assay.plan.drives import drives

    asked, _ = experiment(words)
    workload = workload_of(asked)
    found: dict[str, set[str]] = {}
    for run in plan(asked, workload).runs:
        of_run = {one.run.cell.driving.isolation_level for one in drives(workload, run)}
        found.setdefault(run.cell.system.name, set()).update(of_run)
    return found


@pytest.mark.parametrize("declared", [TEST + LEVELS, TEST + STEPS], ids=["test", "step"])
def test_each_system_has_its_own_level(tmp_path: Path, declared: str) -> None:
    folder = str(folder_of(tmp_path, declared))
    levels = planned(Words(folder, on=tuple(EXPECTED)))
    assert levels == {name: {level} for name, level in EXPECTED.items()}


def test_the_option_is_for_all_systems(tmp_path: Path) -> None:
    folder = str(folder_of(tmp_path, TEST + LEVELS))
    found = planned(Words(folder, on=("sqlite", "mysql"), isolation="serializable"))
    assert found == {"sqlite": {"serializable"}, "mysql": {"serializable"}}


def test_a_cell_is_the_same_as_with_the_level_alone(tmp_path: Path) -> None:
    each = folder_of(tmp_path / "w", TEST + LEVELS)
    asked, _ = experiment(Words(str(each), on=("mysql",)))
    (of_each,) = plan(asked, workload_of(asked)).runs
    folder_of(tmp_path / "w", TEST + 'isolation = "serializable"\n')
    (of_all,) = plan(asked, workload_of(asked)).runs
    assert of_each.cell.fingerprint == of_all.cell.fingerprint


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ('{ mysqll = "serializable" }', "unknown system 'mysqll'"),
        ('{ mysql = "serialisable" }', "mysql = 'serialisable': invalid value"),
        ("{}", "isolation names no system"),
    ],
)
def test_mistakes_are_refused(tmp_path: Path, levels: str, message: str) -> None:
    folder = folder_of(tmp_path, f"{TEST}isolation = {levels}\n")
    with pytest.raises(ExperimentError) as caught:
        reader.read(str(folder))
    assert message in caught.value.message
