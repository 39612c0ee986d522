"""What a record has is listed, shown and asked for by SQL: also of a run under way, and of a
record that another program has locked."""

from __future__ import annotations

import csv
import json
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import forked_programs
from assay import registry
from assay.errors import ArgumentError, ExperimentError
from assay.provision.undo.ledger import clear_leftovers
from assay.record import DEFAULT_FILE_NAME, Store
from assay.workload import reader
from commands import Assay, run_in
from running import started
from step_workloads import folder_of, ran
from waiting import HANG_S, wait_until

FILES = ("one.sqlite", "two.sqlite")


def _json(folder: Path, *command: str) -> Any:
    return json.loads(run_in(folder, *command, "--format", "json").stdout)


def _run(folder: Path, test: str, records: str) -> None:
    run_in(
        folder, "run", test, "--on", "null", "--warm-up", "0", "--transactions", "20", "--records",
        records,
    )  # fmt: skip


def ask(record: Path, question: str) -> list[tuple[Any, ...]]:
    """As any program that can read SQLite; nothing while there is no record."""
    if not record.exists():
        return []
    with closing(sqlite3.connect(f"file:{record}?mode=ro", uri=True, timeout=10)) as connection:
        try:
            return connection.execute(question).fetchall()
        except sqlite3.OperationalError:
            return []  # it is being made


def test_only_the_last_experiments_are_listed_and_in_a_trend(tmp_path: Path) -> None:
    for records in (FILES[0], FILES[1], FILES[0]):
        _run(tmp_path, "tpcb.select-only", records)
    _run(tmp_path, "tpcb.simple-update", FILES[0])

    listed = _json(tmp_path, "list", "runs", "--last", "2", "--records", FILES[0])
    assert [run["experiment"] for run in listed] == [2, 3]
    everything = _json(tmp_path, "list", "runs", "--last", "100", "--records", FILES[0])
    assert len(everything) == 3

    both = [word for name in FILES for word in ("--records", name)]
    trend = ("trend", "tpcb.select-only", *both)
    points = _json(tmp_path, *trend)["points"]
    assert [(Path(one["record"]).name, one["experiment"]) for one in points] == [
        (FILES[0], 1), (FILES[1], 1), (FILES[0], 2),
    ]  # fmt: skip
    # The experiment begun last has no such cell, and does not count.
    assert _json(tmp_path, *trend, "--last", "2")["points"][0]["record"] == FILES[1]


