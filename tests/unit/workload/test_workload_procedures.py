"""References and series of a workload file are read, and refused where they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ArgumentError, ExperimentError
from assay.lab.steps.dump import Dump
from assay.lab.steps.overlap import Overlap
from assay.report import check_declarations
from assay.workload import reader

WORKLOAD = """\
title = "Small"
source = "nowhere"
default_test = "both"

[data]
source = "generated"

[parameters.stagger_s]
type = "float"
default = 0.0
help = "Apart"

[parameters.size]
type = "int"
default = 5
help = "Rows"

[tests.both]
title = "Both"
help = "Both of them"
procedure = "reference"
scripts = ["one.sql"]
transactions = "size"

[tests.both.reference]
dump = "dump.sql"
each = "set"
stagger = "stagger_s"
pause = "stagger_s"
at_once = 3

[tests.both.reference.parameters]
size = "least(:size, :clients)"

[tests.fast]
title = "Fast"
help = "Fast ones"
scripts = ["one.sql"]
transactions = "size"

[series.table]
title = "Both in one"
columns = [
  { title = "both", test = "both", key = "elapsed_ns", unit = "min" },
  { title = "fast", test = "fast", key = "elapsed_ns" },
]
"""


def folder_of(folder: Path, text: str = WORKLOAD) -> Path:
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    (folder / "one.sql").write_text("select 1;\n")
    (folder / "dump.sql").write_text("select 2;\n")
    return folder


def test_a_series_is_a_list_of_tests(tmp_path: Path) -> None:
    workload = reader.read(str(folder_of(tmp_path)))
    check_declarations(workload)
    assert workload.tests_of("table") == ("both", "fast")
    assert workload.tests_of("fast") == ("fast",)
    with pytest.raises(ArgumentError, match="tabel") as caught:
        workload.tests_of("tabel")
    assert "table" in str(caught.value.hint)


def test_a_procedure_is_a_list_of_steps(tmp_path: Path) -> None:
    test = reader.read(str(folder_of(tmp_path))).test("both")
    assert [one.do for one in test.steps] == [
        "load", "drive", "dump", "overlap", "dump", "compare",
    ]  # fmt: skip
    load, _, dump, overlap = test.steps[:4]
    assert load.parameters["size"].text == "least(:size, :clients)"
    assert isinstance(dump, Dump)
    assert (dump.script, dump.each) == ("dump", "set")
    assert isinstance(overlap, Overlap)
    assert overlap.at_once == 3


@pytest.mark.parametrize(
    ("right", "wrong", "line", "complaint"),
    [
        ('dump = "dump.sql"', 'dump = "dupm.sql"', 26, "no script is called"),
        ('stagger = "stagger_s"', 'stagger = "size"', 28, "not a float"),
        ("at_once = 3", "at_once = 0", 30, "from 1 to"),
        ('size = "least(', 'sise = "least(', 33, "unknown parameter 'sise'"),
        ('test = "fast"', 'test = "fsat"', 43, "invalid value"),
        ('unit = "min"', 'unit = "hour"', 43, "invalid value"),
        ("[series.table]", "[series.fast]", 41, "a series and a test"),
    ],
)
def test_a_mistake_is_placed(
    tmp_path: Path, right: str, wrong: str, line: int, complaint: str
) -> None:
    folder = folder_of(tmp_path, WORKLOAD.replace(right, wrong))
    with pytest.raises(ExperimentError, match=complaint) as caught:
        check_declarations(reader.read(str(folder)))
    assert caught.value.line == line
