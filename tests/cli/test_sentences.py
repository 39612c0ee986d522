"""Error messages, as users read them."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from assay import env_vars
from assay.cli.commands.merge import _numbers
from assay.cli.program import run_program
from assay.errors import ArgumentError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    Path("one.sql").write_text("SELECT 1;\n")


def test_a_record_of_an_unknown_version_is_refused_in_words(
    capfd: pytest.CaptureFixture[str],
) -> None:
    words = ["run", "one.sql", "--on", "null", "--transactions", "1", "--records", "old"]
    assert run_program(words) == 0
    with closing(sqlite3.connect("old")) as record:
        record.execute("PRAGMA user_version = 0")
    capfd.readouterr()
    assert run_program(words) == 2
    said = capfd.readouterr().err
    assert "version (user_version) is 0" in said
    assert not any(word in said for word in ("rollback", "already exists", "bug"))


def test_numbers_in_a_row_are_a_range() -> None:
    assert _numbers([3]) == "experiment 3"
    assert _numbers([1, 2, 3]) == "experiments 1 to 3"
    assert _numbers([1, 3]) == "experiments 1, 3"


@pytest.mark.parametrize("named", ["", "/nonexistent"])
def test_a_missing_home_is_not_created(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", named)
    found = env_vars.home()
    assert found is None or (found.is_dir() and found != Path("/"))


def test_errors_of_the_system_are_sentences_without_numbers() -> None:
    assert ArgumentError("[Errno 2] No such file: 'x'").message == "No such file: 'x'"
    assert ArgumentError("bind: Address in use (os error 98)").message == "bind: Address in use"


DESK = """title = "t"
source = "s"
default_test = "read"
default_system = "sqlite"
[data]
source = "generated"
[parameters.rate]
type = "float"
default = 2.0
help = "h"
[[tables]]
name = "notes"
rows = "10"
primary_key = ["id"]
[tables.columns]
id = "int not null"
[tables.values]
id = ":row"
[tests.read]
title = "t"
help = "h"
scripts = ["read.sql"]
transactions = 2
"""


@pytest.mark.parametrize(
    ("clients", "script", "said"),
    [
        ('"rate"', "SELECT 1;",
         "desk/workload.toml:26: clients = 'rate': the parameter rate is of type float; expected "
         'int\n\nhint: [parameters.rate] type = "int"'),
        ('"four"', "SELECT 1;", "clients = 'four' is neither a number nor a parameter\n\n"
         "hint: clients = 4, or add [parameters.four] with type = \"int\""),
        ("1", "SELECT :x, :rate;", "desk/read.sql:1:8: "),
    ],
)  # fmt: skip
def test_a_mistake_in_a_workload_folder_is_reported_with_its_place_and_fix(
    clients: str, script: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    steps = f'[[tests.read.steps]]\ndo = "drive"\nclients = {clients}\n'
    text = DESK + steps
    Path("desk").mkdir()
    Path("desk/workload.toml").write_text(text)
    Path("desk/read.sql").write_text(script)
    assert run_program(["plan", "desk", "--on", "sqlite"]) == 2 or "desk/read.sql" in said
    found = capfd.readouterr().err
    if not found:
        assert run_program(["run", "desk", "--on", "sqlite"]) == 2
        found = capfd.readouterr().err
    assert said in found


def test_a_script_with_another_ending_is_a_script_with_an_option() -> None:
    Path("one.txt").write_text("SELECT 1;\n")
    assert run_program(["plan", "-f", "one.txt", "--on", "null"]) == 0


def test_a_group_without_a_rate_is_named_with_its_file_and_line(
    capfd: pytest.CaptureFixture[str],
) -> None:
    group = '[[tests.read.steps]]\ndo = "drive"\n\n[[tests.read.steps.groups]]\nname = "w"\n'
    Path("desk").mkdir()
    Path("desk/workload.toml").write_text(
        DESK.replace('scripts = ["read.sql"]\n', "")
        + group
        + 'scripts = ["read.sql"]\narrival = "constant"\n'
    )
    Path("desk/read.sql").write_text("SELECT 1;")
    assert run_program(["plan", "desk"]) == 2
    found = capfd.readouterr().err
    assert re.search(r"desk/workload.toml:\d+: group w: .* needs offered_rate_per_s", found), found
    assert "hint: add offered_rate_per_s = 1000" in found


def test_a_queue_beside_a_count_is_refused_with_its_line(capfd: pytest.CaptureFixture[str]) -> None:
    Path("desk").mkdir()
    Path("desk/workload.toml").write_text(f"{DESK}queue = 200\n")
    Path("desk/read.sql").write_text("SELECT 1;")
    assert run_program(["plan", "desk"]) == 2
    line = DESK.count("\n") + 1
    assert f"desk/workload.toml:{line}: queue, which all" in capfd.readouterr().err
