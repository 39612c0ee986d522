"""What is planned for scripts: the program and protocol of their clients, and which of them
read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import observations
from assay.cli.program import run_program
from assay.contracts.driving import read_of
from assay.contracts.engine import DriveDocument
from assay.contracts.observation import Observation
from assay.drive.document import document_of, scripts_of
from assay.drive.prepare import Compiled
from assay.errors import ArgumentError, ExperimentError, ScriptError
from assay.experiment.from_command_line import Words, experiment
from assay.judge.result_checks import CONFLICTS, why_failed
from assay.lab.refusal import why_refused
from assay.plan import PlannedRun, plan
from assay.plan.drives import drives
from assay.registry import system
from assay.workload import reader
from assay.workload.ad_hoc_script import workload_of
from step_workloads import folder_of


def planned(target: str = "bibsql.parallel", **given: Any) -> list[tuple[PlannedRun, str | None]]:
    """Each run, and why it would be refused."""
    asked = {"on": ("sqlite",), "clients": "2", **given}
    found, workload = experiment(Words(target, **asked))
    return [(run, why_refused(Compiled(workload), run)) for run in plan(found, workload).runs]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"on": ("postgresql",)}, None),
        ({"target": "bibsql.sequential", "cache": "cold"}, None),
        ({"target": "bibsql.checks"}, "bibsql.checks cannot be run by a system's own client"),
        ({"target": "bibsql.update", "clients": None}, "bibsql.update cannot be run by a system"),
        ({"target": "tpcb"}, "tpcb.tpcb-like cannot be run by a system's own client program"),
        ({"on": ("null",)}, "null has no client program that Assay could start"),
        ({"on": ("postgresql://u@h/d",)}, "is not started by Assay: its own client is not"),
        ({"memory": "1GB"}, "its memory is limited in Assay's process"),
        ({"protocol": "prepared", "threads": 2}, "with protocol = prepared, threads = 2"),
        ({"duration_s": 3.0}, "with duration_s = 3"),
        ({"think_time": "constant:1s"}, "with think_time = constant:1s"),
        ({"isolation": "serializable"}, "with isolation = serializable"),
    ],
)
def test_what_no_client_program_can_do_is_refused_with_the_reason(
    given: dict[str, Any], reason: str | None
) -> None:
    ((_, refused),) = planned(client_program="native", **given)
    assert refused is None if reason is None else reason in str(refused)


def test_other_statements_than_those_of_the_test_are_refused(tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    ((_, refused),) = planned(client_program="native", feed=str(tmp_path / "one.sql"))
    assert "runs the scripts of the test, and no others" in str(refused)


@pytest.mark.parametrize(
    ("keys", "script", "reason"),
    [
        ("", "SELECT 1 WHERE ':x' = '::y'; -- :z\n", ""),
        ("changes_data = true\n", "SELECT 1;\n", "it may change data"),
        ('protocol = "prepared"\n', "SELECT 1;\n", "its protocol is prepared"),
        ('think_time = "constant:1s"\n', "SELECT 1;\n", "more is said of its clients"),
        ("", "SELECT :number;\n", "read needs the value of :number"),
    ],
)
def test_a_test_says_only_what_a_client_program_can_run(
    tmp_path: Path, keys: str, script: str, reason: str
) -> None:
    said = {"changes_data": "false", "protocol": '"simple"', "passes": "1"}
    plain = "".join(f"{key} = {level}\n" for key, level in said.items() if not keys.startswith(key))
    folder = folder_of(
        tmp_path / "w", f'scripts = ["read.sql"]\nallows_native_client = true\n{plain}{keys}'
    )
    (folder / "read.sql").write_text(script)
    if not reason:
        assert reader.read(str(folder)).test("t").allows_native_client
        return
    with pytest.raises(ExperimentError, match=f"cannot run this test: {reason}") as refused:
        reader.read(str(folder))
    assert refused.value.line is not None


MIX = "transactions = 1\nmix = { write = 1, look = 3, find = 3 }\n"
GROUPS = """duration_s = 1
{read}
[[tests.t.steps]]
do = "load"
[[tests.t.steps]]
do = "drive"
[[tests.t.steps.groups]]
name = "writers"
scripts = ["write"]
[[tests.t.steps.groups]]
name = "both"
scripts = ["write", "look"]
[[tests.t.steps.groups]]
name = "readers"
scripts = ["look", "find"]
read = "any"
"""


def reads_of(folder: Path, **words: str) -> dict[str, str]:
    """By group (empty: none) where its scripts are sent."""
    for name in ("look", "find"):
        (folder / f"{name}.sql").write_text("SELECT 1;\n")
    asked, _ = experiment(Words(str(folder), on=("postgresql",), **words))
    workload = workload_of(asked)
    (run,) = plan(asked, workload).runs
    (drive,) = drives(workload, run)
    return {one.name: one.driving.read for one in drive.groups} or {"": drive.run.cell.driving.read}


@pytest.mark.parametrize(
    ("read", "option", "expected"),
    [
        ('"replica"', {}, "replica"),
        ('{ look = "replica", find = "any" }', {}, "find=any,look=replica"),
        ('{ "*" = "replica" }', {}, "replica"),
        ('{ "look.sql" = "primary" }', {}, "primary"),
        ('{ look = "replica" }', {"read": "find=any"}, "find=any"),
    ],
)
def test_scripts_are_sent_where_a_test_or_the_option_in_its_place_says(
    tmp_path: Path, read: str, option: dict[str, str], expected: str
) -> None:
    assert reads_of(folder_of(tmp_path, f"{MIX}read = {read}\n"), **option) == {"": expected}


def test_groups_have_what_their_step_says_of_their_scripts(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, GROUPS.format(read='read = { look = "replica" }'))
    assert reads_of(folder) == {"writers": "primary", "both": "look=replica", "readers": "any"}


def test_others_go_to_the_primary() -> None:
    assert [read_of("a=replica,b=any", name) for name in "abc"] == ["replica", "any", "primary"]
    assert read_of("any", "a") == "any"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("lok=replica", "no script is called lok"),
        ("look=replicas", "expected primary, replica or any, or SCRIPT=WORD"),
        ("=any", "expected primary, replica or any, or SCRIPT=WORD"),
    ],
)
def test_a_wrong_word_is_refused(tmp_path: Path, word: str, message: str) -> None:
    folder = folder_of(tmp_path, MIX)
    with pytest.raises(ArgumentError) as refused:
        reads_of(folder, read=word)
    assert message in refused.value.message


@pytest.mark.parametrize("read", ["{}", '{ look = "replicas" }', '"look"'])
def test_a_wrong_key_is_refused_with_its_line(tmp_path: Path, read: str) -> None:
    folder = folder_of(tmp_path, f"{MIX}read = {read}\n")
    with pytest.raises(ExperimentError) as refused:
        reads_of(folder)
    assert refused.value.line is not None


QUOTED = "\\set c_last random(1, 9)\nSELECT ':c_last', :c_last;\n"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("q.sql")
    path.write_text(QUOTED)
    return path


def document(target: object, **words: Any) -> DriveDocument:
    found, workload = experiment(Words(str(target), on=("sqlite",), **words))
    (run,) = plan(found, workload).runs
    dialect = system("sqlite").dialect
    (drive,) = drives(workload, run)
    return document_of(workload, drive, dialect, scripts_of(workload, drive, dialect))


@pytest.mark.slow
def test_an_ad_hoc_script_is_simple_as_with_pgbench(script: Path) -> None:
    assert document(script).protocol == "simple"
    assert document(script, protocol="extended").protocol == "extended"
    assert document("tpcb.select-only").protocol == "prepared"


@pytest.mark.slow
def test_scale_is_one_by_default(script: Path) -> None:
    assert document(script).variables == {"scale": 1}
    assert document(script, scale=7).variables == {"scale": 7}
    assert document(script, set=("scale=8",)).variables == {"scale": 8}
    # A workload's own parameter keeps its default.
    given = document("tpcb.select-only", script=(str(script),)).variables
    assert given["scale"] == document("tpcb.select-only").variables["scale"]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["extended", "prepared"])
def test_a_bound_parameter_within_quotes_is_a_warning_before_the_run_and_with_it(
    script: Path, protocol: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = "q.sql:2:9: :c_last is within quotes"
    words = [str(script), "--on", "null", "-M", protocol, "--transactions", "5"]
    assert run_program(["plan", *words]) == 0
    assert f"warning: {place}" in capsys.readouterr().err
    assert run_program(["run", *words, "--detail"]) == 0
    out, errors = capsys.readouterr()
    assert f"warning: {place}" in errors
    assert place in " ".join(out.split())
    assert run_program(["run", *words[:3], "--transactions", "5"]) == 0
    out, errors = capsys.readouterr()
    assert "within quotes" not in out + errors


@pytest.mark.slow
def test_a_test_of_a_workload_takes_simple_only_without_parameters() -> None:
    found, workload = experiment(Words("tpcb.select-only", on=("sqlite",), protocol="simple"))
    with pytest.raises(ScriptError, match=r"select-only\.sql:\d+:\d+: .*:aid") as caught:
        Compiled(workload).check(plan(found, workload).runs)
    assert "--protocol prepared" in str(caught.value.hint)


@pytest.mark.slow
def test_every_test_that_comes_with_assay_compiles_with_its_own_protocol() -> None:
    for name in ("tpcb", "ssd", "e831", "bibsql"):
        given = ("scale=2",) if name == "tpcb" else ()
        found, workload = experiment(Words(f"{name}.*", on=("sqlite",), set=given))
        assert Compiled(workload).check(plan(found, workload).runs) == ()


@pytest.mark.slow
def test_few_conflicts_of_an_ad_hoc_script_are_counted_and_do_not_fail_the_run() -> None:
    def observation(ok: int = 97, **classes: int) -> Observation:
        errors = [{"class": one, "count": n} for one, n in classes.items()]
        return observations.observation(
            outcomes=observations.outcomes(ok=ok, failed=sum(classes.values())),
            errors=[observations.error(**one) for one in errors],
        )

    conflicts = observation(serialization=2, deadlock=1)
    assert why_failed(conflicts, [], None, counted=CONFLICTS) is None
    assert "3 transactions" in str(why_failed(conflicts, [], None))
    many = observation(ok=7, serialization=2, deadlock=1)
    assert "30 % of all" in str(why_failed(many, [], None, counted=CONFLICTS))
    all_of_them = why_failed(observation(ok=0, timeout=3), [], None, counted={"timeout"})
    assert "3 transactions failed" in str(all_of_them)
    mixed = observation(serialization=2, syntax=1)
    assert "syntax: m" in str(why_failed(mixed, [], None, counted=CONFLICTS))
