"""Tables that are made where an expression is true, and levels that only systems of some languages
have."""

from __future__ import annotations

from pathlib import Path

import pytest

import invented_records as invented
from assay.errors import ExperimentError
from assay.experiment import StorageChoice, SystemChoice
from assay.lab.preflight.refusal import why_lacking
from assay.workload import reader
from assay.workload.values import Workload

WORKLOAD = """\
title = "Small"
source = "nowhere"
default_test = "all"

[data]
source = "generated"

[parameters.shape]
type = "text"
default = "two"
levels = ["two", "one"]
help = "Of document systems: one = the lines of an order are in it"

[parameters.shape.languages]
one = ["json"]

[[tables]]
name = "orders"
rows = "3"
when = ":shape = 'two'"

[tables.columns]
id = "int not null"

[tables.values]
id = ":row"

[[tables]]
name = "whole_orders"
per = "orders"
rows = "1"
when = ":shape = 'one'"
languages = ["json"]

[tables.columns]
id = "int not null"
lines = "json not null"

[tables.values]
id = ":id"
lines = "'[]'"

[tests.all]
title = "All"
help = "All of it"
scripts = ["look"]
passes = 1
"""


def read(folder: Path, text: str = WORKLOAD) -> Workload:
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    (folder / "look.sql").write_text("select 1;\n", encoding="utf-8")
    (folder / "look.json").write_text('{"ping": 1};\n', encoding="utf-8")
    return reader.read(str(folder))


def test_the_rows_of_a_table_that_is_not_made_are_still_those_that_others_are_made_of(
    tmp_path: Path,
) -> None:
    workload = read(tmp_path)
    made = {
        (shape, language): [table.name for table in workload.tables_for({"shape": shape}, language)]
        for shape in ("two", "one")
        for language in ("sql", "json")
    }
    assert made["two", "sql"] == made["two", "json"] == ["orders"]
    assert made["one", "json"] == ["whole_orders"] and made["one", "sql"] == []
    source = workload.schema.source_for({"shape": "one"}, 1, "json")
    assert (source.tables[0].name, source.tables[0].is_loaded) == ("orders", False)
    assert source.variables == {"shape": "one"}, "another value means other rows"


@pytest.mark.parametrize(
    ("system", "shape", "is_refused"),
    [("sqlite", "two", False), ("ferretdb", "one", False), ("sqlite", "one", True)],
)
def test_a_level_of_another_language_is_refused(
    tmp_path: Path, system: str, shape: str, is_refused: bool
) -> None:
    workload = read(tmp_path)
    (run,) = invented.plan(
        [SystemChoice(system)], [StorageChoice("here", "here")], test="all",
        parameters={"shape": shape},
    ).runs  # fmt: skip
    reason = why_lacking(workload, run)
    assert (reason is not None) is is_refused
    assert not is_refused or reason == "shape=one is of systems of json; sqlite takes sql"


@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ('one = ["json"]', 'three = ["json"]', "three is not a level: two, one"),
        ('one = ["json"]', 'one = ["jsn"]', "unknown language 'jsn'"),
        ("when = \":shape = 'two'\"", 'when = ":shap = 2"', "shap"),
    ],
)
def test_a_mistake_is_placed(tmp_path: Path, right: str, wrong: str, complaint: str) -> None:
    text = WORKLOAD.replace(right, wrong, 1)
    with pytest.raises(ExperimentError) as refused:
        read(tmp_path, text)
    assert complaint in str(refused.value)
    line = next(number for number, one in enumerate(text.splitlines(), 1) if wrong in one)
    assert refused.value.line == line
