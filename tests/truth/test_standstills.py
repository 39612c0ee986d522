"""A stalled system and a suspended client are distinguished, and both are reported."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from known_systems import Observation, drive

import forked_programs
from waiting import wait_until

S = 1_000_000_000


@pytest.fixture
def run_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str | Path]:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    script = tmp_path / "one.sql"
    script.write_text("SELECT 1;\n")
    return ["run", script, "--records", tmp_path / "r.sqlite", "--clients", "3"]


def ask(path: Path, question: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path, timeout=10)) as connection:
        return connection.execute(question).fetchall()


def measures(path: Path) -> bool:
    """Whether a second of the clients is in the record."""
    try:
        return bool(ask(path, "SELECT 1 FROM seconds"))
    except sqlite3.OperationalError:
        return False


def test_a_suspended_client_is_reported_and_is_no_stall(
    run_words: list[str | Path], tmp_path: Path
) -> None:
    path = tmp_path / "r.sqlite"
    words = [*run_words, "--on", "null[delay=constant:1ms]", "--duration", "4"]
    child = forked_programs.start("assay", words)
    try:
        wait_until(
            lambda: measures(path), "a second is measured", goes_on=lambda: child.poll() is None
        )
        child.send_signal(signal.SIGSTOP)
        time.sleep(1.8)
        child.send_signal(signal.SIGCONT)
        message, errors = child.communicate()
    finally:
        child.kill()
    assert child.returncode == 0, errors
    stood_still = ask(path, "SELECT who, to_ns - from_ns FROM standstills")
    assert {who for who, _ in stood_still} == {"client"}
    assert max(lasted_ns for _, lasted_ns in stood_still) >= 1.7 * S
    total_ns = sum(lasted_ns for _, lasted_ns in stood_still)
    assert ask(path, "SELECT sum(suspended_ns), sum(stalled_ns) FROM intervals") == [(total_ns, 0)]
    assert "client-suspended" in message
    assert "stalled:" not in message.split("Stalls and suspensions")[0]


def test_a_stalled_system_is_reported_with_time_and_length(
    run_words: list[str | Path], tmp_path: Path
) -> None:
    on = "null[delay=constant:1ms,stall=1.6s@0.6s]"
    words = [*run_words, "--on", on, "--duration", "3", "--detail"]
    done = forked_programs.run("assay", words)
    assert done.returncode == 0, done.stderr
    ((detail,),) = ask(tmp_path / "r.sqlite", "SELECT detail FROM warnings WHERE name = 'stalled'")
    assert "from 0." in detail
    ((lasted_ns,),) = ask(
        tmp_path / "r.sqlite", "SELECT to_ns - from_ns FROM standstills WHERE who = 'system'"
    )
    assert lasted_ns > 1.3 * S
    assert "system stalled" in done.stdout


def children_of(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(entry.parent.name))
    return found


def test_a_server_whose_processes_were_stopped_has_stalled(server: dict[str, Any]) -> None:
    pid = server.pop("pid")
    stopped: list[int] = []
    begun_s: list[float] = []

    def send(number: int) -> None:
        for child in stopped:
            with suppress(ProcessLookupError):
                os.kill(child, number)

    def stop_for_a_while(text: str) -> None:
        elapsed_s = json.loads(text)["elapsed_s"]
        if not stopped and elapsed_s > 0.7:
            begun_s.append(elapsed_s)
            stopped.extend(children_of(pid))
            send(signal.SIGSTOP)
        elif stopped and elapsed_s > begun_s[0] + 2:
            send(signal.SIGCONT)

    try:
        observation: Observation = drive(
            server, "SELECT 1;", stop_for_a_while, clients=4, stop={"duration_s": 3.5}
        )
    finally:
        send(signal.SIGCONT)
    (stall,) = observation["stalls"]
    assert stall["to_ns"] - stall["from_ns"] > 1.5 * S
    assert (begun_s[0] - 0.2) * S < stall["from_ns"] < (begun_s[0] + 1.1) * S
    assert observation["outcomes"]["ok"] == observation["outcomes"]["scheduled"]
