"""Scripts without a workload: in place of a test's, with pgbench's words, in groups that end by
counts; a script that a system cannot express is left out alone."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import forked_programs
from assay.cli.options.typed_words import other_options
from assay.cli.program import COMMANDS, command_of, run_program
from assay.record import DEFAULT_FILE_NAME, Store
from commands import IN_MEMORY, Assay

SCRIPT = "\\set aid random(1, 100 * :scale)\nselect :aid;\nselect 2;\n"
ONE_MS = "null[delay=constant:1ms]"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    (tmp_path / "read.sql").write_text(SCRIPT)
    (tmp_path / "other.sql").write_text("select 3;\n")
    (tmp_path / "one.pgbench").write_text("\\set y :x + :scale\nSELECT :y;\n")
    return tmp_path


def ran(words: str, capsys: pytest.CaptureFixture[str], status: int = 0) -> dict[str, Any]:
    assert run_program(["run", *words.split(), "--format", "json"]) == status
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def table(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document["tables"][name]
    return found


def warned(document: dict[str, Any]) -> set[str]:
    return {one["name"] for one in document["warnings"]}


def test_a_script_run_prints_one_document_with_throughput_times_and_cost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = f"read.sql --on {ONE_MS} --set scale=10 --clients 4 --threads 2 --warm-up 0.2"
    document = ran(f"{words} --duration 1", capsys)
    (run,) = table(document, "runs")
    # Two statements of a millisecond each, by four clients: no faster, and no more of them.
    assert 0 < run["throughput_per_s"] <= 2000
    assert run["latency_p50_ns"] >= 2_000_000
    assert run["client_cpu_per_transaction_ns"] > 0
    assert run["server_cpu_per_transaction_ns"] is None
    assert (run["clients"], run["parameter_scale"]) == (4, 10)
    assert "short-measurement" in warned(document)


def test_results_are_labelled_with_every_script_that_was_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script in place of a test's own must not pass for that test."""
    mine = "\\set aid random(1, 10)\nselect abalance from pgbench_accounts where aid = :aid;\n"
    (folder / "mine.sql").write_text(mine)
    (folder / "asked.toml").write_text(
        'workload = "tpcb"\nscript = ["mine.sql"]\nsystems = ["null"]\n[drive]\ntransactions = 5\n'
    )
    (folder / "more.sql").write_text("select 4;\n")
    for words, label, test in (
        ("tpcb --script mine.sql --on null -t 5", "tpcb with mine.sql", "mine.sql"),
        ("asked.toml", "tpcb with mine.sql", "mine.sql"),
        ("-f other.sql -f more.sql@2 --on null -t 5", "other.sql + more.sql@2", "script"),
    ):
        assert run_program(["run", *words.split(), "--records", "r.sqlite"]) == 0
        printed = capsys.readouterr()
        assert printed.out.startswith(f"{label}: ")
        assert run_program(["list", "runs", "--records", "r.sqlite", "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)[-1]["test"] == label
        assert run_program(["report", "--records", "r.sqlite"]) == 0
        report = capsys.readouterr().out
        assert report.startswith(f"{label}\n")
        assert "TPC-B" not in report + printed.out + printed.err
        assert "tpcb-like" not in report + printed.out + printed.err
        assert run_program(["report", "--records", "r.sqlite", "--format", "json"]) == 0
        (run,) = json.loads(capsys.readouterr().out)["tables"]["runs"]
        assert run["test"] == test


def test_scripts_are_chosen_by_their_weights(capsys: pytest.CaptureFixture[str]) -> None:
    words = "read.sql@3 --script other.sql@1 --on null --set scale=1 --transactions 2000"
    document = ran(words, capsys)
    counts = {one["transaction"]: one["count"] for one in table(document, "transactions")}
    assert counts["read"] + counts["other"] == 2000
    assert 1400 < counts["read"] < 1600


def test_an_open_loop_has_lag_beside_latency_and_service_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = f"other.sql --on {ONE_MS} --clients 4 --offered-rate 50 --duration 2"
    document = ran(words, capsys)
    (times,) = table(document, "transactions")
    assert times["count"] == 100
    assert times["service_time_p50_ns"] >= 1_000_000
    assert times["latency_min_ns"] >= times["service_time_min_ns"]
    assert times["schedule_lag_max_ns"] is not None
    assert "offered-rate-not-reached" not in warned(document)


def test_what_cannot_begin_within_the_limit_is_skipped_and_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = "other.sql --on null[delay=constant:10ms] --offered-rate 400 --duration 1"
    document = ran(f"{words} --latency-limit 50ms", capsys)
    (run,) = table(document, "runs")
    counts = {name: run[name] for name in ("ok", "skipped", "scheduled")}
    assert counts["ok"] + counts["skipped"] == counts["scheduled"] == 400
    assert counts["skipped"] > 200
    assert "late-arrivals" in warned(document)


def test_each_statement_is_timed_with_per_statement(capsys: pytest.CaptureFixture[str]) -> None:
    words = f"read.sql --on {ONE_MS} --set scale=1 --transactions 50 --per-statement"
    document = ran(words, capsys)
    lines = table(document, "statements")
    assert [(one["line"], one["count"]) for one in lines] == [(2, 50), (3, 50)]


def test_the_reason_for_which_a_test_is_refused_is_not_in_the_file_of_its_statements(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = "check --explain glidemon.materialize --on duckdb,cassandra --format sql"
    assert run_program(words.split()) == 0
    printed = capsys.readouterr()
    assert "insert into task_summary" in printed.out
    assert "refused" not in printed.out
    assert "glidemon.materialize is refused: cassandra: CQL cannot fill a table" in printed.err


def test_scripts_that_are_compared_are_cells_of_their_own(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1;\n")
    (tmp_path / "b.sql").write_text("SELECT 2;\nSELECT :n;\n")
    done = assay("run", "a.sql,b.sql", "--on", "null", "--set", "n=7", "--transactions", "20")
    assert done.status == 0, done.err
    assert [(run.test_name, run.driven and run.driven.all_ok.count) for run in done.runs] == [
        ("a.sql", 20), ("b.sql", 20),
    ]  # fmt: skip
    assert len({run.cell_fingerprint for run in done.runs}) == 2
    planned = assay("plan", "a.sql,b.sql", "--on", "null", "--set", "n=7", "--format", "json")
    assert [row["test"] for row in planned.document] == ["a.sql", "b.sql"]
    for between in ("script", "script=b.sql,a.sql"):
        compared = assay("compare", "latest", "--between", between, "--format", "json")
        assert len({ratio["cell"] for ratio in compared.document["ratios"]}) == 1, compared.err
    said = assay("compare", "latest", "--between", "script").out
    assert "answers     not compared: each script asks" in said
    page = assay("report", "--format", "html").out
    assert "Script a.sql" in page and "Script b.sql" in page


def test_scripts_that_are_compared_are_answered_with_a_ratio(assay: Assay, tmp_path: Path) -> None:
    """On the terminal after the run, and in each form of the report, as two systems are."""
    (tmp_path / "a.sql").write_text("SELECT 1;\n")
    (tmp_path / "b.sql").write_text("SELECT 2;\nSELECT 3;\n")
    options = ("--transactions", "20", "--clients", "1", "--repetitions", "3", "--no-probe")
    done = assay("run", "a.sql,b.sql", "--on", "sqlite", *options)
    assert done.status == 0, done.err
    assert [run.test_name[0] for run in done.runs] == ["a", "b", "b", "a", "a", "b"]
    (answer,) = assay("report", "--format", "json").document["answers"]
    assert answer["factor"] == "script"
    (conclusion,) = answer["conclusions"]
    assert {conclusion["level"], conclusion["compared_with"]} == {"a.sql", "b.sql"}
    assert conclusion["ratio_low"] < conclusion["ratio"] < conclusion["ratio_high"]
    said = answer["sentence"].partition(";")[0]
    assert " as fast as " in said
    pages = (assay("report", "--format", form).out for form in ("markdown", "html", "table"))
    for text in (done.err + done.out, *pages):
        assert said in " ".join(text.split())


def test_checks_of_a_test_are_not_run_after_other_scripts(
    assay: Assay, working_folder: Path
) -> None:
    """It leaves the sums of tpcb unequal, which is no mistake of the system."""
    (working_folder / "mine.sql").write_text(
        "UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = 1;\n"
    )
    ended = assay(
        "run", "tpcb", "-f", "mine.sql", "--on", "sqlite", "--warm-up", "0", "--transactions", "5"
    )
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    rules = {check["id"]: (check["ok"], check["note"]) for check in run.checks}
    assert rules["balances"] == (None, "not run: other scripts were run than the test's")


WORKLOAD = """\
title = "Two questions"
source = "invented"
default_test = "both"

[data]
source = "none"

[tests.both]
title = "Both"
help = "Each question once"
scripts = ["*.sql"]
changes_data = false
passes = 1
clients = [1]

[not_expressible.sqlite]
second = "SQLite has no such words"
"""


def test_the_record_and_the_report_name_it_and_its_reason(
    assay: Assay, working_folder: Path
) -> None:
    folder = working_folder / "two"
    folder.mkdir()
    (folder / "workload.toml").write_text(WORKLOAD)
    (folder / "first.sql").write_text("SELECT 1;\n\\atomic\n")
    (folder / "second.sql").write_text("SELECT no such words;\n")
    ended = assay("run", "two", "--on", "sqlite", *IN_MEMORY)
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.driven is not None
    assert run.driven.outcomes.ok == 1 and run.driven.left_out == ("second",)
    assert "scripts-left-out" in [warning.name for warning in run.warnings]
    (declared,) = (one for one in run.warnings if one.name == "declared-atomic")
    assert declared.detail.endswith(": first")
    assert "SQLite has no such words" in " ".join(ended.out.split())


SHORT = "-c 2,4 -j 1 -T 5min -t 7 -D x=3 -M extended -R 10 -L 20ms -s 9 -f one.pgbench@2"
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


def test_every_answer_names_options_that_there_are() -> None:
    known = {one for name in COMMANDS for param in command_of(name).params for one in param.opts}
    for other in other_options():
        assert {word for word in other.here.split() if word.startswith("--")} <= known, other
        assert other.beside in known


COUNTED_WORKLOAD = """\
title = "Groups"
source = "none"
default_test = "mixed"

[data]
source = "none"

[tests.mixed]
title = "Mixed"
help = "One group ends long before the other"

[[tests.mixed.steps]]
do = "drive"

[[tests.mixed.steps.groups]]
name = "short"
clients = 1
scripts = ["one"]
transactions = 5

[[tests.mixed.steps.groups]]
name = "long"
clients = 2
scripts = ["two"]
transactions = 200
"""


def test_each_group_has_the_throughput_of_its_own_time(assay: Assay, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "workload.toml").write_text(COUNTED_WORKLOAD)
    (folder / "one.sql").write_text("SELECT 1;\n")
    (folder / "two.sql").write_text("SELECT 2;\n")
    ended = assay("run", folder, "--on", "null[delay=constant:1ms]")
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.observation is not None
    reported = {group.name: group.throughput_per_s for group in run.observation.groups}
    with closing(sqlite3.connect(ended.experiment.path)) as record:
        seen = dict(record.execute("SELECT group_name, throughput_per_s FROM groups"))
    assert seen == pytest.approx(reported)
    whole = run.observation.throughput_per_s
    assert whole is not None and reported["short"] > 5 / (405 / whole)
    short, long = run.observation.groups
    assert short.until_s(run.observation.elapsed_ns) == short.elapsed_ns / 1e9
    assert long.until_s(run.observation.elapsed_ns) is None
    assert ended.out.count(" TPS until ") == 1, ended.out
    details = assay("report", "--detail").out
    assert "of its own time: it ended at " in " ".join(details.split())


@pytest.mark.parametrize(("users", "groups"), [(3, {"short", "long"}), (1, {"short"})])
def test_a_group_ends_with_another_and_one_without_clients_takes_no_part(
    assay: Assay, tmp_path: Path, users: int, groups: set[str]
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    text = COUNTED_WORKLOAD.replace("transactions = 200", 'ends_with = "short"')
    text = text.replace("clients = 2", 'clients = "others"') + (
        "[parameters.users]\ntype = 'int'\ndefault = 1\nhelp = 'Users'\n"
        "[constants]\nothers = ':users - 1'\n"
    )
    (folder / "workload.toml").write_text(text)
    (folder / "one.sql").write_text("SELECT 1;\n")
    (folder / "two.sql").write_text("SELECT 2;\n")
    ended = assay("run", folder, "--on", "null[delay=constant:2ms]", "--set", f"users={users}")
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.observation is not None
    assert {group.name for group in run.observation.groups} == groups
    assert run.clients == users
    counts = {one.name: one.ok for one in run.observation.outcomes_by_transaction}
    assert counts["one"] == 5, "the other group has no end of its own, and has ended"
    assert "two" not in counts or users > 1
