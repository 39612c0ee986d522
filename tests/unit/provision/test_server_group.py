"""A server is started within its control group, with every process, and nothing of it is left."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.contracts.storage_facts import StorageFacts
from assay.errors import ArgumentError, MachineLimit, SystemDied
from assay.experiment import ServerMachine
from assay.provision.disk.directory import server_directory
from assay.provision.limits import client_group, server_group
from assay.provision.processes import process, programs
from assay.provision.undo.leftovers import clear_leftovers
from waiting import wait_until

pytestmark = pytest.mark.slow

MB = 1 << 20
LIMITED = ServerMachine(memory_bytes=64 * MB, cpus=0.5)


def _why_not() -> str:
    try:
        server_group.refuse_impossible(LIMITED)
    except MachineLimit as error:
        return error.message
    return ""


needs_groups = pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "it can")


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))


@pytest.fixture
def here() -> Iterator[StorageFacts]:
    """Pytest's own directories are closed to the servers' user."""
    path = Path(f"/var/tmp/assay-group-test-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield StorageFacts("here", "here", str(path))
    path.rmdir()  # also asserts that everything in it was removed


SERVER = """
import subprocess, sys, time
child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
print("ready", child.pid, flush=True)
time.sleep(1000)
"""
HOG = """
import time
print("ready", flush=True)
taken = []
while True:
    taken.append(bytearray(b"x" * 1_000_000))
    time.sleep(0.001)
"""


def _said(server: process.ServerProcess) -> str | None:
    return None if "ready" in programs.last_lines(server.log) else "it has not said that it is"


@needs_groups
def test_all_processes_of_a_server_are_in_its_group_from_their_first_instant(
    here: StorageFacts,
) -> None:
    with server_directory(here, LIMITED) as directory:
        groups = directory.control_groups
        assert server_group.memory_limit_bytes(groups) == 64 * MB
        assert server_group.cpu_limit(groups) == 0.5
        # A tool of the server, which says its groups as its first deed; its input is its own.
        said = programs.run(["cat", "/proc/self/cgroup", "-"], directory, standard_input="rows\n")
        assert directory.root.name in said
        assert said.endswith("rows\n")
        with process.start(["python3", "-c", SERVER], directory) as server:
            server.wait_ready(lambda: _said(server))
            child = programs.last_lines(server.log).split()[-1]
            for pid in (str(server.pid), child):
                of_process = Path(f"/proc/{pid}/cgroup").read_text()
                assert of_process.count(directory.root.name) >= len(groups)
    assert not any(group.exists() for group in groups)


@needs_groups
def test_a_server_that_needs_more_memory_ends_and_the_limit_is_named(here: StorageFacts) -> None:
    with (
        server_directory(here, LIMITED) as directory,
        process.start(["python3", "-c", HOG], directory) as server,
    ):
        died = wait_until(server.died, "the limit has ended it")
        assert died is not None
        assert "python3: a process was ended by the memory limit of 64MB" in died
        with pytest.raises(SystemDied, match="memory limit of 64MB"):
            server.wait_ready(lambda: "it has ended")


HOLDER = """
import sys, time
from assay.experiment import ServerMachine
from assay.provision.processes import process
from assay.contracts.storage_facts import StorageFacts
from assay.provision.disk.directory import server_directory

with server_directory(
    StorageFacts("here", "here", sys.argv[1]), ServerMachine(64 << 20, 0.5)
) as directory:
    with process.start(["sleep", "1000"], directory):
        print(*directory.control_groups, flush=True)
        time.sleep(1000)
"""


@needs_groups
def test_the_group_of_a_killed_assay_is_removed_at_the_next_start(here: StorageFacts) -> None:
    words = [sys.executable, "-c", HOLDER, here.directory]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as assay:
        assert assay.stdout is not None
        groups = [Path(word) for word in assay.stdout.readline().split()]
        assert groups
        assert all(group.is_dir() for group in groups)
        stranger = groups[0].with_name("assay-000000000000")
        stranger.mkdir()
        assay.kill()
    try:
        [cleared] = clear_leftovers()
        assert cleared.remaining == []
        assert not any(group.exists() for group in groups)
        assert stranger.is_dir(), "a group of this form that nobody noted is another program's"
    finally:
        stranger.rmdir()


ENTERS = """
import sys
from pathlib import Path
from assay.experiment import ServerMachine
from assay.provision.limits import client_group
from assay.contracts.storage_facts import StorageFacts
from assay.provision.disk.directory import server_directory

def groups():
    return Path("/proc/self/cgroup").read_text()

def used(folder):
    files = (folder / "memory.usage_in_bytes", folder / "memory.current")
    return next(int(file.read_text()) >> 20 for file in files if file.exists())

before = groups()
taken = [bytearray(b"x" * (80 << 20))]
with server_directory(
    StorageFacts("here", "here", sys.argv[1]), ServerMachine(memory_bytes=64 << 20)
) as directory:
    [group] = directory.control_groups
    with client_group.within([group]):
        assert groups().count(group.name) == 1, groups()
        taken.append(bytearray(b"x" * (20 << 20)))
        assert 20 <= used(group) < 40, used(group)
    assert groups() == before, groups()
"""


@needs_groups
def test_this_process_is_in_a_group_for_a_block_with_what_it_takes_there(
    here: StorageFacts,
) -> None:
    """80 MB that it had before fit beside a limit of 64 MB, and the group is removed behind it."""
    words = [sys.executable, "-c", ENTERS, here.directory]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@needs_groups
def test_a_limit_of_this_process_is_no_other_experiments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = Path("/proc/self/cgroup").read_text()
    refused = []

    def run(**options: Any) -> None:
        assay.run(
            "tpcb.select-only", on="sqlite", transactions=2, warm_up_s=0, probe_s=0,
            records=tmp_path / "r.sqlite", **options,
        )  # fmt: skip

    for is_limited, options in ((False, {"memory": "300MB"}), (True, {})):
        with client_group.experiment(is_limited=is_limited):
            with pytest.raises(ArgumentError, match="holds for the whole process") as caught:
                run(**options)
            refused.append(caught.value.hint)
    assert all("assay run" in str(hint) for hint in refused)
    run(memory="300MB")
    assert Path("/proc/self/cgroup").read_text() == before
