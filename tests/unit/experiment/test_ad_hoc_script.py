"""An ad hoc script is a workload without tables, whose variables come from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay import registry
from assay.drive.prepare import Compiled
from assay.errors import ScriptError, YouError
from assay.experiment import Experiment, ScriptFile
from assay.experiment.from_command_line import Words, experiment
from assay.lab.preflight.refusal import why_refused
from assay.plan import plan
from assay.workload.ad_hoc_script import workload_of
from assay.workload.values import Workload

SCRIPT = "\\set aid random(1, 100000 * :scale)\nselect :aid;\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "read.sql"
    path.write_text(SCRIPT)
    return path


def asked(target: object, **words: Any) -> tuple[Experiment, Workload]:
    return experiment(Words(str(target), **{"on": ("sqlite",), **words}))


def test_every_set_is_a_variable_of_the_type_it_is_written_in(script: Path) -> None:
    script.write_text(f"{SCRIPT}select :skew, ':name';\n")
    found, workload = asked(script, set=("scale=1,10", "skew=1.5", "name=x", "sqlite.threads=1"))
    assert found.parameters == {"scale": (1, 10), "skew": (1.5,), "name": ("x",)}
    assert workload.tables == ()
    assert [run.cell.parameters["scale"] for run in plan(found, workload).runs] == [1, 10]


def test_it_runs_for_ten_seconds_by_default(script: Path) -> None:
    for words, stop in (
        ({}, {"duration_s": 10.0}),
        ({"duration_s": 2.0}, {"duration_s": 2.0}),
        ({"transactions": 5}, {"transactions": 5}),
    ):
        (run,) = plan(*asked(script, **words)).runs
        assert run.cell.driving.stop == stop


def test_scripts_are_mixed_by_the_weights_behind_their_names(script: Path) -> None:
    other = script.with_name("write.sql")
    other.write_text("select 2;\n")
    found, workload = asked(f"{script}@9", script=(str(other),))
    assert found.scripts == (ScriptFile(str(script), 9), ScriptFile(str(other)))
    sent = workload.scripts_for(workload.test("script"), registry.system("sqlite").dialect)
    assert [(one.name, one.weight) for one in sent] == [("read", 9), ("write", 1)]
    assert workload_of(found) == workload


def test_a_workloads_test_can_run_another_script_on_its_data(script: Path) -> None:
    found, workload = asked("bibsql.sequential", script=(str(script),))
    test = workload.test("sequential")
    assert (test.scripts, test.order) == (("read",), "mix")
    assert workload.test("checks").scripts != test.scripts
    (run,) = plan(found, workload).runs
    assert run.cell.driving.stop == {"duration_s": 10.0}


@pytest.mark.parametrize(
    ("target", "words", "message"),
    [
        ("none.sql", {}, "there is no such file"),
        ("{}@0", {}, "weight behind the @: expected a whole number from 1"),
        ("{}@x", {}, "weight behind the @: expected a whole number from 1"),
        ("{}", {"script": ("{}",)}, "is named twice"),
        (",{}", {}, "expected a script before and behind each comma"),
        ("{0},,{0}", {}, "expected a script before and behind each comma"),
        ("{}", {"on": ()}, "no system under test"),
        ("{}", {"set": ("scal=10",)}, "no script uses the variable :scal$"),
        ("bibsql.limit", {"script": ("{}",)}, "run no scripts"),
        ("{}", {"on": ("cassandra",)}, r"read\.sql is SQL; cassandra takes CQL"),
        ("{}.cql", {"on": ("sqlite",)}, r"read\.sql\.cql is CQL; sqlite takes SQL"),
        ("", {"script": ("{}.json",), "on": ("sqlite",)}, "json is JSON; sqlite takes SQL"),
    ],
)
def test_invalid_scripts_are_refused(
    script: Path, target: str, words: dict[str, Any], message: str
) -> None:
    for ending, text in (("cql", "SELECT a FROM t;"), ("json", '{"find": "a"};')):
        Path(f"{script}.{ending}").write_text(text)
    filled = {key: tuple(one.format(script) for one in value) for key, value in words.items()}
    with pytest.raises(YouError, match=message):
        asked(target.format(script), **filled)


def test_a_password_in_a_script_is_no_variable_that_the_hint_names(script: Path) -> None:
    script.write_text("SELECT 'mysql://root:geheim@host/db', :rows;\n")
    with pytest.raises(YouError) as refused:
        asked(script, set=("foo=1",))
    assert refused.value.hint == "known: rows"


def test_two_scripts_with_one_name_are_refused_with_a_way_to_call_them(script: Path) -> None:
    older = script.parent / "old" / script.name
    older.parent.mkdir()
    older.write_text(SCRIPT)
    with pytest.raises(YouError, match="two scripts are called 'read'") as found:
        asked("", script=(f"{script},{older}",))
    assert "and name read-old.sql in its place" in str(found.value.hint)


def test_a_variable_that_nothing_sets_is_reported_before_a_server_is_started(script: Path) -> None:
    script.write_text(SCRIPT.replace(":scale", ":rows"))
    found, workload = asked(script)
    with pytest.raises(ScriptError, match=r"read\.sql:1:29: .*:rows") as caught:
        Compiled(workload).check(plan(found, workload).runs)
    assert "--set rows=" in str(caught.value.hint)
    found, workload = asked(script, set=("rows=1",))
    Compiled(workload).check(plan(found, workload).runs)


@pytest.mark.parametrize(
    ("ending", "text", "system", "place", "message"),
    [
        ("sql", ' {"find": "a"};', "sqlite", "1:2", "found a JSON document, expected SQL"),
        ("cql", "\\begin\nSELECT a FROM t;\n\\commit", "cassandra", "1:1", "no transactions"),
        ("json", '{"find": "a"}\n\\commit', "ferretdb", "2:1", "no transactions"),
        ("cql", "\\begin\nSELECT a FROM t;", "cassandra://h/k", "1:1", "no transactions"),
        ("sql", "-- it's\nSELECT 'it\\'s';", "sqlite", "2:14", "is not closed"),
    ],
)
def test_what_the_system_does_not_take_is_refused_before_it_is_started(
    tmp_path: Path, ending: str, text: str, system: str, place: str, message: str
) -> None:
    file = tmp_path / f"a.{ending}"
    file.write_text(text)
    found, workload = asked(file, on=(system,))
    with pytest.raises(ScriptError, match=message) as caught:
        Compiled(workload).check(plan(found, workload).runs)
    assert f"{caught.value.line}:{caught.value.column}" == place


def test_a_file_of_plain_sql_is_for_systems_of_sql(script: Path) -> None:
    with pytest.raises(YouError, match="is SQL; ferretdb takes JSON"):
        asked("tpcb.select-only", feed=str(script), on=("sqlite", "ferretdb"))


def test_literals_and_comments_are_those_of_the_system(script: Path) -> None:
    script.write_text("# it's a comment\nSELECT 'it\\'s';\n")
    for system in ("mariadb", "mysql"):
        found, workload = asked(script, on=(system,))
        Compiled(workload).check(plan(found, workload).runs)


def test_a_script_in_the_systems_own_language_runs_in_place_of_a_tests(script: Path) -> None:
    file = script.with_suffix(".cql")
    file.write_text("SELECT balance FROM accounts WHERE id = 1;")
    found, workload = asked("tpcb.select-only", script=(str(file),), on=("cassandra",))
    (run,) = plan(found, workload).runs
    assert why_refused(Compiled(workload), run) is None


def test_an_experiment_file_can_name_scripts_alone(script: Path) -> None:
    file = script.with_name("e.toml")
    file.write_text('script = ["read.sql@3"]\nsystems = ["sqlite"]\n\n[parameters]\nscale = 4\n')
    found, workload = experiment(Words(str(file)))
    assert (found.is_ad_hoc, found.parameters) == (True, {"scale": (4,)})
    (run,) = plan(found, workload).runs
    Compiled(workload).check([run])
