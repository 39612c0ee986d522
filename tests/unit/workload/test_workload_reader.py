"""A workload folder with a mistake is refused at its place; one that extends another has what it
changes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from assay import registry
from assay.contracts.dialects import Partitioning
from assay.contracts.experiment import Experiment, StorageChoice, SystemChoice
from assay.errors import ArgumentError, AssayError, ExperimentError, ScriptError
from assay.lab.authoring import examined
from assay.lab.preflight import preflight
from assay.plan import plan
from assay.workload import reader
from assay.workload.scripts import as_file
from assay.workload.values import Workload


class Spoken(NamedTuple):
    name: str
    language: str = "sql"


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


def test_a_table_says_how_it_is_spread_over_nodes(tmp_path: Path) -> None:
    spread = 'partition_by = ["c"]\npartition_order = ["a desc"]\nprimary_key'
    text = WORKLOAD.replace("primary_key", spread).replace("a = ", 'c = "int not null"\na = ')
    (table,) = reader.read(str(folder_of(tmp_path, text))).tables
    assert table.partitioning == Partitioning(("c",), ("a",), frozenset({"a"}))


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
        ('"b", "a, b"', '"b",\n"a, c"', 18, "unknown column 'c'"),
        ('passes = "copies"', 'passes = "copeis"', 27, "neither a number nor a parameter"),
        ('passes = "copies"', "", 23, "never ends"),
        ('passes = "copies"', 'passes = 1\n[known_as]\nother = "al"', 29, "'al' is no test"),
        ('passes = "copies"', 'passes = 1\n[not_expressible.postgres]\none = "it"', 28,
         "no dialect"),
        ('passes = "copies"', 'passes = 1\n[tests.all.not_expressible]\nmariadb = "it"', 29,
         "no dialect is called 'mariadb'"),
        ("default = 2", "default = 0", 10, "from 1 to"),
        ("default = 2", 'default = "2"', 10, "not of type int"),
        ('default_test = "all"', 'default_test = "al"', 3, "invalid value"),
        ('source = "bib"', 'source = "bib"\nsuorce = "x"', 7, "unknown key 'suorce'"),
        ('help = "All of it"', 'help = "All"\nclients = [0]', 26, "from 1 to"),
    ],
)  # fmt: skip
def test_a_mistake_is_placed(
    tmp_path: Path, wrong: str, right: str, line: int, complaint: str
) -> None:
    folder = folder_of(tmp_path, WORKLOAD.replace(wrong, right))
    with pytest.raises(ExperimentError, match=complaint) as caught:
        reader.read(str(folder))
    assert (Path(caught.value.file).name, caught.value.line) == ("workload.toml", line)


def test_overrides_for_a_dialect_that_nothing_speaks_are_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    for wrong, hint in (("postgres", "did you mean 'postgresql'"), ("mariadb", "is called mysql")):
        override = folder / "overrides" / wrong / "two.sql"
        override.parent.mkdir(parents=True)
        override.write_text("-- it has no 2\nselect 1 + 1;\n")
        with pytest.raises(ExperimentError, match=f"for '{wrong}': no dialect") as caught:
            reader.read(str(folder))
        assert caught.value.file == str(override) and hint in str(caught.value.hint)
        override.unlink()
        override.parent.rmdir()


def test_an_override_replaces_one_script_for_one_dialect(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    override = folder / "overrides" / "duckdb" / "two.sql"
    override.parent.mkdir(parents=True)
    override.write_text("-- it has no 2\nselect 1 + 1;\n")
    workload = reader.read(str(folder))
    test = workload.test("all")
    assert [one.path for one in workload.scripts_for(test, Spoken("duckdb"))] == [
        "one.sql",
        "overrides/duckdb/two.sql",
    ]
    assert [one.path for one in workload.scripts_for(test, Spoken("other"))] == [
        "one.sql",
        "two.sql",
    ]


def test_a_file_of_another_language_holds_the_statements_for_it(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    (folder / "two.json").write_text('{"count": "t"};\n')
    (folder / "data.json").write_text("{}")
    override = folder / "overrides" / "duckdb" / "two.sql"
    override.parent.mkdir(parents=True)
    override.write_text('-- it counts otherwise\n{"size": "t"};\n')
    workload = reader.read(str(folder))
    other, own = Spoken("other", "json"), Spoken("duckdb", "json")
    assert workload.script_for("two", other).path == "two.json"
    assert workload.script_for("two", own).path == "overrides/duckdb/two.sql"
    assert workload.script_for("two", Spoken("other")).path == "two.sql"
    assert [workload.is_spoken(name, other) for name in ("one", "two")] == [False, True]
    assert "data.json" not in workload.texts


def test_a_script_may_be_of_another_language_with_the_same_text(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, WORKLOAD + '[same_text]\ncql = ["two"]\n')
    (folder / "two.sql").write_text('select "a" from t {scan};\n')
    workload = reader.read(str(folder))
    cql = registry.system("cassandra").dialect
    assert [workload.is_spoken(name, cql) for name in ("one", "two")] == [False, True]
    assert workload.script_for("two", cql).text == "select a from t allow filtering;\n"
    wrong = {"cql": "no script or check is called 'too'", "json": "two has a text of its own"}
    (folder / "two.json").write_text('{"count": "t"};\n')
    for language, complaint in wrong.items():
        name = "too" if language == "cql" else "two"
        text = WORKLOAD + f'[same_text]\n{language} = ["{name}"]\n'
        (folder / "workload.toml").write_text(text)
        with pytest.raises(ExperimentError, match=complaint):
            reader.read(str(folder))


def test_a_file_of_another_language_alone_is_a_script_where_a_test_names_it(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, WORKLOAD.replace('["*.sql"]', '["one.sql", "find*.json"]'))
    (folder / "find_all.json").write_text('{"find": "t"};\n')
    (folder / "data.json").write_text("{}")
    workload = reader.read(str(folder))
    assert workload.test("all").scripts == ("one", "find_all")
    other = Spoken("other", "json")
    assert workload.script_for("find_all", other).text == '{"find": "t"};\n'
    assert [workload.is_spoken("find_all", one) for one in (other, Spoken("duckdb"))] == [
        True,
        False,
    ]
    assert "data" not in workload.scripts and "data.json" not in workload.texts


INSTANCES = WORKLOAD.replace('["*.sql"]', '["day_{instance}.sql"]')


def test_a_script_that_stands_for_several_has_a_number_in_each(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, INSTANCES + '[instances]\n"day_{instance}" = "9..11"\n')
    (folder / "day_{instance}.sql").write_text("-- {instance} days\nselect {instance};\n")
    workload = reader.read(str(folder))
    scripts = workload.scripts_for(workload.test("all"), Spoken("duckdb"))
    assert [one.name for one in scripts] == ["day_9", "day_10", "day_11"]
    assert scripts[1].text == "-- 10 days\nselect 10;\n"
    words = INSTANCES + '[instances]\n"day_{instance}" = ["first", "last"]\n'
    (folder / "workload.toml").write_text(words)
    assert reader.read(str(folder)).test("all").scripts == ("day_first", "day_last")
    assert scripts[1].path == "day_{instance}.sql"


@pytest.mark.parametrize(
    ("instances", "complaint"),
    [
        ("", "nothing says for which"),
        ('[instances]\n"day_{instance}" = "9..8"\n', "no range"),
        ('[instances]\n"day_{instance}" = "1..9999"\n', "no range"),
        ('[instances]\n"day_{instance}" = ["first", "a/b"]\n', "no range"),
        ('[instances]\n"dya_{instance}" = "1..2"\n', "stands for several"),
        ('[instances]\n"one" = "1..2"\n', "stands for several"),
    ],
)
def test_a_script_that_stands_for_several_needs_a_range(
    tmp_path: Path, instances: str, complaint: str
) -> None:
    folder = folder_of(tmp_path, INSTANCES + instances)
    (folder / "day_{instance}.sql").write_text("select {instance};\n")
    with pytest.raises(ExperimentError, match=complaint):
        reader.read(str(folder))


def test_constants_follow_from_parameters_and_from_each_other(tmp_path: Path) -> None:
    constants = '[constants]\ndouble = "2 * :copies"\nmore = ":double + 1"\n'
    workload = reader.read(str(folder_of(tmp_path, WORKLOAD + constants)))
    assert workload.constants_for({"copies": 5}) == {"double": 10, "more": 11}
    assert workload.with_defaults({}) == {"copies": 2, "double": 4, "more": 5}


@pytest.mark.parametrize(
    ("constants", "complaint"),
    [
        ('copies = "1"', "a parameter and a constant"),
        ('one = ":two"\ntwo = "2"', "variable :two"),
        ('one = "2 +"', "expected"),
    ],
)
def test_a_constant_that_is_none_is_refused(tmp_path: Path, constants: str, complaint: str) -> None:
    folder = folder_of(tmp_path, WORKLOAD + f"[constants]\n{constants}\n")
    with pytest.raises(ExperimentError, match=complaint) as caught:
        reader.read(str(folder)).with_defaults({})
    assert caught.value.line is not None


@pytest.mark.parametrize("limit", ["duration_s = 1", "passes = 2\nwarm_up_s = 1"])
def test_results_are_compared_where_every_system_is_asked_the_same(
    tmp_path: Path, limit: str
) -> None:
    text = WORKLOAD.replace('passes = "copies"', f"compare_results = true\n{limit}")
    with pytest.raises(ExperimentError, match="a faster system would be asked more"):
        reader.read(str(folder_of(tmp_path, text)))


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("overrides/duckdb/two.sql", "select 1 + 1;\n", "must say why on its first line"),
        ("overrides/duckdb/tow.sql", "-- why\nselect 1;\n", "replaces no script"),
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


def test_a_file_for_a_client_has_the_statements_alone(tmp_path: Path) -> None:
    workload = reader.read(str(folder_of(tmp_path)))
    scripts = workload.scripts_for(workload.test("all"), Spoken(""))
    assert as_file(scripts) == "-- one: the first\nselect 1;\n\nselect 2;\n"


def test_a_parameter_may_have_to_be_a_multiple(tmp_path: Path) -> None:
    whole = WORKLOAD.replace("default = 2\n", "default = 20\nmultiple_of = 10\n")
    parameter = reader.read(str(folder_of(tmp_path, whole))).parameters["copies"]
    assert parameter.value("1000") == 1000
    with pytest.raises(ArgumentError, match="expected a multiple of 10, found 15"):
        parameter.value("15")
    with pytest.raises(ExperimentError, match="expected a multiple of 10, found 25"):
        reader.read(str(folder_of(tmp_path, whole.replace("= 20", "= 25"))))


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
