"""How clients are driven: declared by a test, overridden by an experiment, with rates that change,
by scripts without a workload, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import assay
from assay import registry
from assay.drive.prepare import Compiled
from assay.errors import ArgumentError, ExperimentError, ScriptError, YouError
from assay.experiment import Driving, Experiment, ScriptFile
from assay.experiment import from_file as experiment_file
from assay.experiment.from_command_line import Words, asked, experiment
from assay.lab.refusal import why_refused
from assay.plan import Cell, plan
from assay.record import Store
from assay.report.build import build
from assay.text import rates
from assay.text.quantities import OFFERED_RATE_PER_S
from assay.workload import reader
from assay.workload.ad_hoc_script import workload_of
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
    """A limit that is given replaces all limits of the test."""
    (as_it_is,) = cells(folder_of(tmp_path))
    assert (as_it_is.driving.duration_s, as_it_is.driving.think_time) == (4.0, "exponential:1s")
    levels = cells(tmp_path, set=("seconds=1,8",), warm_up_s=0.5, think_time="none", retries=0)
    assert [one.driving.duration_s for one in levels] == [1.0, 8.0]
    assert {(one.driving.warm_up_s, one.driving.think_time) for one in levels} == {(0.5, None)}
    assert {one.driving.retries for one in levels} == {0}
    for given in ({"transactions": 7}, {"transactions": 7, "duration_s": 3.0}):
        (cell,) = cells(tmp_path, **given)
        assert cell.driving.stop == given
    found = cells(tmp_path, offered_rate_per_s="100,250.5", think_time="none")
    assert [one.driving.offered_rate_per_s for one in found] == [100.0, 250.5]
    assert {one.driving.arrival for one in found} == {"constant"}
    assert len({one.fingerprint for one in found}) == 2


def test_different_driving_makes_a_different_cell(tmp_path: Path) -> None:
    folder_of(tmp_path)
    changes: list[dict[str, Any]] = [
        {}, {"warm_up_s": 3.0}, {"ramp_up_s": 1.0}, {"duration_s": 5.0}, {"latency_limit_s": 0.02},
        {"retries": 1}, {"isolation": "read committed"}, {"connection": "per transaction"},
        {"read": "replica"}, {"per_statement": True}, {"allow_shell": True},
        {"keying_time": "constant:1ms"}, {"script": (str(tmp_path / "one.sql"),)},
    ]  # fmt: skip
    fingerprints = [cells(tmp_path, **change)[0].fingerprint for change in changes]
    assert len(set(fingerprints)) == len(changes)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ({"arrival": "poisson", "think_time": "none"}, "no rate is given", "--offered-rate 1000"),
        ({"offered_rate_per_s": "100"}, "think_time has no effect in an open", "--think-time none"),
        ({"offered_rate_per_s": "100", "arrival": "closed"}, "no effect in a closed loop",
         "--arrival"),
        ({"offered_rate_per_s": "ten"}, "found 'ten'", "--offered-rate 1000,2000"),
        ({"offered_rate_per_s": "0"},
         r"transactions per second from 0.000001 to 10,000,000, or a profile .*, found '0'",
         "--offered-rate 1000,2000"),
        ({"set": ("pause=often",)}, "think_time is 'often'", "exponential:1s"),
        ({"set": ("seconds=0",)}, "duration_s = 0.0: expected a number of seconds from 0.001", ""),
    ],
)  # fmt: skip
def test_invalid_driving_is_refused_with_the_fix(
    tmp_path: Path, words: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(ArgumentError, match=message) as refused:
        cells(folder_of(tmp_path), **words)
    assert hint in str(refused.value.hint)


def test_a_mistake_in_a_test_is_placed(tmp_path: Path) -> None:
    for wrong, line, complaint in (
        ('duration_s = "second"', 21, "neither a number nor a parameter"),
        ('duration_s = "pause"', 21, "parameter pause is of type text; expected int or float"),
        ("passes = 1", 21, "a mix has no passes"),
        ('duration_s = 1\narrival = "open"', 22, "invalid value"),
        ('duration_s = 1\nthink_tiem = "pause"', 22, "did you mean 'think_time'"),
        ('duration_s = 1\nkeying_time = "1s"', 22, "not a distribution of pauses"),
        ("duration_s = 1\nramp_up_s = -1", 22, "of seconds from 0"),
    ):
        text = WORKLOAD.replace('duration_s = "seconds"', wrong)
        with pytest.raises(ExperimentError) as caught:
            reader.read(str(folder_of(tmp_path, text)))
        assert complaint in f"{caught.value.message} {caught.value.hint}"
        assert caught.value.line == line


def test_an_experiment_file_uses_the_keys_of_a_test(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    folder_of(tmp_path / "w")
    file = tmp_path / "e.toml"
    text = (
        'workload = "w"\nsystems = ["sqlite"]\nclients = [2]\n\n[drive]\nduration_s = 9\n'
        'offered_rate_per_s = [10, 20]\nthink_time = "none"\nlatency_limit_s = 0.5\n'
    )
    file.write_text(text)
    asked, workload = experiment(Words(str(file)))
    found = [run.cell.driving for run in plan(asked, workload).runs]
    assert [one.offered_rate_per_s for one in found] == [10, 20]
    limits = {(one.duration_s, one.latency_limit_s, one.think_time) for one in found}
    assert limits == {(9, 0.5, None)}
    file.write_text(text.replace("duration_s", "duratoin_s"))
    with pytest.raises(ExperimentError, match="unknown key 'duratoin_s'") as caught:
        experiment(Words(str(file)))
    assert (caught.value.line, "did you mean 'duration_s'" in str(caught.value.hint)) == (6, True)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.sql").write_text("SELECT 1;\n")


def test_what_is_due_is_what_the_steps_say() -> None:
    """Its mean is over the time that it lasts: a rate of 0 at the end ends the run; one before
    others is a pause."""
    spike = "0s:100,1s:400,2s:100..300,4s:0,5s:50"
    assert rates.due_in_seconds(spike, 7) == [100, 400, 150, 250, 0, 50, 50]
    assert rates.due(spike, 2.5) == pytest.approx(500 + 62.5)
    assert rates.mean_per_s(spike, 5) == 180
    assert rates.due(250.0, 3) == 750
    assert rates.mean_per_s("0s:800,1s:0", 3) == rates.mean_per_s("0s:800,1s:0", 1) == 800
    assert rates.mean_per_s("0s:800,1s:0", 0.5) == 800
    assert rates.mean_per_s("0s:800,1s:0,2s:800", 4) == 600


def test_a_profile_that_cannot_be_is_refused() -> None:
    for word, says in (
        ("5s:200", "begins at 0s"),
        ("0s:200,9s:300,5s:100", "in the order of time, found 5s behind 9s"),
        ("0s:200,5s:200..800", "a step at which the ramp 200..800 ends"),
        ("0s:200,5s:200-800,9s:1", "a ramp is written FIRST..LAST"),
        ("0s:0,5s:0", "a rate above 0"),
        ("0s:200,1 parsec:5", "expected a number of seconds"),
        ("0s:200,5s:-1", "from 0 to 10,000,000"),
        ("0s:200,5s:1:2", "expected TIME:RATE"),
    ):
        with pytest.raises(ArgumentError, match=says) as refused:
            asked(Words("one.sql", on=("null",), offered_rate_per_s=word, duration_s=20))
        assert refused.value.message.startswith("--offered-rate: ")
        assert refused.value.hint == "--offered-rate 0s:200,60s:800,90s:200"


def test_a_ramp_may_last_as_long_as_the_measurement() -> None:
    given: dict[str, Any] = {"on": "null", "duration_s": 0.5, "warm_up_s": 0}
    (whole,) = assay.run("one.sql", offered_rate_per_s="0s:100..300,500ms:300", **given).runs
    assert whole.outcomes.scheduled == 100
    with pytest.raises(ArgumentError, match=r"has a step at 2s, .* ends after 500ms") as refused:
        assay.run("one.sql", offered_rate_per_s="0s:100..300,2s:300", **given)
    assert str(refused.value.hint).startswith("end the ramp at 0.5s, or a longer")
    with pytest.raises(ArgumentError, match="has a step at 500ms"):
        assay.run("one.sql", offered_rate_per_s="0s:100,500ms:300", **given)


def test_profiles_and_numbers_are_levels_in_all_three_places() -> None:
    levels = (500.0, "0s:200,5s:800", "0s:1..9,5s:9")
    text = "500,0s:200,5s:800,0s:1..9,5s:9"
    words = Words("one.sql", on=("null",), offered_rate_per_s=text, duration_s=9)
    assert asked(words)[0].offered_rates_per_s == levels
    every = ["5", "0s:1,2s:3", "0ms:4,1s:5", "6"]
    assert OFFERED_RATE_PER_S.split(",".join(every)) == every
    listed = '[500, "0:200,5s:800", "0s:1..9,5s:9"]'
    Path("e.toml").write_text(
        f'script = "one.sql"\nsystems = "null"\n[drive]\noffered_rate_per_s = {listed}\n'
    )
    assert experiment_file.read(Path("e.toml"))[0].offered_rates_per_s == levels
    Path("e.toml").write_text(
        'script = "one.sql"\nsystems = "null"\n[drive]\noffered_rate_per_s = "0s:1,x:2"\n'
    )
    with pytest.raises(ExperimentError, match=r"e\.toml:4: .*offered_rate_per_s.*seconds"):
        experiment_file.read(Path("e.toml"))


@pytest.mark.slow
def test_each_second_of_a_run_has_what_its_profile_says() -> None:
    result = assay.run(
        "one.sql", on="null", clients=4, offered_rate_per_s="0s:100..300,1s:400,2s:0,3s:50",
        duration_s=6, warm_up_s=0,
    )  # fmt: skip
    (run,) = result.runs
    assert run.outcomes.scheduled == run.outcomes.ok == 750
    with Store(Path("assay-records.sqlite"), must_exist=True) as store:
        kept = store.experiment(1)
    (kept_run,) = kept.runs
    assert not {"drift", "short-warm-up"} & {one.name for one in kept_run.warnings}
    figures = [figure for section in build(kept).sections for figure in section.figures]
    (chart,) = [figure for figure in figures if figure.name.endswith("timeline_1")]
    of_completed, of_offered = chart.series
    assert of_offered.name.endswith("offered")
    offered = [point.y for point in of_offered.points]
    assert offered in ([200, 400, 0, 50, 50], [200, 400, 0, 50, 50, 50]), "whole seconds"
    assert sum(point.y for point in of_completed.points) == pytest.approx(sum(offered), abs=5)


SCRIPT = "\\set aid random(1, 100000 * :scale)\nselect :aid;\n"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "read.sql"
    path.write_text(SCRIPT)
    return path


def of_scripts(target: object, **words: Any) -> tuple[Experiment, Workload]:
    return experiment(Words(str(target), **{"on": ("sqlite",), **words}))


def test_every_set_is_a_variable_of_the_type_it_is_written_in(script: Path) -> None:
    script.write_text(f"{SCRIPT}select :skew, ':name';\n")
    found, workload = of_scripts(
        script, set=("scale=1,10", "skew=1.5", "name=x", "sqlite.threads=1")
    )
    assert found.parameters == {"scale": (1, 10), "skew": (1.5,), "name": ("x",)}
    assert workload.tables == ()
    assert [run.cell.parameters["scale"] for run in plan(found, workload).runs] == [1, 10]


def test_scripts_are_mixed_by_the_weights_behind_their_names(script: Path) -> None:
    other = script.with_name("write.sql")
    other.write_text("select 2;\n")
    found, workload = of_scripts(f"{script}@9", script=(str(other),))
    assert found.scripts == (ScriptFile(str(script), 9), ScriptFile(str(other)))
    sent = workload.scripts_for(workload.test("script"), registry.system("sqlite").dialect)
    assert [(one.name, one.weight) for one in sent] == [("read", 9), ("write", 1)]
    assert workload_of(found) == workload


def test_a_workloads_test_can_run_another_script_on_its_data(script: Path) -> None:
    found, workload = of_scripts("bibsql.sequential", script=(str(script),))
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
        ("{}", {"script": ("{}",)}, "is named twice"),
        ("{0},,{0}", {}, "expected a script before and behind each comma"),
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
        of_scripts(target.format(script), **filled)


def test_a_password_in_a_script_is_no_variable_that_the_hint_names(script: Path) -> None:
    script.write_text("SELECT 'mysql://root:geheim@host/db', :rows;\n")
    with pytest.raises(YouError) as refused:
        of_scripts(script, set=("foo=1",))
    assert refused.value.hint == "known: rows; a server's own setting: --set SYSTEM.foo=VALUE"


def test_two_scripts_with_one_name_are_refused_with_a_way_to_call_them(script: Path) -> None:
    older = script.parent / "old" / script.name
    older.parent.mkdir()
    older.write_text(SCRIPT)
    with pytest.raises(YouError, match="two scripts are called 'read'") as found:
        of_scripts("", script=(f"{script},{older}",))
    assert "and name read-old.sql in its place" in str(found.value.hint)


def test_a_variable_that_nothing_sets_is_reported_before_a_server_is_started(script: Path) -> None:
    script.write_text(SCRIPT.replace(":scale", ":rows"))
    found, workload = of_scripts(script)
    with pytest.raises(ScriptError, match=r"read\.sql:1:29: .*:rows") as caught:
        Compiled(workload).check(plan(found, workload).runs)
    assert "--set rows=" in str(caught.value.hint)
    found, workload = of_scripts(script, set=("rows=1",))
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
    found, workload = of_scripts(file, on=(system,))
    with pytest.raises(ScriptError, match=message) as caught:
        Compiled(workload).check(plan(found, workload).runs)
    assert f"{caught.value.line}:{caught.value.column}" == place


def test_literals_names_and_comments_are_those_of_the_system(script: Path) -> None:
    for text, systems in (
        ("# it's a comment\nSELECT 'it\\'s';", "mariadb mysql"),
        ("/* a /* b */ SELECT 1;", "sqlite mariadb mysql cubrid"),
        ("/* a /* b */ */ SELECT 1;", "postgresql duckdb"),
        ("SELECT 1 AS [it's];", "sqlite cubrid"),
    ):
        script.write_text(f"{text}\n")
        for system in systems.split():
            found, workload = of_scripts(script, on=(system,))
            Compiled(workload).check(plan(found, workload).runs)


def test_a_script_in_the_systems_own_language_runs_in_place_of_a_tests(script: Path) -> None:
    file = script.with_suffix(".cql")
    file.write_text("SELECT balance FROM accounts WHERE id = 1;")
    found, workload = of_scripts("tpcb.select-only", script=(str(file),), on=("cassandra",))
    (run,) = plan(found, workload).runs
    assert why_refused(Compiled(workload), run) is None
    with pytest.raises(YouError, match="is SQL; ferretdb takes JSON"):
        of_scripts("tpcb.select-only", feed=str(script), on=("sqlite", "ferretdb"))
