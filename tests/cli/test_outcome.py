"""Every way to end a command has an exit status and a message, and no traceback."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import click
import pytest

from assay.cli.process.outcome import outcome_of
from assay.cli.program import run_program
from assay.contracts.stop import Stopped
from assay.errors import ArgumentError, Bug, RunFailed, SystemMissing
from assay.provision.machine.signals import reason_of


def test_the_variable_of_another_way_to_complete_words_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_ASSAY_COMPLETE", "bash_complete")
    assert run_program(["list", "systems", "--format", "json"]) == 0
    assert capsys.readouterr().out.startswith("[")


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


def test_sigterm_ends_a_command_with_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command()
    def command() -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    assert outcome_of("p", lambda: command.main([], standalone_mode=False)) == 143
    assert capsys.readouterr().err.endswith("ended by SIGTERM\n")


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


def test_a_closed_pipe_is_no_error() -> None:
    program = (
        "import sys; from assay.cli.process.outcome import outcome_of\n"
        "def work():\n"
        "    for _ in range(100000): print('x' * 100)\n"
        "sys.exit(outcome_of('p', work))"
    )
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=writing, stderr=subprocess.PIPE, text=True
    )
    os.close(writing)
    os.close(reading)
    _, message = process.communicate()
    assert (process.returncode, message) == (0, "")
