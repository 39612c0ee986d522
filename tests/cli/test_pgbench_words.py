"""pgbench's short options have the same meaning, those of other tools are answered with ours, and
scripts come from files and pipes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import forked_programs
from assay.cli.options.other_tools import other_options
from assay.cli.program import COMMANDS, command_of, run_program
from assay.record import DEFAULT_FILE_NAME, Store

BIN = Path(sys.executable).parent


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    (tmp_path / "one.pgbench").write_text("\\set y :x + :scale\nSELECT :y;\n")


SHORT = "-c 2,4 -j 1 -T 5min -t 7 -D x=3 -M extended -R 10 -L 20 -s 9 -f one.pgbench@2"
LONG = (
    "--clients 2,4 --threads 1 --duration 300 --transactions 7 --set x=3 --protocol extended "
    "--offered-rate 10 --latency-limit 20ms --scale 9 --script one.pgbench@2"
)


def test_the_short_options(capsys: pytest.CaptureFixture[str]) -> None:
    plans = []
    for words in (SHORT, LONG):
        assert run_program(["plan", *words.split(), "--on", "null", "--format", "json"]) == 0
        plans.append(capsys.readouterr().out)
    assert plans[0] == plans[1]
    assert '"clients": 4' in plans[0]
    assert '"duration_s": 300' in plans[0]


@pytest.mark.parametrize("words", [["-"], ["-f", "-"], ["-f", "-@2"]])
def test_a_script_from_standard_input(words: list[str]) -> None:
    def run(script: str) -> subprocess.CompletedProcess[str]:
        asked = ["run", *words, "--on", "sqlite", "-t", "3"]
        return forked_programs.run("assay", asked, stdin=script)

    ended = run("SELECT 1;\r\n")
    assert ended.returncode == 0, ended.stderr
    with Store(Path(DEFAULT_FILE_NAME), must_exist=True) as store:
        (ran,) = store.latest().runs
    assert ran.test == "script"
    assert ran.driven.outcomes.ok == 3
    wrong = run("SELECT 1;\n\\sett x 1\n")
    assert wrong.returncode == 2
    assert "<stdin>:2:1: " in wrong.stderr


def test_a_run_is_named_alike_in_reports_and_comparisons(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_program(["run", "one.pgbench", "-D", "x=1", "--on", "null", "-t", "1"]) == 0
    capsys.readouterr()
    assert run_program(["report", "run", "1"]) == 0
    without = capsys.readouterr().out
    for word in ("run 1", "run:1", "latest"):
        assert run_program(["report", word]) == 0
        assert capsys.readouterr().out == without
    assert run_program(["report", "1,1"]) == 2
    assert "twice" in capsys.readouterr().err


def test_every_answer_names_options_that_there_are() -> None:
    known = {one for name in COMMANDS for param in command_of(name).params for one in param.opts}
    for other in other_options():
        assert {word for word in other.here.split() if word.startswith("--")} <= known, other
        assert other.beside in known


def test_a_list_of_tests_may_repeat_the_name_of_the_workload(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plans = []
    for words in ("tpcb.select-only,simple-update", "tpcb.select-only,tpcb.simple-update"):
        assert run_program(["plan", words, "--on", "null", "--format", "json"]) == 0
        plans.append(capsys.readouterr().out)
    assert plans[0] == plans[1]


def test_help_is_still_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["run", "-h"]) == 0
    assert "Usage: " in capsys.readouterr().out


def test_statements_for_another_client_name_the_values_to_replace(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("q.sql").write_text("\\set x 1\nSELECT ':no', :x::text;\n")
    assert run_program(["explain", "q.sql", "--on", "null", "--format", "sql"]) == 0
    assert capsys.readouterr().out.startswith("-- Assay sets :x; replace by values of your own.\n")
