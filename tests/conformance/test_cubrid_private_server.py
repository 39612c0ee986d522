"""A private CUBRID: its broker is measured with it, reached by URL, and gone after a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.contracts.deployment import Deployment
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.errors import SystemRefused
from assay.provision.machine.ports import free_port
from assay.provision.running_system import running_system
from assay.provision.undo.ledger import clear_leftovers
from assay.systems.cubrid.system import CUBRID
from commands import need
from servers import ask
from waiting import wait_until


@pytest.fixture(autouse=True)
def _there() -> None:
    need("cubrid")


@contextmanager
def up(storage: StorageFacts, connections: int = 2) -> Iterator[Deployment]:
    """On a new data directory: a copy would name the places of another."""
    here = StorageChoice(directory=storage.directory)
    with running_system(SystemChoice("cubrid"), here, connections=connections) as running:
        yield running.deployment


def test_its_broker_is_sampled_with_it(storage: StorageFacts) -> None:
    with up(storage, connections=6) as deployment:
        before = CUBRID.sample(deployment)
        for _ in range(50):
            ask(deployment, "SELECT 1")
        after = CUBRID.sample(deployment)
    assert before is not None and after is not None
    assert before.processes >= 1 + 1 + 6, "server, broker, a process for each session"
    assert after.cpu_ns > before.cpu_ns
    assert after.open_files > 0


def test_it_is_reached_by_url_and_is_not_ours_to_stop(storage: StorageFacts) -> None:
    with up(storage) as deployment:
        ask(deployment, "CREATE TABLE t (words VARCHAR(1000))")
        ask(deployment, f"INSERT INTO t VALUES ('{'x' * 1000}')")
        ask(deployment, "ALTER USER dba PASSWORD 'a secret'")
        place = f"127.0.0.1:{deployment.address.port}/assay"
        for password in ("", ":wrong-word"):
            choice = SystemChoice("cubrid", url=f"cubrid://dba{password}@{place}")
            with pytest.raises(SystemRefused) as refusal, CUBRID.attach(choice):
                pass
            assert refusal.value.error_class == "authentication"
            assert place.partition("/")[0] in refusal.value.message
            assert "wrong-word" not in f"{refusal.value.message}{refusal.value.hint}"
        nowhere = SystemChoice("cubrid", url=f"cubrid://dba@127.0.0.1:{free_port()}/assay")
        with pytest.raises(SystemRefused) as refusal, CUBRID.attach(nowhere):
            pass
        assert refusal.value.error_class == "connection refused"
        choice = SystemChoice("cubrid", url=f"cubrid://dba:a%20secret@{place}")
        with CUBRID.attach(choice) as reached:
            assert (reached.is_private, reached.server_pid) == (False, None)
            assert reached.version == deployment.version
            assert ask(reached, "SELECT CHAR_LENGTH(words) FROM t") == [("1000",)]
            assert CUBRID.sample(reached) is None
            assert CUBRID.size_on_disk_bytes(reached) > 0
        assert CUBRID.why_it_died(deployment) is None


UP = """
import sys
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.provision.machine.ports import free_port
from assay.provision.running_system import running_system
storage = StorageChoice(directory=sys.argv[1])
with running_system(SystemChoice("cubrid"), storage, connections=2) as running:
    print(running.deployment.address.port, flush=True)
    sys.stdin.read()
"""


def segment(port: int) -> bool:
    key = int(str(port), 16)
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return any(int(line.split()[0]) == key for line in lines)


def test_after_a_kill_of_assay_its_broker_and_shared_memory_are_removed(
    storage: StorageFacts,
) -> None:
    words = [sys.executable, "-c", UP, storage.directory]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ours:
        assert ours.stdout is not None
        port = int(ours.stdout.readline())
        assert segment(port)
        ours.send_signal(signal.SIGKILL)
    assert segment(port), "it is not removed yet"
    (found,) = wait_until(clear_leftovers, "something is left to clear")
    assert found.remaining == []
    assert found.processes >= 2
    assert f"shared memory 0x{int(str(port), 16):08x}" in found.removed
    assert not segment(port)
