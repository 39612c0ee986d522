"""What commands say in lists, and beside the files and records that they are given."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import invented_records as invented
from assay.cli.commands.capsule_rerun import _verdicts
from assay.cli.commands.completion import suggestions
from assay.cli.commands.plan import said_once
from assay.cli.options.experiment_references import last_two
from assay.cli.program import COMMANDS, group, run_program
from assay.comparison.sides import Comparison, Difference, Direction
from assay.errors import ArgumentError
from assay.record.runs import reading

SEED = Difference("seed", "seed", "1", "2")
VERSION = Difference("system", "version of the system", "1.0", "1.1")
MEMORY = Difference("machine", "memory", "1 GB", "2 GB")


def compared(
    *cells: tuple[str, Direction], differences: Any = (), machines: Any = ()
) -> Comparison:
    made = [
        SimpleNamespace(
            primary=SimpleNamespace(verdict=verdict, direction=direction),
            differences=differences,
            runs_verdict="unreliable" if direction is Direction.NONE else "valid",
        )
        for verdict, direction in cells
    ]
    return cast(Comparison, SimpleNamespace(cells=made, machines=machines, between=""))


SAME = ("no difference seen", Direction.NONE)
BUSY = ("not decided: other programs used 23 % of the processors", Direction.NONE)
FASTER = ("faster", Direction.BETTER)


def test_verdicts_are_counted_without_their_reasons() -> None:
    (line,) = _verdicts(compared(SAME, BUSY, SAME))
    assert line == "cells: 2 no difference seen (unreliable), 1 not decided (unreliable)"


@pytest.mark.parametrize(
    ("differences", "machines", "is_machine_alone"),
    [((), (), True), ((SEED,), (), True), ((VERSION,), (), False), ((), (MEMORY,), False)],
)
def test_a_difference_is_the_machine_s_where_nothing_else_differs(
    differences: Any, machines: Any, is_machine_alone: bool
) -> None:
    lines = list(_verdicts(compared(SAME, FASTER, differences=differences, machines=machines)))
    said = any("differ in nothing that is recorded" in line for line in lines)
    assert said is is_machine_alone


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Two systems with one and two clients."""
    systems = [invented.SQLITE, invented.POSTGRESQL]
    planned = invented.plan(systems, clients=(1, 2))
    elapsed = {(one.name, "here", count): (1.0,) for one in systems for count in (1, 2)}
    path = tmp_path / "found.sqlite"
    invented.experiment(path, planned, elapsed)
    return path


def values(line: str) -> list[str]:
    return [value for value, _ in suggestions(group, line, "")]


def test_the_tests_of_a_record_are_completed(record: Path) -> None:
    assert values(f"assay trend --records {record} ") == ["bibsql", "bibsql.parallel"]
    assert values(f"assay trend --records {record} bibsql.") == ["bibsql.parallel"]


def test_factors_with_several_levels_and_their_levels_are_completed(record: Path) -> None:
    line = f"assay compare --records {record} 1 --between "
    assert values(line) == ["system", "clients"]
    assert values(f"{line}clients=") == ["clients=1", "clients=2"]
    assert values(f"{line}clients=1,") == ["clients=1,2"]


def test_what_no_system_can_do_as_asked_is_no_experiment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "r.sqlite"
    asked = ["tpcb.select-only", "--on", "sqlite,null", "--client-program", "native"]
    assert run_program(["run", *asked, "--records", str(record)]) == 2
    assert "cannot be run by a system's own client program" in capsys.readouterr().err
    assert not record.exists()


