"""How a script's values are sent: as text, bound each time, or bound to a prepared statement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import observations
from assay.cli.program import run_program
from assay.contracts.engine.drive import DriveDocument
from assay.contracts.observation import Observation
from assay.drive.document import document_of, scripts_of
from assay.drive.prepare import Compiled
from assay.errors import ScriptError
from assay.experiment.from_command_line import Words, experiment
from assay.judge.check.verdict import CONFLICTS, why_failed
from assay.plan import plan
from assay.plan.drives import drives
from assay.registry import system

pytestmark = pytest.mark.slow

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


def test_an_ad_hoc_script_is_simple_as_with_pgbench(script: Path) -> None:
    assert document(script).protocol == "simple"
    assert document(script, protocol="extended").protocol == "extended"
    assert document("tpcb.select-only").protocol == "prepared"


def test_scale_is_one_by_default(script: Path) -> None:
    assert document(script).variables == {"scale": 1}
    assert document(script, scale=7).variables == {"scale": 7}
    assert document(script, set=("scale=8",)).variables == {"scale": 8}
    # A workload's own parameter keeps its default.
    given = document("tpcb.select-only", script=(str(script),)).variables
    assert given["scale"] == document("tpcb.select-only").variables["scale"]


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


def test_a_test_of_a_workload_takes_simple_only_without_parameters() -> None:
    found, workload = experiment(Words("tpcb.select-only", on=("sqlite",), protocol="simple"))
    with pytest.raises(ScriptError, match=r"select-only\.sql:\d+:\d+: .*:aid") as caught:
        Compiled(workload).check(plan(found, workload).runs)
    assert "--protocol prepared" in str(caught.value.hint)


def test_every_test_that_comes_with_assay_compiles_with_its_own_protocol() -> None:
    for name in ("tpcb", "ssd", "e831", "bibsql"):
        given = ("scale=2",) if name == "tpcb" else ()
        found, workload = experiment(Words(f"{name}.*", on=("sqlite",), set=given))
        assert Compiled(workload).check(plan(found, workload).runs) == ()


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
    mixed = observation(serialization=2, syntax=1)
    assert "syntax: m" in str(why_failed(mixed, [], None, counted=CONFLICTS))
