"""Clients of a DB-API module work in processes of their own, and are observed as those of one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from msgspec import structs

from assay.contracts.documents import ScriptDocument
from assay.contracts.engine import DriveDocument, GroupDocument, StopDocument
from assay.contracts.observation import Interval, Observation
from assay.drive import observe as parts
from assay.drive.observe import observe
from assay.errors import ArgumentError, SystemDied, SystemMissing, SystemRefused
from assay.experiment import StorageChoice
from assay.experiment.choices.checked_choices import system_choice
from assay.provision.engine import python_calls
from assay.provision.engine.engine_calls import session
from assay.provision.running_system import provision
from waiting import HANG_S, wait_until

pytestmark = pytest.mark.slow
MODULE = """
import ctypes, os, resource, signal, sys, time
from assay.provision.engine.null_dbapi import *
from assay.provision.engine import null_dbapi as null

def connect(behave="", **keywords):
    print("a module may print", flush=True)
    if behave == "hang":
        ctypes.PyDLL(None).sleep(1000)  # and hold the interpreter lock
    if behave == "exit":
        sys.exit(3)
    if behave == "none":
        return None
    if behave == "fork":
        if not (child := os.fork()):
            time.sleep(1000)
        with open("pids", "w") as file:
            file.write(f"{os.getpid()} {child}")
        time.sleep(1000)
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
        if "SELECT" in text and self._behave == "crash":
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.raise_signal(signal.SIGSEGV)
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
    document = document_of(clients, **more)
    with provision(system_choice(word), StorageChoice(), connections=clients) as deployment:
        assert parts.number_of_parts(document, deployment) == min(clients, processes)
        return observe(deployment, document)


def document_of(clients: int, **more: Any) -> DriveDocument:
    text = "\\set v random(1, 1000000)\nSELECT :v;\n"
    document = DriveDocument(
        scripts=(ScriptDocument(name="read", path="read.sql", text=text),),
        order="sequence",
        clients=clients,
        protocol="prepared",
        stop=StopDocument(transactions=5),
        seed=7,
    )
    return structs.replace(document, **more)


def test_parts_are_together_the_whole() -> None:
    found = [(one.first_client, one.clients) for one in parts.split_document(document_of(8), 3)]
    assert found == [(0, 2), (2, 3), (5, 3)]
    groups = tuple(
        GroupDocument(name=name, scripts=("read",), order="sequence", clients=clients)
        for name, clients in (("a", 4), ("b", 2))
    )
    document = DriveDocument(scripts=document_of(1).scripts, groups=groups, seed=7)
    one, other = parts.split_document(document, 2)
    assert [part.clients for part in one.groups or ()] == [2, 1]
    assert [part.first_client for part in other.groups or ()] == [2, 1]


def test_clients_in_three_processes_do_what_they_do_in_one(tmp_path: Path) -> None:
    values = {}
    for processes in (1, 3):
        file = tmp_path / f"values_{processes}"
        observation = driven(7, processes, str(file))
        assert observation.outcomes.ok == 35
        assert observation.client_processes == processes
        assert [end.client for end in observation.client_ends] == list(range(7))
        lines = [line.partition(" ") for line in file.read_text().splitlines()]
        assert len({pid for pid, _, _ in lines} - {str(os.getpid())}) == processes
        values[processes] = sorted(value for _, _, value in lines if value != "()")
    assert values[1] == values[3]
    assert len(values[1]) == 35
    assert "behaving_dbapi" not in sys.modules, "this process never calls a module"


def test_a_second_is_reported_when_all_processes_have_reported_it(tmp_path: Path) -> None:
    del tmp_path
    reported: list[Interval] = []
    document = document_of(3, stop=StopDocument(duration_s=3.5))
    choice = system_choice("dbapi:behaving_dbapi[client_processes=3]")
    with provision(choice, StorageChoice(), connections=3) as deployment:
        observation = observe(deployment, document, lambda report: reported.extend(report.seconds))
    # The last ones may be complete only after the end, on a busy machine.
    assert [one.second for one in reported] == [*range(len(reported))] != []
    by_second = {one.second: one for one in observation.intervals}
    assert [(one.ok, one.clients_connected) for one in reported] == [
        (by_second[one.second].ok, 3) for one in reported
    ]


def test_what_a_module_prints_is_not_in_the_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert driven(2, 2).outcomes.ok == 10
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("behave", "message"),
    [
        (
            "end",
            r"process \d of 3: the module behaving_dbapi ended the program .*\(exit status 7\)",
        ),
        (
            "crash",
            r"process \d of 3 was ended by signal 11 \(SIGSEGV\) .*in the module behaving_dbapi",
        ),
    ],
)
def test_a_process_that_ends_by_itself_is_reported_and_no_other_is_left(
    behave: str, message: str
) -> None:
    python_calls.end_idle()
    before = set(psutil.Process().children())  # servers that other tests share
    with pytest.raises(SystemDied, match=message):
        driven(3, 3, behave)
    python_calls.end_idle()
    assert not set(psutil.Process().children()) - before


