"""Factors of reports, levels of parameters and isolation levels that a workload declares exist."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.errors import ExperimentError
from assay.experiment.from_command_line import Words, experiment
from assay.lab import lab
from assay.lab.authoring.problems import examined
from assay.lab.preflight.preflight import preflight
from assay.plan import plan
from assay.record import Store
from assay.report import check_declarations
from assay.workload import reader

WORKLOAD = """\
title = "Small"
source = "nowhere"
default_test = "t"

[data]
source = "none"

[parameters.size]
type = "int"
default = 2
most = 9
help = "How large"

[tests.t]
title = "T"
help = "A test"
scripts = ["one"]
transactions = ":size"
"""


def folder_of(folder: Path, more: str) -> str:
    (folder / "one.sql").write_text("select :size;\n")
    text = WORKLOAD.replace('":size"', "1") + more
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    return str(folder)


def preflight_of(folder: str) -> list[str]:
    """What `run` and `plan` refuse."""
    asked, _ = experiment(Words(folder, on=("sqlite",)))
    workload = reader.read(folder)
    try:
        preflight(workload, plan(asked, workload), ())
    except ExperimentError as error:
        return [error.message]
    return []


def problems_of(folder: str) -> list[str]:
    """What `assay check` names."""
    with examined(folder) as found:
        return [problem.message for problem in found.problems]


@pytest.mark.parametrize(
    ("more", "line", "said"),
    [
        ('[report.t]\nblocks = "clinets"\n', 20, ("no such factor", "'clients'")),
        ('[report.t]\nrows = "siez"\n', 20, ("no such factor", "'size'")),
        ('[report.t]\nvaleu = "elapsed"\n', 20, ("unknown key 'valeu'", "value")),
        (
            '[series.s]\ntitle = "S"\ncolumns = [{ title = "a", test = "t", value = "elapsed", '
            'independent_of = ["siez"] }]\n',
            21, ("no parameter is called 'siez'", "'size'"),
        ),
        ("[tests.t.defaults]\nsize = [1, 10]\n", 20, ("expected a whole number", "10")),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_refused_at_its_line(
    tmp_path: Path, more: str, line: int, said: tuple[str, str]
) -> None:
    with pytest.raises(ExperimentError) as caught:
        check_declarations(reader.read(folder_of(tmp_path, more)))
    whole = f"{caught.value.message}\n{caught.value.hint}"
    assert all(word in whole for word in said), whole
    assert caught.value.line == line


def test_a_parameter_of_a_published_table_is_one_of_the_workload(tmp_path: Path) -> None:
    (tmp_path / "published.toml").write_text(
        '[t]\nsource = "s"\nunit = "s"\ncolumns = ["a"]\nparameters = { siez = 1 }\nrows = []\n'
    )
    with pytest.raises(ExperimentError) as caught:
        check_declarations(reader.read(folder_of(tmp_path, "")))
    assert caught.value.line == 5 and "'size'" in str(caught.value.hint)
    assert "no parameter is called 'siez'" in caught.value.message


@pytest.mark.parametrize("refuse", [preflight_of, problems_of], ids=["run", "check"])
def test_a_parameter_that_nothing_uses_is_refused(
    tmp_path: Path, refuse: Callable[[str], list[str]]
) -> None:
    folder = folder_of(tmp_path, "")
    assert refuse(folder) == []
    (tmp_path / "one.sql").write_text("select 1;\n")
    (found,) = refuse(folder)
    assert found.endswith("workload.toml:8: nothing uses the parameter size")


def test_a_system_without_the_isolation_level_is_refused_alone(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 'isolation = "read committed"\n')
    asked, _ = experiment(Words(folder, on=("sqlite", "null")))
    done = lab.run(asked, records=tmp_path / "r.sqlite")
    with Store(tmp_path / "r.sqlite", must_exist=True) as store:
        states = [
            (run.system_label, run.state) for run in store.experiment(done.experiment_id).runs
        ]
    assert states == [("sqlite", "refused"), ("null", "done")]
