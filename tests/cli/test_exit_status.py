"""Exit status 1: a measured run failed; else 3: the system under test or the machine is at fault.
Other runs of the experiment continue."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from assay.cli.program import run_program
from assay.record import Store

FILLS = """PRAGMA max_page_count = 20;
CREATE TABLE IF NOT EXISTS grown (text varchar(9000));
INSERT INTO grown VALUES (hex(randomblob(4000)));
"""


TINY = """workload = "tpcb"
systems = ["sqlite"]
storages = ["tiny"]
clients = [1]
[storage.tiny]
kind = "tmpfs"
size = "1M"
"""


@pytest.fixture
def nobody() -> str:
    """The URL of a port where nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"postgresql://me:geheim@127.0.0.1:{taken.getsockname()[1]}/db"


def run(*words: str) -> int:
    return run_program(["run", *words, "--transactions", "30"])


def ended() -> dict[str, str]:
    """Label of each system → state and reason of its run."""
    with Store(Path("assay-records.sqlite"), must_exist=True) as store:
        return {one.system_label.split()[0]: one.state_shown for one in store.runs()}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    Path("one.sql").write_text("SELECT 1;\n")
    Path("fills.sql").write_text(FILLS)


def test_an_unreachable_server_fails_only_its_own_runs(
    nobody: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run("one.sql", "--on", f"{nobody},sqlite") == 3
    found = ended()
    assert found["sqlite"] == "done"
    assert "refused" in found["postgresql"]
    out, message = capfd.readouterr()
    assert "geheim" not in out + message
    assert b"geheim" not in Path("assay-records.sqlite").read_bytes()


def test_a_failed_measurement_determines_the_exit_status(nobody: str) -> None:
    assert run("one.sql", "--on", f"{nobody},null[fail=data@1]") == 1
    assert ended()["null"].startswith("failed (30 transactions failed")


def test_it_is_a_mistake_if_every_run_is_refused() -> None:
    assert run("one.sql", "--on", "null", "--cache", "cold") == 2
    assert ended()["null"].startswith("refused (null does not support restart")
    assert run("one.sql", "--on", "null", "--cache", "cold,as-is") == 0, "one is measured"


def test_reading_at_a_replica_of_a_system_that_has_none_is_a_mistake_before_it_is_started(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("one.sql", "--on", "null", "--read", "replica") == 2
    assert "null has no replica, at which the clients" in capsys.readouterr().err
    assert not Path("assay-records.sqlite").exists()


def test_runs_with_the_same_reason_say_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("one.sql", "--on", "null", "--cache", "cold", "--clients", "1,2") == 2
    said = capsys.readouterr().err
    assert said.count("null does not support restart") == 1, said
    assert "run 2 refused for the reason of run 1" in said


@pytest.mark.parametrize("storage", ["here", "here:/proc"])
def test_a_folder_in_which_nothing_can_be_made_is_a_fault_of_the_machine(
    storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The default folder, or a named one."""
    monkeypatch.chdir("/proc")
    words = [str(tmp_path / "one.sql"), "--on", "sqlite", "--storage", storage]
    assert run(*words, "--records", str(tmp_path / "r.sqlite")) == 3
    message = capfd.readouterr().err
    assert "cannot be made: " in message and "choose another" in message


def insist_on_words_of_a_full_disk() -> None:
    state = ended()["sqlite"]
    assert "database or disk is full" in state
    assert "resources" in state
    assert "free space there" in state
    assert "rollback" not in state


def test_statements_on_a_full_disk_name_the_cause_and_the_fix() -> None:
    assert run("fills.sql", "--on", "sqlite") == 3
    insist_on_words_of_a_full_disk()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can choose the size of a tmpfs")
def test_a_load_on_a_full_disk_names_the_cause_and_the_fix() -> None:
    Path("tiny.toml").write_text(TINY)
    assert run("tiny.toml") == 3
    insist_on_words_of_a_full_disk()


@pytest.mark.parametrize(
    ("on", "lines"),
    [
        ("sqlite,postgresql", ["programs initdb and postgres are not"]),
        ("sqlite,dbapi:no_such_module", ["the Python module no_such_module cannot be imported"]),
        (
            "postgresql,msql,sqlite,duckdb:///library.sql",
            ["error: 3 systems are not", "- postgresql: ", "- msql: ", "- duckdb at ", "(name "],
        ),
    ],
)
def test_every_missing_system_is_named_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    on: str,
    lines: list[str],
) -> None:
    monkeypatch.setenv("ASSAY_POSTGRESQL_BIN", str(tmp_path))
    monkeypatch.setenv("ASSAY_DUCKDB_LIBRARY", str(tmp_path / "none"))
    Path("library.sql").write_bytes(b"12345678DUCK")
    assert run("one.sql", "--on", on) == 3
    message = capfd.readouterr().err
    assert all(line in message for line in lines), message
    assert not Path("assay-records.sqlite").exists()
    words = ["plan", "one.sql", "--on", on, "--duration", "5", "--format", "json"]
    assert run_program(words) == 0
    out, said = capfd.readouterr()
    missing = [one for one in json.loads(out) if one["system"] != "sqlite"]
    assert {one["state"] for one in missing} == {"not installed"}
    assert all(one["reason"] in said and one["about_s"] is None for one in missing)
    count = len(on.split(","))
    assert f"{count} runs, at least {5 * count} s of ramp-up" in said


@pytest.mark.parametrize("protocol", ["simple", "extended", "prepared"])
def test_a_statement_that_the_server_refuses_is_a_failed_run_by_every_protocol(
    protocol: str,
) -> None:
    Path("nosuch.sql").write_text("-- the mistake is below\nselect nosuch from nosuch;\n")
    assert run("nosuch.sql", "--on", "sqlite", "--protocol", protocol) == 1
    place = "nosuch.sql:2:1" if protocol == "prepared" else "nosuch.sql, line 2"
    assert f"{place}: no such table: nosuch; statement" in ended()["sqlite"]


def test_a_script_that_always_fails_ends_the_run_and_does_not_spin() -> None:
    Path("own.sql").write_text("\\set x -1 - :client_id\n\\sleep :x ms\nselect 1;\n")
    assert run_program(["run", "own.sql", "--on", "sqlite", "--duration", "600"]) == 1
    assert "every client failed: script: own.sql:2:" in ended()["sqlite"]
    words = ["run", "own.sql", "--on", "sqlite", "--duration", "600", "--warm-up", "600"]
    assert run_program(words) == 1


def test_a_slow_script_whose_every_transaction_fails_ends_the_run_too() -> None:
    """A hundred failures of each client would take 50 seconds."""
    Path("slow.sql").write_text("\\sleep 500 ms\nselect nosuch from nosuch;\n")
    words = ["--clients", "2", "--duration", "40", "--protocol", "simple"]
    assert run("slow.sql", "--on", "sqlite", *words) == 1
    assert "every client failed: unknown object" in ended()["sqlite"]


def test_a_statement_that_another_system_refuses_runs_where_it_is_known() -> None:
    Path("end.sql").write_text("begin;\nselect 1;\nEnd;\n")
    assert run("end.sql", "--on", "sqlite") == 0


def test_null_may_have_a_url_without_an_address() -> None:
    assert run("one.sql", "--on", "null:///?rows=2") == 0