def test_a_server_by_url_is_planned_on_no_storage_of_this_machine(
    capsys: pytest.CaptureFixture[str],
) -> None:
    systems = "sqlite,postgresql://u@h.invalid/d"
    assert run_program(["plan", "tpcb.select-only", "--on", systems, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["storage"] for row in rows] == ["here", None]


COLUMNS = ("parameters", "driving")


def row(test: str, driving: dict[str, Any], **parameters: Any) -> dict[str, Any]:
    return {"test": test, "parameters": parameters, "driving": driving}


def test_what_is_the_same_wherever_it_is_stands_below() -> None:
    rows = [
        row("a", {"passes": 1}, scale=1, pace=0.5, deep=True),
        row("a", {"passes": 1}, scale=2, pace=0.5, deep=True),
        row("b", {"passes": 1, "retries": 9}, scale=1, pace=0.5),
        row("b", {"passes": 1}, scale=2, pace=0.5),
    ]
    found, emptied, lines = said_once(rows, COLUMNS)
    assert [one["parameters"] for one in found] == [{"scale": 1}, {"scale": 2}] * 2
    assert [one["driving"] for one in found] == [{}, {}, {"retries": 9}, {}], "not all of b have it"
    assert emptied == []
    assert lines == [
        "parameters of all runs: pace=0.5",
        "parameters of a: deep=yes",
        "driving of all runs: passes=1",
    ]
    assert said_once(rows[2:3], COLUMNS) == (rows[2:3], [], []), "one run has all in its row"


def make(kind: str, path: Path) -> None:
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path)
        case "dangling":
            path.symlink_to("nowhere.sql")
        case "latin1":
            path.write_bytes("select 1;\nselect 'é';".encode("latin1"))
        case "unreadable":
            path.write_text("select 1;")
            path.chmod(0)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("missing", "s.sql: cannot be read: there is no such file"),
        ("dangling", "s.sql: cannot be read: there is no such file"),
        ("folder", "s.sql: is a folder"),
        ("pipe", "s.sql: is a pipe"),
        ("loop", "s.sql: cannot be read: it is a symbolic link in a loop of links"),
        ("latin1", "s.sql:2:9: is not UTF-8"),
        ("unreadable", "s.sql: cannot be read: you have no permission to"),
    ],
)
def test_each_is_refused_with_its_own_message(
    kind: str,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if kind == "unreadable" and os.geteuid() == 0:
        pytest.skip("the superuser reads every file")
    monkeypatch.chdir(tmp_path)
    make(kind, Path("s.sql"))
    for words in (["s.sql"], ["bibsql.sequential", "--script", "s.sql"]):
        assert run_program(["plan", *words, "--on", "sqlite"]) == 2
        assert sentence in capsys.readouterr().err


def test_a_run_names_its_system_and_its_short_help_is_one_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_program(["run", "tpcb", "--transactions", "1"]) == 2
    assert "no system under test" in capsys.readouterr().err
    assert run_program(["run", "-h"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) <= 24 and max(map(len, shown)) <= 80
    assert shown[-1].endswith("options: assay run --help")


def test_the_first_word_of_every_command_is_completed(capsys: pytest.CaptureFixture[str]) -> None:
    for shell in ("bash", "fish"):
        for name in COMMANDS:
            assert run_program(["completion", shell, "--line", f"assay {name} "]) == 0, name
            assert "Traceback" not in capsys.readouterr().err


@pytest.mark.slow
def test_the_last_two_experiments_of_one_workload_are_compared(tmp_path: Path) -> None:
    records = tmp_path / "r.sqlite"
    for script in ("one.sql", "two.sql"):
        (tmp_path / script).write_text("SELECT 1;\n")
        run_of = ("run", str(tmp_path / script), "--on", "null", "--transactions", "1")
        assert run_program([*run_of, "--records", str(records)]) == 0
    with pytest.raises(ArgumentError, match=r"found .*two\.sql once, as experiment 2"):
        last_two(records)
    assert run_program([*run_of, "--records", str(records)]) == 0
    assert last_two(records) == ("2", "3")


def test_of_many_experiments_none_is_read_to_find_the_last_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, planned = tmp_path / "r.sqlite", invented.plan([invented.SQLITE])
    with invented.at_once(path) as store:
        for number in range(1, 60):
            name = "rare" if number in (4, 59) else "often"
            invented.begin(store, planned, workload={"name": name})
    read: list[int] = []
    monkeypatch.setattr(reading, "experiment", lambda *given, **_: read.append(given[-1]))
    assert last_two(path) == ("4", "59")
    assert read == []


def test_a_wrong_value_of_a_variable_is_refused_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_SERVER_START_S", "soon")
    assert run_program(["plan", "tpcb", "--on", "sqlite"]) == 2
    assert "ASSAY_SERVER_START_S: expected seconds" in capsys.readouterr().err