def provisioned(module: str, behave: str = "") -> None:
    word = f"dbapi:{module}" + (behave and f"[behave={behave}]")
    with provision(system_choice(word), StorageChoice(), connections=1):
        pass


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        ("import sys; sys.exit(0)", "ended the program while it was imported", "another one"),
        ("import os; os._exit(0)", "ended the program while it was imported", "another one"),
        ("raise ValueError('no')", "cannot be imported: ValueError: no", "python -c"),
        ("def (", "cannot be imported: SyntaxError: invalid syntax", "python -c"),
        ("import no_such_module", "cannot be imported: No module", "needs the module no_such"),
        ("raise OSError('libx.so: not there')", "OSError: libx.so: not there", "the library"),
        ("raise ImportError('libx.so: not there')", "imported: libx.so: not there", "the library"),
    ],
)
def test_a_module_that_cannot_be_imported_is_no_error_of_assay(
    tmp_path: Path, text: str, message: str, fix: str
) -> None:
    (tmp_path / "broken_dbapi.py").write_text(text)
    with pytest.raises(SystemMissing, match=message) as raised:
        provisioned("broken_dbapi")
    assert fix in str(raised.value.hint)


def test_a_connect_that_does_not_return_has_a_limit() -> None:
    word = "dbapi:behaving_dbapi"
    with provision(system_choice(word), StorageChoice(), connections=1) as deployment:
        address = deployment.address
        options = {**address.options, "keywords": '{"behave": "hang"}'}
        hanging = structs.replace(address, options=options, connect_timeout_s=0.2)
        with pytest.raises(SystemRefused, match="no session within 200ms"), session(hanging):
            pass
        with pytest.raises(SystemRefused, match="no session within 200ms"):
            observe(replace(deployment, endpoints=(hanging,)), document_of(2))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_a_run_whose_module_does_not_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """And with it the module's process and what that has forked, even where Assay is killed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "read.sql").write_text("SELECT 1;\n")
    assay = str(Path(sys.executable).parent / "assay")
    command = [assay, "run", "read.sql", "--on", "dbapi:behaving_dbapi[behave=fork]"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as running:
        processes = [psutil.Process(int(pid)) for pid in when_written(tmp_path / "pids").split()]
        running.send_signal(number)
        assert running.wait(HANG_S) == (-9 if number is signal.SIGKILL else 128 + number)
    wait_until(lambda: all(map(has_ended, processes)), "all processes have ended")


def has_ended(process: psutil.Process) -> bool:
    """Also one that its new parent has not noticed: not every container has a process 1 that
    does."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def when_written(file: Path) -> str:
    return wait_until(lambda: file.exists() and file.read_text(), f"{file} is written") or ""


def test_a_duration_ends_all_processes_together() -> None:
    observation = driven(4, 4, stop=StopDocument(duration_s=1.0))
    assert observation.outcomes.ok > 0
    assert observation.elapsed_ns > 0.9e9
    assert observation.client_cost.machine_busy_ns is not None
    cpus = os.cpu_count() or 1
    assert observation.client_cost.machine_busy_ns < 1.5 * observation.elapsed_ns * cpus, "once"


def test_no_password_is_in_a_list_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DBAPI_PASSWORD", "geheim-4711")
    script = (
        "from tests.unit.provision.test_client_processes import StopDocument, driven\n"
        "driven(2, 2, stop=StopDocument(duration_s=2.0))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[3], env=environment
    ) as running:
        seen = ""
        deadline = time.monotonic() + HANG_S
        while running.poll() is None and time.monotonic() < deadline:
            for child in psutil.Process(running.pid).children(recursive=True):
                try:
                    seen += " ".join(child.cmdline())
                except psutil.Error:
                    continue
            time.sleep(0.05)
    assert running.returncode == 0
    assert "assay.provision.engine.engine_process" in seen
    assert "geheim" not in seen


def test_a_keyword_that_connect_does_not_have_is_a_mistake_of_the_user() -> None:
    word = "dbapi:sqlite3[databse=/tmp/x.db]"
    with (
        pytest.raises(ArgumentError, match="missing required argument 'database'") as raised,
        provision(system_choice(word), StorageChoice(), connections=1),
    ):
        pass
    assert "keyword arguments of sqlite3.connect()" in str(raised.value.hint)
