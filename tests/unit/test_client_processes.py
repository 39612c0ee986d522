"""Clients of a DB-API module work in processes of their own, and are observed as those of one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from assay.drive import parts
from assay.drive.transactions import observe
from assay.errors import ArgumentError, SystemDied
from assay.experiment import StorageChoice
from assay.experiment.settings import system_choice
from assay.observation import Observation
from assay.provision.stage import provision

MODULE = """
import os, time
from assay.dbapi.null import *
from assay.dbapi import null

def connect(behave="", **keywords):
    if behave == "refuse":
        raise null.Error("no session for you")
    connection = null.connect()
    if behave:
        return Behaved(connection, behave)
    return connection

class Behaved:
    def __init__(self, connection, behave):
        self._connection, self._behave = connection, behave

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def cursor(self):
        return Cursor(self._connection.cursor(), self._behave)

class Cursor:
    def __init__(self, cursor, behave):
        self._cursor, self._behave = cursor, behave

    def __getattr__(self, name):
        return getattr(self._cursor, name)

    def execute(self, text, *values):
        if "SELECT" in text and self._behave == "end":
            os.write(2, b"the library has crashed\\n")
            os._exit(7)
        if "SELECT" in text and self._behave == "print":
            print("a module may print", flush=True)
        if self._behave.startswith("/"):
            with open(self._behave, "a") as file:
                file.write(f"{os.getpid()} {values}\\n")
        self._cursor.execute(text, *values)
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "behaving_dbapi.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)


def driven(clients: int, processes: int, behave: str = "", **more: Any) -> Observation:
    word = f"dbapi:behaving_dbapi[client_processes={processes}{behave and f',behave={behave}'}]"
    document = {
        "scripts": [
            {
                "name": "read",
                "path": "read.sql",
                "text": "\\set v random(1, 1000000)\nSELECT :v;\n",
            }
        ],
        "order": "sequence",
        "clients": clients,
        "protocol": "prepared",
        "stop": {"transactions": 5},
        "warm_up_s": 0.0,
        "seed": 7,
        **more,
    }
    with provision(system_choice(word), StorageChoice(), connections=clients) as deployment:
        assert parts.number_of(document, deployment) == min(clients, processes)
        return observe(deployment, document)


def test_parts_are_together_the_whole() -> None:
    document = {"clients": 8, "order": "sequence"}
    found = [(one["first_client"], one["clients"]) for one in parts.of_processes(document, 3)]
    assert found == [(0, 2), (2, 3), (5, 3)]
    groups = {"groups": [{"name": "a", "clients": 4}, {"name": "b", "clients": 2}]}
    one, other = parts.of_processes(groups, 2)
    assert [part["clients"] for part in one["groups"]] == [2, 1]
    assert [part["first_client"] for part in other["groups"]] == [2, 1]


def test_clients_in_three_processes_do_what_they_do_in_one(tmp_path: Path) -> None:
    values = {}
    for processes in (1, 3):
        file = tmp_path / f"values_{processes}"
        observation = driven(7, processes, str(file))
        assert observation.outcomes.ok == 35
        assert [end.client for end in observation.client_ends] == list(range(7))
        lines = [line.partition(" ") for line in file.read_text().splitlines()]
        assert len({pid for pid, _, _ in lines} - {str(os.getpid())}) == processes
        values[processes] = sorted(value for _, _, value in lines if value != "()")
    assert values[1] == values[3]
    assert len(values[1]) == 35


def test_what_a_module_prints_does_not_disturb() -> None:
    assert driven(2, 2, "print").outcomes.ok == 10


def test_a_process_that_ends_by_itself_is_reported_and_no_other_is_left() -> None:
    before = set(psutil.Process().children())  # servers that other tests share
    with pytest.raises(SystemDied, match=r"the library has crashed \(exit status 7\)"):
        driven(3, 3, "end")
    assert not set(psutil.Process().children()) - before


def test_a_duration_ends_all_processes_together() -> None:
    observation = driven(4, 4, stop={"duration_s": 1.0})
    assert observation.outcomes.ok > 0
    assert 0.9e9 < observation.elapsed_ns < 5e9
    assert observation.client_cost.machine_busy_ns is not None
    processors = os.cpu_count() or 1
    assert observation.client_cost.machine_busy_ns < 5e9 * processors, "counted once"


def test_no_password_is_in_a_list_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DBAPI_PASSWORD", "geheim-4711")
    script = (
        "from tests.unit.test_client_processes import driven\n"
        "driven(2, 2, stop={'duration_s': 2.0})"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=Path(__file__).parents[2]) as running:
        seen = ""
        deadline = time.monotonic() + 30
        while running.poll() is None and time.monotonic() < deadline:
            for child in psutil.Process(running.pid).children(recursive=True):
                try:
                    seen += " ".join(child.cmdline())
                except psutil.Error:
                    continue
            time.sleep(0.05)
    assert running.returncode == 0
    assert "assay.drive.client_process" in seen
    assert "geheim" not in seen


def test_a_keyword_that_connect_does_not_have_is_a_mistake_of_the_user() -> None:
    word = "dbapi:sqlite3[databse=/tmp/x.db]"
    with (
        pytest.raises(ArgumentError, match="missing required argument 'database'") as raised,
        provision(system_choice(word), StorageChoice(), connections=1),
    ):
        pass
    assert "keyword arguments of sqlite3.connect()" in str(raised.value.hint)
