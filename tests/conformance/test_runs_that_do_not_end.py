"""Servers that do not answer: statements are cancelled, and stopped processes are ended."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import psutil
import pytest

from able import one_of_each_line
from assay.contracts.engine.document import ScriptDocument
from assay.contracts.engine.drive import DriveDocument, StopDocument
from assay.contracts.observation import Unfinished
from assay.contracts.storage_facts import StorageFacts
from assay.drive.observe import observe
from assay.record import DEFAULT_FILE_NAME, Store
from assay.systems import System
from commands import need
from forked_programs import Started
from running import server_of, started, wait_for_second
from servers import SERVERS, ask, provisioned
from waiting import HANG_S

PAUSES = ("--think-time", "constant:10ms")
"""The clients need not be fast."""

# Not SLEEP on MariaDB, which may need two seconds to kill it.
ENDLESS = {
    "postgresql": "select pg_sleep(600)",
    "mariadb": "select benchmark(1000000000000, md5('a'))",
    "mysql": "select benchmark(1000000000000, sha2('a', 256))",
}
UNDER_WAY = {
    "postgresql": "select count(*) from pg_stat_activity where query like 'select pg_sleep%'"
    " and state = 'active'",
    "mariadb": "select count(*) from information_schema.processlist"
    " where info like 'select benchmark%'",
    "mysql": "select count(*) from performance_schema.processlist"
    " where info like 'select benchmark%'",
}


@pytest.mark.parametrize("server", one_of_each_line(SERVERS), indirect=True)
def test_timed_out_statements_are_cancelled_on_the_server(
    server: System, storage: StorageFacts
) -> None:
    script = ScriptDocument(name="endless", path="endless.sql", text=ENDLESS[server.name])
    document = DriveDocument(
        scripts=(script,),
        order="mix",
        clients=3,
        threads=2,
        stop=StopDocument(duration_s=0.3),
        drain_s=0.3,
        seed=1,
    )
    with provisioned(server, storage) as deployment:
        observation = observe(deployment, document)
        assert observation.outcomes.unknown == 3
        assert observation.unfinished == Unfinished(transactions=3, cancelled=3, limit_s=0.3)
        assert ask(deployment, UNDER_WAY[server.name]) == [("0",)]


def stopped(child: Started) -> list[psutil.Process]:
    """The server's processes, all stopped now."""
    family = [server_of(child), *server_of(child).children(recursive=True)]
    for one in family:
        one.suspend()
    return family


@pytest.mark.parametrize("system", one_of_each_line(SERVERS))
def test_ctrl_c_removes_a_stopped_server(working_folder: Path, system: str) -> None:
    need(system)
    (working_folder / "read.sql").write_text("select 1;\n")
    with started(
        working_folder,
        "run",
        "read.sql",
        "--on",
        system,
        "--clients",
        "3",
        "--duration",
        "600",
        *PAUSES,
    ) as child:
        wait_for_second(working_folder)
        family = stopped(child)
        child.send_signal(signal.SIGINT)
        _, message = child.communicate(timeout=HANG_S)
    assert child.returncode == 130, message
    assert "SIGINT: stopping; press Ctrl-C again to stop at once" in message
    assert not [one for one in family if one.is_running()], message


@pytest.mark.parametrize("system", one_of_each_line(SERVERS))
def test_a_stopped_server_does_not_hold_a_run_beyond_its_limit(
    working_folder: Path, system: str
) -> None:
    need(system)
    (working_folder / "read.sql").write_text("select 1;\n")
    words = ("run", "read.sql", "--on", system, "--duration", "8", "--drain", "1.5", *PAUSES)
    with started(working_folder, *words) as child:
        wait_for_second(working_folder)
        family = stopped(child)
        _, message = child.communicate(timeout=HANG_S)
    assert child.returncode == 3, message
    assert "waiting up to 1.5 s (--drain)" in message
    assert not [one for one in family if one.is_running()], message
    with Store(working_folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        (run,) = store.latest().runs
    assert run.state == "failed" and "--drain" in (run.reason or "")
    assert run.driven is not None
    assert run.driven.unfinished == Unfinished(1, 0, limit_s=1.5, responds=False)


@pytest.mark.parametrize("system", one_of_each_line(SERVERS))
def test_ctrl_c_ends_a_load_into_a_stopped_server(working_folder: Path, system: str) -> None:
    need(system)
    words = ("run", "tpcb", "--on", system, "--set", "scale=500")
    with started(working_folder, *words) as child:
        assert child.stderr is not None
        message_lines = iter(child.stderr.readline, "")
        assert any(line.startswith("  load") for line in message_lines), "it ended before"
        time.sleep(0.5)
        family = stopped(child)
        child.send_signal(signal.SIGINT)
        _, message = child.communicate(timeout=HANG_S)
    assert child.returncode == 130, message
    assert not [one for one in family if one.is_running()], message
