"""A workload that extends another one has its tables, rows, scripts, checks and overrides, and its
mistakes are refused at their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.contracts.experiment import Experiment, StorageChoice, SystemChoice
from assay.errors import ExperimentError, ScriptError
from assay.lab.authoring.problems import examined
from assay.lab.preflight.preflight import preflight
from assay.plan import plan
from assay.workload import reader
from assay.workload.values import Workload

BASE = """\
title = "Base"
source = "nowhere"
default_test = "all"
default_system = "sqlite"

[data]
source = "generated"

[parameters.copies]
type = "int"
default = 2
help = "How often"
tests = ["all"]

[constants]
notes = "10 * :copies"

[[tables]]
name = "t"
rows = ":notes"
primary_key = ["a"]

[tables.columns]
a = "int not null"

[tables.values]
a = ":row"

[tests.all]
title = "All"
help = "All of it"
scripts = ["one", "two"]
passes = 1
"""
TOP = """\
extends = "{base}"
title = "Top"
source = "nowhere"
default_test = "more"

[[tables]]
name = "u"
per = "t"
rows = "1"

[tables.columns]
b = "int not null"

[tables.values]
b = ":a + :notes"

[tests.more]
title = "More"
help = "A script of each"
scripts = ["three", "one.sql"]
passes = 1
"""


def folders(tmp_path: Path, top: str = TOP) -> Path:
    base, folder = tmp_path / "base", tmp_path / "top"
    for path, text in {
        base / "workload.toml": BASE,
        base / "one.sql": "-- one: the first\nselect a from t where a < :notes;\n",
        base / "two.sql": "select 2;\n",
        base / "checks" / "full.sql": "select 1 from t where a < 0;\n",
        base / "overrides" / "sqlite" / "one.sql": "-- sqlite: in its way\nselect 11;\n",
        base / "overrides" / "mysql" / "one.sql": "-- mysql: in its way\nselect 12;\n",
        folder / "workload.toml": top.replace("{base}", "../base"),
        folder / "three.sql": "select b from u;\n",
        folder / "overrides" / "mysql" / "one.sql": "-- mysql: better\nselect 13;\n",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def read(folder: Path) -> Workload:
    return reader.read(str(folder))


def test_everything_but_tests_is_inherited(tmp_path: Path) -> None:
    found = read(folders(tmp_path))
    assert [table.name for table in found.tables] == ["t", "u"]
    assert [*found.tests] == ["more"]
    assert [*found.scripts] == ["one", "three"], "no test names two"
    assert [*found.checks] == ["full"]
    assert {key: one.text.splitlines()[1] for key, one in found.overrides.items()} == {
        ("sqlite", "one"): "select 11;",
        ("mysql", "one"): "select 13;",
    }
    assert found.default_system == "sqlite" and found.data_source == "generated"
    assert found.with_defaults({}) == {"copies": 2, "notes": 20}
    assert [one.name for one in found.parameters_of(found.test("more"))] == ["copies"]
    assert found.file_of(found.scripts["one"].path) == tmp_path / "base" / "one.sql"


def test_its_identity_changes_with_the_base_and_not_with_its_place(tmp_path: Path) -> None:
    first = read(folders(tmp_path / "a")).fingerprint
    assert read(folders(tmp_path / "b" / "c")).fingerprint == first
    (tmp_path / "a" / "base" / "one.sql").write_text("select 3;\n")
    assert read(tmp_path / "a" / "top").fingerprint != first


def test_every_mistake_is_named_with_the_file_that_has_it(tmp_path: Path) -> None:
    folder = folders(tmp_path)
    (tmp_path / "base" / "one.sql").write_text("select :nothing from t;\n")
    with examined(str(folder)) as found:
        (problem,) = found.problems
    assert str(problem).startswith(str(tmp_path / "base" / "one.sql") + ":1")
    assert (tmp_path / "base" / "one.sql").is_file(), "nothing of the folder is changed"


@pytest.mark.parametrize("word", ['"../bse"', '"../top"', "3"])
def test_of_a_base_that_cannot_be_read_nothing_else_is_said(tmp_path: Path, word: str) -> None:
    top = TOP.replace('"{base}"', word).replace("passes = 1", 'passes = 1\nchecks = ["full"]')
    with examined(str(folders(tmp_path, top))) as found:
        (problem,) = found.problems
        assert "top/workload.toml:1: extends" in str(problem)
        assert not found.is_whole


def test_a_check_that_counts_a_script_which_no_test_names(tmp_path: Path) -> None:
    """It is refused by `assay check`, and before anything is started."""
    folder = folders(tmp_path)
    file = tmp_path / "base" / "checks" / "full.sql"
    file.write_text("select 1 from t where a < :ok_two;\n")
    with examined(str(tmp_path / "base")) as found:
        assert found.problems == []
    with examined(str(folder)) as found:
        (problem,) = found.problems
        assert str(problem).startswith(f"{file}:1:27: nothing sets the variable :ok_two")
        assert "no test of top has a script of this name" in str(problem.hint)
    workload = read(folder)
    asked = Experiment(
        "top", ("more",), (SystemChoice("sqlite"),), (StorageChoice("here", "here"),)
    )
    with pytest.raises(ScriptError, match="nothing sets the variable :ok_two"):
        preflight(workload, plan(asked, workload), ())


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ('extends = "{base}"', 'extends = "../bse"', "top/workload.toml:1: extends = '../bse'"),
        (
            'extends = "{base}"',
            'extends = "../top"',
            "top/workload.toml:1: extends forms a cycle: top -> top",
        ),
        ('name = "u"', 'name = "T"', "top/workload.toml:7: a second table is called T; the first"),
        ('per = "t"', 'per = "v"', "top/workload.toml:8: rows of u are per row of the unknown"),
        ("[[tables]]", '[data]\nsource = "none"\n[[tables]]', ":6: rows come from where those of"),
        ("[[tables]]", '[constants]\ncopies = "1"\n[[tables]]', "copies is a parameter and a"),
    ],
)
def test_a_mistake_is_refused_at_its_place(
    tmp_path: Path, right: str, wrong: str, message: str
) -> None:
    assert right in TOP
    with pytest.raises(ExperimentError) as refused:
        read(folders(tmp_path, TOP.replace(right, wrong, 1)))
    assert message in str(refused.value)


def test_a_script_of_the_base_has_no_second_one(tmp_path: Path) -> None:
    folder = folders(tmp_path)
    (folder / "one.sql").write_text("select 4;\n")
    with pytest.raises(ExperimentError, match="a second script is called 'one'"):
        read(folder)
