"""How a command ends: its status, what it says at the end, what is kept of a run that was
stopped."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import psutil
import pytest

from assay.cli.process import outcome_of
from assay.cli.program import run_program
from assay.contracts.stop import Stopped
from assay.errors import ArgumentError, Bug, RunFailed, SystemMissing
from assay.provision.machine.signals import reason_of
from assay.record import DEFAULT_FILE_NAME, Store
from commands import run_in
from running import started, wait_for_second
from waiting import HANG_S, wait_until

ENDLESS = (
    "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n;\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


SIGNALLED = pytest.mark.parametrize(
    ("system", "number"),
    [
        ("sqlite", signal.SIGINT),
        ("null", signal.SIGTERM),
        ("null[protocol=postgresql]", signal.SIGINT),
    ],
)


@SIGNALLED
def test_a_signal_ends_a_pause(folder: Path, system: str, number: signal.Signals) -> None:
    (folder / "pause.sql").write_text("\\shell touch begun\n\\sleep 600 s\nselect 1;\n")
    words = ("pause.sql", "--on", system, "--allow-shell", "--duration", "600")
    with started(folder, "run", *words) as running:
        wait_until((folder / "begun").exists, "the pause has begun")
        running.send_signal(number)
        _, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 128 + number, message
    assert f"{number.name}: stopping" in message


def test_a_wait_for_the_lock_of_another_program_is_said_and_ends_with_ctrl_c(folder: Path) -> None:
    (folder / "one.sql").write_text("select count(*) from t;\n")
    with contextlib.closing(sqlite3.connect(folder / "t.db", isolation_level=None)) as other:
        other.execute("create table t (a)")
        other.execute("begin exclusive")
        with started(folder, "run", "one.sql", "--on", f"sqlite:///{folder}/t.db") as running:
            assert running.stderr is not None
            said = f"wait for {folder}/t.db: another program may hold its lock"
            assert any(said in line for line in running.stderr), "it has ended"
            running.send_signal(signal.SIGINT)
            _, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 128 + signal.SIGINT, message
    assert "is locked by another" not in message, "it has waited to the end"


@SIGNALLED
def test_a_signal_ends_a_program_with_all_that_it_has_started(
    folder: Path, system: str, number: signal.Signals
) -> None:
    # Of the two that it starts, one ignores SIGTERM.
    (folder / "program.sh").write_text(
        "sh -c 'trap \"\" TERM; while :; do sleep 1; done' &\nsleep 600 &\n"
        "echo $$ > new; mv new begun; wait\n"
    )
    (folder / "shell.sql").write_text("\\shell sh program.sh\nselect 1;\n")
    words = ("shell.sql", "--on", system, "--allow-shell", "--duration", "600")
    with started(folder, "run", *words) as running:
        wait_until((folder / "begun").exists, "the program has begun")
        program = psutil.Process(int((folder / "begun").read_text()))
        wait_until(lambda: len(program.children()) == 2, "it has started two")
        family = [program, *program.children(recursive=True)]
        running.send_signal(number)
        _, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 128 + number, message
    _, left = psutil.wait_procs(family, timeout=HANG_S)
    assert all(one.status() == psutil.STATUS_ZOMBIE for one in left), left


def test_output_of_a_shell_command_is_not_mixed_with_the_report(folder: Path) -> None:
    (folder / "echo.sql").write_text("\\shell echo noise\nselect 1;\n")
    words = ("echo.sql", "--on", "null", "--allow-shell", "--transactions", "1")
    with started(folder, "run", *words, "--format", "json") as running:
        out, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 0, message
    json.loads(out)
    assert "noise\n" in message


@pytest.mark.parametrize(
    ("system", "text"),
    [
        ("null[delay=constant:600s]", "select 1;\n"),
        ("null[delay=constant:600s,protocol=postgresql]", "select 1;\n"),
        ("null", "select 1;\n\\sleep 600 s\nselect 2;\n"),
        ("null", "select 1;\n\\shell sleep 600\nselect 2;\n"),
        ("null", "\\for i in 1..1000000000000\nselect :i;\n\\endfor\n"),
        ("sqlite", ENDLESS),
    ],
)
def test_a_transaction_that_does_not_end_is_cancelled_at_the_limit(
    folder: Path, system: str, text: str
) -> None:
    (folder / "endless.sql").write_text(text)
    words = ("endless.sql", "--on", system, "--allow-shell", "--duration", "0.5", "--drain", "1.5")
    with started(folder, "run", *words, "--format", "json") as running:
        out, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 1, message
    assert "1 transaction still open 1 s after the end of the measurement" in message
    assert "waiting up to 1.5 s (--drain)" in message
    assert "not ended 1.5 s after the end of the measurement (--drain)" in message
    json.loads(out)
    with Store(folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        driven = store.latest().runs[0].driven
    assert driven is not None and driven.unfinished is not None
    assert (driven.outcomes.scheduled, driven.outcomes.unknown) == (driven.outcomes.ok + 1, 1)
    assert driven.unfinished.transactions == 1


def test_after_a_cancelled_library_call_the_next_run_works(folder: Path) -> None:
    (folder / "endless.sql").write_text(ENDLESS)
    words = ("endless.sql", "--on", "sqlite", "--duration", "0.5", "--drain", "0.5")
    with started(folder, "run", *words, "--repetitions", "2") as running:
        _, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 1, message
    assert message.count("not ended 0.5 s after") == 1
    assert message.count("run 2 failed for the reason of run 1") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_was_measured_until_a_signal_is_kept(folder: Path, number: signal.Signals) -> None:
    (folder / "one.sql").write_text("select 1;\n")
    words = ("one.sql", "--on", "null[delay=constant:1ms]", "--clients", "2", "--duration", "600")
    with started(folder, "run", *words, "--repetitions", "2") as running:
        wait_for_second(folder)
        running.send_signal(number)
        _, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 128 + number, message
    with Store(folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        first, second = store.latest().runs
    assert (first.state, first.verdict, second.state) == ("interrupted", "invalid", "planned")
    assert first.driven is not None
    assert first.driven.ended_by == "interrupted"
    assert first.driven.outcomes.ok > 0
    assert first.seconds == first.driven.intervals
    report = run_in(folder, "report", "latest")
    assert report.returncode == 0, report.stderr


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (RunFailed("S01: 155 rows"), 1, "error: S01: 155 rows\n"),
        (ArgumentError("no", hint="do"), 2, "error: no\n\nhint: do\n"),
        (SystemMissing("gone", hint="get it"), 3, "error: gone\n\nhint: get it\n"),
        (Bug("oh"), 4, "error: oh\n"),
        (
            click.UsageError("what"),
            2,
            "error: what\n\nhint: `p --help` lists the arguments and options\n",
        ),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (click.Abort(), 130, "interrupted\n"),
        (Stopped(reason_of(signal.SIGTERM)), 143, "ended by SIGTERM\n"),
        (Stopped(reason_of(signal.SIGINT)), 130, "interrupted\n"),
    ],
)
def test_exit_statuses(
    capsys: pytest.CaptureFixture[str], error: BaseException, status: int, message: str
) -> None:
    def work() -> None:
        raise error

    assert outcome_of("p", work) == status
    assert capsys.readouterr() == ("", message)


def test_the_package_is_the_program_too_and_can_be_imported_whole() -> None:
    words = (["-m", "assay"], ["-c", "import assay.__main__ as main; main.main()"])
    for one in words:
        ended = subprocess.run([sys.executable, *one, "--version"], capture_output=True, text=True)
        assert (ended.returncode, ended.stdout) == (0, f"assay {version('assay-db')}\n")
    imported = subprocess.run([sys.executable, "-c", "import assay.__main__"])
    assert imported.returncode == 0


def test_ctrl_c_while_modules_are_imported_is_no_traceback() -> None:
    program = (
        "import sys\n"
        "class Pressed:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'assay.cli.program': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Pressed())\n"
        "from assay.cli import main\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


def test_an_internal_error_is_one_line_and_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise ZeroDivisionError("by zero")

    assert outcome_of("p", work) == 4
    errors = capsys.readouterr().err
    assert errors.startswith("error: internal error in Assay: ZeroDivisionError: by zero\n")
    named = re.search(r"report it with (\S+)", errors)
    assert named is not None
    file = Path(named[1])
    assert "ZeroDivisionError: by zero" in file.read_text()
    file.unlink()


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
def unreachable_server() -> str:
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
    unreachable_server: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run("one.sql", "--on", f"{unreachable_server},sqlite") == 3
    found = ended()
    assert found["sqlite"] == "done"
    assert "refused" in found["postgresql"]
    out, message = capfd.readouterr()
    assert "geheim" not in out + message
    assert b"geheim" not in Path("assay-records.sqlite").read_bytes()


def test_a_failed_measurement_determines_the_exit_status(unreachable_server: str) -> None:
    assert run("one.sql", "--on", f"{unreachable_server},null[fail=data@1]") == 1
    assert ended()["null"].startswith("failed (30 transactions failed")


def test_it_is_a_mistake_if_every_run_is_refused() -> None:
    assert run("one.sql", "--on", "null", "--cache", "cold") == 2
    assert ended()["null"].startswith("refused (null does not support restart")
    assert run("one.sql", "--on", "null", "--cache", "cold,as-is") == 0, "one is measured"


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