def test_a_measurement_outlives_a_lock_on_its_record(tmp_path: Path) -> None:
    """The client works until the record is locked."""
    waits = "\\shell until test -e locked; do sleep 0.1; done\nSELECT 1;\n"
    (tmp_path / "one.sql").write_text(waits)
    record = tmp_path / "r.sqlite"
    words = ["one.sql", "--on", "null", "--allow-shell", "-t", "1", "--records", record]
    environment = {**os.environ, "ASSAY_RECORD_TIMEOUT_S": "2"}
    with forked_programs.start(
        "assay", ["run", *words], folder=tmp_path, environment=environment
    ) as run:
        wait_until(lambda: ask(record, "SELECT 1 FROM drives"), "clients are at work")
        other = sqlite3.connect(record, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        (tmp_path / "locked").touch()
        report, message = run.communicate()
        other.close()
    assert run.returncode == 3, message
    assert "another process has locked" in message
    assert "throughput" in report, "the report is made from the rescue file"
    (rescue,) = tmp_path.glob("r.sqlite.rescue-*-1")
    assert f"assay merge {rescue} --records {record}" in " ".join(message.split())
    assert ask(record, "SELECT ended_unix_ns, state = 'done' FROM runs") == [(None, 0)]
    merged = forked_programs.run("assay", ["merge", rescue, "--records", record])
    assert merged.returncode == 0, merged.stderr
    assert "added 1 run" in merged.stderr
    assert ask(record, "SELECT state FROM runs") == [("done",)]
    assert ask(record, "SELECT ok > 0 FROM outcomes") == [(1,)]


TEST = 'scripts = ["few"]\ntransactions = 3\n'
VIEWS = """
[[views]]
name = "few"
query = "SELECT id FROM data WHERE id < 4;"

[[views]]
name = "fewer"
query = "SELECT nothing FROM few"
[views.overrides]
sqlite = "SELECT id FROM few WHERE id < 3"
duckdb = "SELECT id FROM few WHERE id < 3"
"""
READS = "SELECT id FROM fewer;\n\\expect rows 2\n"


def of_views(folder: Path, views: str = VIEWS) -> Path:
    made = folder_of(folder, TEST + views, few=READS)
    (made / "checks").mkdir()
    (made / "checks" / "none.sql").write_text("SELECT id FROM fewer WHERE id > 2;\n")
    return made


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_scripts_and_checks_read_a_view(tmp_path: Path, system: str) -> None:
    (run,) = ran(of_views(tmp_path), system).runs
    assert (run.state, run.reason) == ("done", "")
    assert [check["found"] for check in run.checks if check["id"] == "none"] == [0]


def test_a_view_of_ours_is_dropped_and_another_is_left(tmp_path: Path) -> None:
    file, folder = tmp_path / "own.db", of_views(tmp_path / "w")
    with closing(sqlite3.connect(file)) as base:
        base.execute("CREATE VIEW mine AS SELECT 1 AS id")
        ran(folder, f"sqlite:///{file}")
        views = "SELECT name FROM sqlite_master WHERE type = 'view'"
        assert base.execute(views).fetchall() == [("mine",)]
        base.execute("CREATE VIEW few AS SELECT 5 AS id")
        with pytest.raises(ArgumentError, match="holds a view or a table few already"):
            ran(folder, f"sqlite:///{file}", records=tmp_path / "second.sqlite")
        assert base.execute("SELECT id FROM few").fetchall() == [(5,)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"few"', '"data"', "a second table or view is called data"),
        ("id < 4;", "id < :least", "the query of a view has no variables, found :least"),
        ("sqlite =", "sqlit =", "no dialect is called 'sqlit'"),
        ("query = ", "qeury = ", "query is missing"),
    ],
)
def test_mistakes_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = of_views(tmp_path, VIEWS.replace(old, new, 1))
    with pytest.raises(ExperimentError) as caught:
        reader.read(str(folder))
    assert message in caught.value.message
    assert caught.value.line > 0


SECONDS = "SELECT second, group_name, ok, failed, mean_ns, p99_ns FROM intervals ORDER BY 1, 2"
OF_1_MS = ("run", "one.sql", "--on", "null[delay=constant:1ms]", "--clients", "4", "--duration")


def test_another_process_reads_each_second_and_the_observation_takes_their_place(
    tmp_path: Path,
) -> None:
    record = tmp_path / DEFAULT_FILE_NAME
    (tmp_path / "one.sql").write_text("select 1;\n")
    with started(tmp_path, *OF_1_MS, "600") as running:
        wait_until(lambda: len(ask(record, SECONDS)) > 1, "two seconds have passed")
        assert ask(record, "SELECT count(*) FROM observations") == [(0,)]
        first = ask(record, SECONDS)[0]
        assert ask(record, "SELECT state FROM runs") == [("driving",)]
        report = run_in(tmp_path, "report", "latest", "--format", "intervals-csv")
        assert running.poll() is None, "the run is still under way"
        running.send_signal(signal.SIGINT)
        _, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 128 + signal.SIGINT, message
    assert report.returncode == 0, report.stderr
    lines = list(csv.DictReader(report.stdout.splitlines()))
    assert [line["second"] for line in lines[:2]] == ["0", "1"]
    assert int(lines[0]["ok"]) == first[2] > 0
    second, group, _, failed, mean_ns, p99_ns = first
    assert (second, group, failed) == (0, "", 0)
    assert 1e6 < mean_ns <= (p99_ns or mean_ns), "of too few transactions there is no p99"
    after = ask(record, SECONDS)
    assert [row[0] for row in after] == list(range(len(after))), "each second once"
    assert after[0] == first
    assert ask(record, "SELECT count(*) FROM seconds") == [(0,)]
    with Store(tmp_path / DEFAULT_FILE_NAME, must_exist=True) as store:
        (run,) = store.latest().runs
    assert run.driven is not None and len(run.driven.intervals) == len(after)


