"""A workload folder with a mistake is refused at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import AssayError, ExperimentError
from assay.workload import reader
from assay.workload.scripts import as_file

WORKLOAD = """\
title = "Small"
source = "nowhere"
default_test = "all"

[data]
source = "bib"

[parameters.copies]
type = "int"
default = 2
least = 1
help = "How often"

[[tables]]
name = "t"
primary_key = ["a"]
indexes = ["b", "a, b"]

[tables.columns]
a = "int not null"
b = "varchar(20)"

[tests.all]
title = "All"
help = "All of it"
scripts = ["*.sql"]
passes = "copies"
"""


def folder_of(folder: Path, text: str = WORKLOAD) -> Path:
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    (folder / "one.sql").write_text("-- one: the first\nselect 1;\n\\expect rows 1\n")
    (folder / "two.sql").write_text("select 2;\n")
    return folder


def test_a_users_workload_is_read_like_a_built_in_one(tmp_path: Path) -> None:
    workload = reader.read(str(folder_of(tmp_path)))
    (table,) = workload.tables
    assert [index.name for index in table.indexes] == ["t_b", "t_a_b"]
    test = workload.test("all")
    assert test.scripts == ("one", "two")
    assert test.driving.passes == "copies"
    assert workload.titles == {"one": "the first", "two": "select 2;"}


@pytest.mark.parametrize(
    ("wrong", "right", "line", "complaint"),
    [
        ('"varchar(20)"', '"varchar(20) wied"', 21, "not a column type"),
        ('"b", "a, b"', '"b", "a, c"', 17, "unknown column 'c'"),
        ('passes = "copies"', 'passes = "copeis"', 27, "neither a number nor a parameter"),
        ('passes = "copies"', "", 23, "never ends"),
        ('scripts = ["*.sql"]', 'scripts = ["on.sql"]', 26, "no script is called 'on.sql'"),
        ("default = 2", "default = 0", 10, "from 1 to"),
        ("default = 2", 'default = "2"', 10, "not of type int"),
        ('default_test = "all"', 'default_test = "al"', 3, "invalid value"),
        ('source = "bib"', 'source = "bib"\nsuorce = "x"', 7, "unknown key 'suorce'"),
        ('help = "All of it"', 'help = "All"\nclients = [0]', 26, "from 1 to"),
    ],
)
def test_a_mistake_is_placed(
    tmp_path: Path, wrong: str, right: str, line: int, complaint: str
) -> None:
    folder = folder_of(tmp_path, WORKLOAD.replace(wrong, right))
    with pytest.raises(ExperimentError, match=complaint) as caught:
        reader.read(str(folder))
    assert (Path(caught.value.file).name, caught.value.line) == ("workload.toml", line)


def test_an_override_replaces_one_script_for_one_dialect(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    override = folder / "overrides" / "some" / "two.sql"
    override.parent.mkdir(parents=True)
    override.write_text("-- it has no 2\nselect 1 + 1;\n")
    workload = reader.read(str(folder))
    test = workload.test("all")
    assert [one.path for one in workload.scripts_for(test, "some")] == [
        "one.sql",
        "overrides/some/two.sql",
    ]
    assert [one.path for one in workload.scripts_for(test, "other")] == ["one.sql", "two.sql"]


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("overrides/some/two.sql", "select 1 + 1;\n", "must say why on its first line"),
        ("overrides/some/tow.sql", "-- why\nselect 1;\n", "replaces no script"),
        ("deeper/one.sql", "select 1;\n", "a second script is called 'one'"),
    ],
)
def test_a_script_in_the_wrong_folder_is_refused(
    tmp_path: Path, path: str, text: str, complaint: str
) -> None:
    file = folder_of(tmp_path) / path
    file.parent.mkdir(parents=True)
    file.write_text(text)
    with pytest.raises(AssayError, match=complaint):
        reader.read(str(tmp_path))


def test_any_change_of_a_text_changes_the_fingerprint(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    before = reader.read(str(folder)).fingerprint
    assert reader.read(str(folder)).fingerprint == before
    (folder / "two.sql").write_text("select 3;\n")
    assert reader.read(str(folder)).fingerprint != before


def test_a_file_for_a_client_has_the_statements_alone(tmp_path: Path) -> None:
    workload = reader.read(str(folder_of(tmp_path)))
    scripts = workload.scripts_for(workload.test("all"), "")
    assert as_file(scripts) == "-- one: the first\nselect 1;\n\nselect 2;\n"
