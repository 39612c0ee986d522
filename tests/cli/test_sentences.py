"""Error messages, as users read them."""

from __future__ import annotations

import re
import sqlite3
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


@pytest.mark.parametrize(
    ("words", "status", "expected"),
    [
        ("run one.sql --on null --records /proc/x", 3, "record file that can be written"),
        ("run one.sql --on null --records none/x", 2, "found no folder"),
        ("plan one.sql --on null --records none/x", 2, "found no folder"),
        ("plan one.sql --on null --records new", 0, "new does not exist yet"),
        ("delay-proxy --to :5432 --rtt 1ms", 2, "expected HOST:PORT or a socket's path, found ':"),
        ("delay-proxy --to server --rtt 1ms", 2, "--to 127.0.0.1:5432, or --to ./server.sock"),
        ("plan one.sql --on postgresql --rtt 200us,200us", 2, "--rtt: 200µs is given twice"),
        ("run one.sql --on null --records old", 2, "version (user_version) is 0"),
        ("run one.sql --on null --duration 1_0", 2, "found '1_0'"),
        ("plan one.sql --on null --repetitions 1e3", 2, "found '1e3': digits alone"),
        ("run one.sql --on null --set scale=", 2, "--set scale=VALUE"),
        ("list datasets --datasets none", 2, "expected a folder of data sets"),
        ("plan tpcb --on postgresql://h/d[shared_buffers=1]", 2, "settings of a server by URL"),
        ("durability --on sqlite --storage here", 2, "uses, found the kind 'here'"),
        ("durability --on null:/// --storage here", 2, "on systems that Assay starts"),
    ],
)
def test_a_mistake_has_its_message_and_status(
    words: str, status: int, expected: str, capfd: pytest.CaptureFixture[str]
) -> None:
    if "old" in words:
        assert (
            run_program(
                ["run", "one.sql", "--on", "null", "--transactions", "1", "--records", "old"]
            )
            == 0
        )
        with sqlite3.connect("old") as record:
            record.execute("PRAGMA user_version = 0")
        record.close()
    capfd.readouterr()
    assert run_program(words.split()) == status
    found = capfd.readouterr().err
    assert expected in found, found
    assert not any(word in found for word in ("rollback", "already exists", "bug"))


def test_a_number_with_a_blank_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_program(["plan", "one.sql", "--on", "null", "--duration", " 1"]) == 2
    assert "found ' 1'" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["list", "null-server"])
def test_choices_are_listed_without_escapes(
    command: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_program([command]) == 2
    found = capfd.readouterr().err
    assert re.match(r"error: (--protocol is missing: )?expected \w+.* or \w+", found)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "list tests",
            "expected systems, workloads, experiments, storages, runs or datasets, found 'tests'",
        ),
        ("run one.sql --arrival x", "--arrival: expected closed, constant or poisson, found 'x'"),
        ("run one.sql -c", "-c: expected a value, found none"),
        ("run one.sql --reconnect=1", "--reconnect: expected no value"),
        ("show 1 2", "expected no further argument, found 2"),
        ("show", "expected RUN, found nothing"),
    ],
)
def test_a_mistake_on_the_command_line_is_reported_in_a_sentence(
    words: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_program(words.split()) == 2
    assert capfd.readouterr().err.startswith(f"error: {said}\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("workload = tpcb", "1:12: expected a text in quotes, a number, true, false or a list, "
         "found 'tpcb'\n\nhint: a text stands in quotes: \"tpcb\""),
        ("workload =", "1:11: expected a text in quotes, a number, true, false or a list, found"),
        ('workload = "tpcb', "1:17: the text is not closed: expected a quotation mark\n\nhint: a "
         "text begins and ends with a quotation mark"),
        ('workload = "tpcb"\nduration = 3', "2: unknown key 'duration'\n\nhint: write "
         "duration_s = … below the heading [drive]"),
        ('workload = "tpcb"\nworkload = "ssd"', "2:17: this key or table is given twice"),
        ("seed = 1 2", "1:10: expected the end of the line behind the value"),
        ('workload = "tpcb"\nsystem = ["null"]', "2: system: expected tables [system.NAME] with "
         "settings\n\nhint: did you mean 'systems'?"),
        ("[drive", "1:7: expected [TABLE], found no closing bracket"),
        ("seed = [1, 2", "1:13: the list is not closed"),
        ("workload", "1:9: expected KEY = VALUE"),
        ('workload = "tpcb"\norder = "x"', "2: order = 'x': invalid value\n\nhint: known: inter"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_file_is_reported_with_its_place_and_fix(
    text: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("e.toml").write_text(text)
    assert run_program(["plan", "e.toml"]) == 2
    assert capfd.readouterr().err.startswith(f"error: e.toml:{said}")


def test_numbers_in_a_row_are_a_range() -> None:
    assert _numbers([3]) == "experiment 3"
    assert _numbers([1, 2, 3]) == "experiments 1 to 3"
    assert _numbers([1, 3]) == "experiments 1, 3"


@pytest.mark.parametrize("named", ["", "/nonexistent"])
def test_a_missing_home_is_not_created(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", named)
    found = env_vars.home()
    assert found is None or (found.is_dir() and found != Path("/"))


def test_a_date_is_shown_as_it_was_written(capfd: pytest.CaptureFixture[str]) -> None:
    Path("e.toml").write_text('script = "one.sql"\nsystems = "null"\nseed = 2026-01-01\n')
    assert run_program(["plan", "e.toml"]) == 2
    assert "seed = 2026-01-01: expected" in capfd.readouterr().err


def test_errors_of_the_system_are_sentences_without_numbers() -> None:
    assert ArgumentError("[Errno 2] No such file: 'x'").message == "No such file: 'x'"
    assert ArgumentError("bind: Address in use (os error 98)").message == "bind: Address in use"


def test_a_pause_of_an_unknown_unit_is_answered_with_the_units(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run_program(["plan", "one.sql", "--on", "null", "--keying-time", "constant:1h"]) == 2
    assert "units: ns, us, ms, s" in capfd.readouterr().err


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


def test_a_script_with_another_ending_is_a_script_with_an_option(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("one.txt").write_text("SELECT 1;\n")
    assert run_program(["plan", "one.txt", "--on", "null"]) == 2
    found = capfd.readouterr().err
    assert "one.txt is a file" in found
    assert "-f one.txt" in found
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


def test_a_queue_beside_a_count_is_refused_with_its_line(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("desk").mkdir()
    Path("desk/workload.toml").write_text(f"{DESK}queue = 200\n")
    Path("desk/read.sql").write_text("SELECT 1;")
    assert run_program(["plan", "desk"]) == 2
    line = DESK.count("\n") + 1
    assert f"desk/workload.toml:{line}: queue, which all" in capfd.readouterr().err