def test_a_kill_leaves_the_seconds_of_an_unfinished_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / DEFAULT_FILE_NAME
    (tmp_path / "one.sql").write_text("select 1;\n")
    with started(tmp_path, *OF_1_MS, "600") as running:
        wait_until(lambda: len(ask(record, SECONDS)) > 1, "two seconds have passed")
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=HANG_S)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    clear_leftovers()
    left = ask(record, SECONDS)
    assert len(left) > 1
    with Store(tmp_path / DEFAULT_FILE_NAME, must_exist=True) as store:
        (run,) = store.latest().runs
    assert (run.state, run.reason, run.observation) == ("interrupted", "process ended", None)
    assert [(one.second, one.ok) for one in run.seconds] == [row[::2][:2] for row in left]


RUN = ("--transactions", "20", "--repetitions", "2", "--no-probe", "--no-durability")


@pytest.mark.slow
def test_a_copied_script_is_compared_and_an_edited_one_is_not(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    scripts = [tmp_path / name for name in ("s.sql", "d/copy.sql", "s.sql")]
    for script, text in zip(scripts, ("select 1", "select 1", "select 2"), strict=True):
        script.write_text(f"{text}\n")
        ended = assay("run", str(script), "--on", "null", *RUN)
        assert ended.status == 0, ended.err
    copied = assay("compare", "1", "2", "--format", "json").document
    (ratio,) = (one for one in copied["ratios"] if one["is_primary"])
    assert ratio["ratio"] is not None
    assert not [one for one in copied["differences"] if one["what"] == "workload"]
    among_others = assay("run", f"s.sql,{scripts[1]}", "--on", "null", *RUN)
    assert among_others.status == 0, among_others.err
    beside = assay("compare", "3", "4", "--format", "json").document
    assert not [one for one in beside["differences"] if one["what"] == "workload"]
    edited = assay("compare", "1", "3")
    assert "text of the scripts" in edited.out and "--despite workload" in edited.err
    assert "other work" in assay("trend").out


@pytest.mark.slow
def test_a_level_of_a_setting_may_be_spelled_otherwise_in_between(
    assay: Assay, tmp_path: Path
) -> None:
    script = tmp_path / "s.sql"
    script.write_text("select 1\n")
    levels = "sqlite.synchronous=0,FULL"
    ended = assay("run", str(script), "--on", "sqlite", "--set", levels, *RUN)
    assert ended.status == 0, ended.err
    for between in (
        "sqlite.synchronous", "synchronous=OFF,Full", "synchronous=false,full",
        "synchronous=off,default",
    ):  # fmt: skip
        compared = assay("compare", "latest", "--between", between)
        assert compared.status == 0, compared.err
        assert (
            "sqlite.synchronous off" in compared.out and "sqlite.synchronous full" in compared.out
        )
    without = assay("run", str(script), "--on", "sqlite", *RUN)
    assert without.status == 0, without.err
    for between in ("sqlite.synchronous=off,full", "sqlite.synchronous=off,default"):
        compared = assay("compare", "1", "2", "--between", between)
        assert compared.status == 0, compared.err
        assert "sqlite.synchronous full, experiment 2" in compared.out


def test_they_are_listed_with_what_they_reproduce(assay: Assay) -> None:
    listed = assay("list", "experiments", "--format", "json").document
    assert [row["experiment"] for row in listed] == [
        f"{name}.toml" for name in registry.experiments()
    ]
    assert all(row["title"] and row["reproduces"] and row["tests"] for row in listed)


def test_one_is_found_in_any_folder(assay: Assay) -> None:
    plans = [
        assay("plan", name, "--quick", "--only", "sqlite").out
        for name in ("kreymer-1995.toml", "experiments/kreymer-1995.toml")
    ]
    assert plans[0] == plans[1] != ""


def test_a_file_of_the_same_name_comes_first(assay: Assay, working_folder: Path) -> None:
    own = working_folder / "kreymer-1995.toml"
    own.write_text('workload = "tpcb"\ntest = "no-such"\n')
    refused = assay("plan", own.name)
    assert refused.status == 2
    assert "kreymer-1995.toml:2" in refused.err
