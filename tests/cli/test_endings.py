"""Signals and time limits end runs whose transactions, pauses or shell commands do not end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
from pathlib import Path

import psutil
import pytest

import forked_programs
from assay.record import DEFAULT_FILE_NAME, Store
from commands import run_in
from forked_programs import Started
from waiting import HANG_S, wait_until

"""The limit after which a test counts as hung."""

ENDLESS = (
    "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n;\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def started(folder: Path, *words: str) -> Started:
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    return forked_programs.start("assay", ["run", *words], folder=folder, environment=environment)


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
    with started(folder, *words) as running:
        wait_until((folder / "begun").exists, "the pause has begun")
        running.send_signal(number)
        _, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 128 + number, message
    assert f"{number.name}: stopping" in message


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
    with started(folder, *words) as running:
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
    with started(folder, *words, "--format", "json") as running:
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
    with started(folder, *words, "--format", "json") as running:
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
    with started(folder, *words, "--repetitions", "2") as running:
        _, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 1, message
    assert message.count("not ended 0.5 s after") == 1
    assert message.count("run 2 failed for the reason of run 1") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_was_measured_until_a_signal_is_kept(folder: Path, number: signal.Signals) -> None:
    (folder / "one.sql").write_text("select 1;\n")
    record = folder / DEFAULT_FILE_NAME

    def has_seconds() -> bool:
        if not record.exists():
            return False
        with contextlib.closing(sqlite3.connect(f"file:{record}?mode=ro", uri=True)) as connection:
            try:
                return bool(connection.execute("SELECT 1 FROM seconds").fetchall())
            except sqlite3.OperationalError:
                return False

    words = ("one.sql", "--on", "null[delay=constant:1ms]", "--clients", "2", "--duration", "600")
    with started(folder, *words, "--repetitions", "2") as running:
        wait_until(has_seconds, "a second has passed")
        running.send_signal(number)
        _, message = running.communicate(timeout=HANG_S)
    assert running.returncode == 128 + number, message
    with Store(record, must_exist=True) as store:
        first, second = store.latest().runs
    assert (first.state, first.verdict, second.state) == ("interrupted", "invalid", "planned")
    assert first.driven is not None
    assert first.driven.ended_by == "interrupted"
    assert first.driven.outcomes.ok > 100
    assert first.seconds == first.driven.intervals
    report = run_in(folder, "report", "latest")
    assert report.returncode == 0, report.stderr
