"""The null system as a server of a protocol: a process of its own, which is always ended."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.errors import ArgumentError, SystemRefused
from assay.provision.engine.engine_calls import session
from assay.provision.processes import running_server
from assay.provision.running_system import provision
from assay.provision.undo.ledger import clear_leftovers
from assay.systems.null.system import NULL
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_own_places")]
PROTOCOLS = _engine.null_protocols("sql")


def _ask(deployment: Deployment, statement: str) -> list[tuple[str | None, ...]]:
    with session(deployment.address) as opened:
        return list(opened.execute(statement).rows)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state != "Z"


@pytest.mark.parametrize("transport", ["socket", "tcp"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_answers_as_configured_and_is_removed_afterwards(protocol: str, transport: str) -> None:
    options = {"protocol": protocol, "transport": transport, "rows": "2", "refuse_after": "3"}
    with provision(
        SystemChoice("null", options=options), StorageChoice(), connections=3
    ) as deployment:
        assert deployment.server_pid is not None
        assert deployment.address.driver == protocol
        assert (deployment.address.host is None) == (transport == "socket")
        assert deployment.connection_limit == 3
        assert _ask(deployment, "SELECT a, b FROM t") == [("1", "1"), ("2", "2")]
        _ask(deployment, "CREATE TABLE t (a INTEGER)")
        _ask(deployment, "INSERT INTO t VALUES (1), (2), (3)")
        assert _ask(deployment, "SELECT count(*) FROM t") == [("3",)], (
            "its sessions share its tables"
        )
        with session(deployment.address), session(deployment.address), session(deployment.address):
            with pytest.raises(SystemRefused) as caught, session(deployment.address):
                pytest.fail("the fourth is refused")
            assert caught.value.error_class == "too many connections"
        sample = NULL.sample(deployment)
        assert sample is not None and sample.processes == 1
        assert NULL.why_it_died(deployment) is None
    assert not _lives(deployment.server_pid)


def test_the_reason_of_its_death_is_available() -> None:
    choice = SystemChoice("null", options={"protocol": PROTOCOLS[0]})
    with provision(choice, StorageChoice(), connections=1) as deployment:
        server = running_server(deployment.server_pid)
        assert server is not None
        server.send(signal.SIGKILL)
        why = wait_until(lambda: NULL.why_it_died(deployment), "its end is known")
        assert "SIGKILL" in str(why)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delay": "1ms"}, "option delay: expected a distribution"),
        ({"fail": "nothing@#1"}, "option fail: expected an error class"),
    ],
)
def test_invalid_options_are_refused_with_their_names(options: dict[str, str], words: str) -> None:
    choice = SystemChoice("null", options={"protocol": PROTOCOLS[0], **options})
    with (
        pytest.raises(ArgumentError, match=words),
        provision(choice, StorageChoice(), connections=1),
    ):
        pytest.fail("these options are invalid")


def test_more_sessions_than_open_files_are_refused_with_the_fix() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    choice = SystemChoice("null", options={"protocol": PROTOCOLS[0]})
    with (
        pytest.raises(ArgumentError, match="open files") as caught,
        provision(choice, StorageChoice(), connections=most + 1),
    ):
        pytest.fail("there are not so many")
    assert "ulimit -Hn" in (caught.value.hint or "")


def test_a_killed_assay_leaves_no_null_server_behind(tmp_path: Path) -> None:
    script = tmp_path / "one.sql"
    script.write_text("SELECT 1;\n")
    words = [script, "--on", f"null[protocol={PROTOCOLS[0]}]", "--duration", "600"]
    assay = subprocess.Popen(
        [Path(sys.executable).parent / "assay", "run", *words],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    entries = tmp_path / "state" / "made"

    def started() -> list[int]:
        return [
            int(path.name)
            for path in Path("/proc").iterdir()
            if path.name.isdigit() and _is_null_server_of(int(path.name), assay.pid)
        ]

    servers = wait_until(started, "the server is started")
    assay.kill()
    assay.wait()
    (cleared,) = clear_leftovers()
    assert not cleared.remaining
    assert not any(_lives(pid) for pid in servers)
    assert not list(entries.iterdir())


def _is_null_server_of(pid: int, parent: int) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return {b"serve", b"null"} <= {*words} and f"\nPPid:\t{parent}\n" in status
