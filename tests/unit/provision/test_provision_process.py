"""A server is a child process: it is waited for, stopped in order, and never left behind, alone or
in a group."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.contracts.stop import Stopped
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import (
    ArgumentError,
    Bug,
    MachineLimit,
    SystemDied,
    SystemMissing,
    SystemUnderTestError,
)
from assay.experiment import ServerMachine
from assay.provision import limits, processes
from assay.provision.directory import server_directory
from assay.provision.machine import process_table, sampling
from assay.provision.machine.ports import free_ports
from assay.provision.machine.process_table import ProcessIdentity
from assay.provision.machine.signals import stopped_by_signals
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_own_state")]
IDLE = "import time\nprint('ready', flush=True)\ntime.sleep(1000)"


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerDirectory]:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    with server_directory(StorageFacts("here", "here", "/var/tmp")) as made:
        yield made
    assert not made.root.exists() and not made.run.exists()


def _python(program: str) -> list[str]:
    return ["python3", "-c", program]


def _why_silent(server: processes.ServerProcess) -> str | None:
    return (
        None
        if "ready" in processes.last_lines(server.log)
        else "it has not reported that it is ready"
    )


def test_a_server_gets_as_many_open_files_as_this_machine_allows(
    directory: ServerDirectory,
) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with processes.start_server(_python(IDLE), directory, open_files=most + 1000) as server:
        server.wait_ready(lambda: _why_silent(server))
        limits = Path(f"/proc/{server.pid}/limits").read_text()
    assert re.search(rf"Max open files +{most} +{most} ", limits), limits


def test_a_server_runs_as_the_directorys_owner_in_its_own_session_and_environment(
    directory: ServerDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "of the user")
    with processes.start_server(_python(IDLE), directory, environment={"EXTRA": "given"}) as server:
        server.wait_ready(lambda: _why_silent(server))
        proc = Path(f"/proc/{server.pid}")
        assert proc.stat().st_uid == directory.root.stat().st_uid
        if os.geteuid() == 0:
            assert proc.stat().st_uid != 0
        assert os.getsid(server.pid) == server.pid != os.getsid(0)
        assert (proc / "cwd").readlink() == directory.run
        environment = (proc / "environ").read_bytes().decode().split("\0")
        assert "EXTRA=given" in environment
        assert not any(word.startswith("SECRET=") for word in environment)
        assert processes.running_server(server.pid) is server
        assert server.died() is None
    assert processes.running_server(server.pid) is None


def test_signals_to_stop_are_sent_in_order_and_the_last_resort_is_kill(
    directory: ServerDirectory,
) -> None:
    stubborn = (
        "import signal, time\n"
        "signal.signal(signal.SIGINT, lambda *_: print('heard INT', flush=True))\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('heard TERM', flush=True))\n" + IDLE
    )
    steps = ((signal.SIGINT, 2.0), (signal.SIGTERM, 2.0))  # to be heard on a busy machine, too
    with processes.start_server(_python(stubborn), directory, stop=steps) as server:
        server.wait_ready(lambda: _why_silent(server))
    assert processes.last_lines(server.log).splitlines() == ["ready", "heard INT", "heard TERM"]
    assert (server.died() or "").endswith(
        "ended by SIGKILL; the end of its log:\nheard INT\nheard TERM"
    ), "and not the output of its start"

    polite = "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n" + IDLE
    with processes.start_server(_python(polite), directory, log_name="polite.log") as server:
        server.wait_ready(lambda: _why_silent(server))
    assert "python3 ended with status 3" in (server.died() or "")


def test_a_server_that_ends_during_its_start_is_reported_with_its_last_output(
    directory: ServerDirectory,
) -> None:
    program = "print('x' * 70000)\nprint('port taken')\nraise SystemExit(7)"
    with (
        pytest.raises(SystemDied, match="ended with status 7; the end of its log:") as caught,
        processes.start_server(_python(program), directory) as server,
    ):
        server.wait_ready(lambda: "nobody listens")
    assert caught.value.message.endswith("port taken")


def test_a_server_that_never_becomes_ready_is_reported_and_stopped_in_seconds(
    directory: ServerDirectory,
) -> None:
    deaf = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{IDLE}"
    with (
        pytest.raises(SystemDied, match=r"not become ready within 0.3 s: nobody listens") as caught,
        processes.start_server(
            _python(deaf), directory, stop=((signal.SIGTERM, 3000.0),)
        ) as server,
    ):
        server.wait_ready(lambda: _why_silent(server))
        server.wait_ready(lambda: "nobody listens", timeout_s=0.3)
    assert "ready" in caught.value.message, "its log"
    assert server.died() is not None


def test_a_missing_program_is_reported_before_anything_starts(directory: ServerDirectory) -> None:
    with (
        pytest.raises(SystemMissing, match="'no-such-server'"),
        processes.start_server(["no-such-server"], directory),
    ):
        pytest.fail("it cannot have started")
    with pytest.raises(SystemMissing):
        processes.run_program(["no-such-tool"], directory)


def test_a_server_is_not_started_in_an_unregistered_directory(tmp_path: Path) -> None:
    unknown = ServerDirectory(
        tmp_path / "assay-0123456789ab", tmp_path, tmp_path, StorageFacts("x", "x", "x")
    )
    with (
        pytest.raises(Bug, match="not in the ledger"),
        processes.start_server(_python(IDLE), unknown),
    ):
        pytest.fail("it cannot have started")


def test_a_process_that_outlives_its_server_is_killed_with_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    orphaning = "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)"
    with server_directory(StorageFacts("here", "here", "/var/tmp")) as made:
        mark = made.root.name.removeprefix("assay-")
        with processes.start_server(_python(orphaning + "\n" + IDLE), made) as server:
            server.wait_ready(lambda: _why_silent(server))
        (orphan,) = process_table.tagged_processes(mark)
    assert not orphan.is_alive()


def test_ctrl_c_while_a_server_is_stopping_ends_it_at_once(directory: ServerDirectory) -> None:
    deaf = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + IDLE
    identity = None
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    with (
        pytest.raises(KeyboardInterrupt),
        processes.start_server(_python(deaf), directory, stop=((signal.SIGTERM, 200.0),)) as server,
    ):
        server.wait_ready(lambda: _why_silent(server))
        identity = ProcessIdentity.of(server.pid)
        timer.start()
    assert identity is not None and not identity.is_alive()


def test_a_second_ctrl_c_kills_a_server_at_once(directory: ServerDirectory) -> None:
    deaf = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + IDLE
    with (
        stopped_by_signals(),
        pytest.raises(KeyboardInterrupt),
        processes.start_server(
            _python(deaf), directory, stop=((signal.SIGTERM, 200.0),) * 200
        ) as server,
    ):
        server.wait_ready(lambda: _why_silent(server))
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert "ended by SIGKILL" in (server.died() or "")


def test_a_server_that_was_stopped_is_continued_and_ends_in_order(
    directory: ServerDirectory,
) -> None:
    polite = "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n" + IDLE
    with processes.start_server(
        _python(polite), directory, stop=((signal.SIGTERM, 200.0),)
    ) as server:
        server.wait_ready(lambda: _why_silent(server))
        server.send(signal.SIGSTOP)
    assert "python3 ended with status 3" in (server.died() or "")


def test_a_server_that_must_be_killed_takes_its_stopped_children_with_it(
    directory: ServerDirectory,
) -> None:
    # The child has an empty environment and a session of its own, as with some servers.
    program = (
        "import signal, subprocess\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['sleep', '1000'], env={}, start_new_session=True)\n"
        "child.send_signal(signal.SIGSTOP)\nprint(child.pid, flush=True)\n" + IDLE
    )
    with processes.start_server(
        _python(program), directory, stop=((signal.SIGTERM, 0.2),)
    ) as server:
        server.wait_ready(lambda: _why_silent(server))
        child = ProcessIdentity.of(int(processes.last_lines(server.log).split()[0]))
    assert "ended by SIGKILL" in (server.died() or "")
    assert child is not None
    wait_until(lambda: not child.is_alive(), "the child has ended")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT])
def test_a_termination_is_raised_once_and_the_handlers_are_put_back(number: signal.Signals) -> None:
    inherited = signal.signal(number, signal.SIG_DFL)  # ignored in a background job of a shell
    before = signal.getsignal(number)
    with pytest.raises(Stopped) as caught, stopped_by_signals():
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(signal.SIGHUP)  # the teardown goes on
    assert caught.value.reason.exit_code == 128 + number
    assert signal.getsignal(number) == before
    signal.signal(number, inherited)
    ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals():
            signal.raise_signal(signal.SIGHUP)  # as with nohup
    finally:
        signal.signal(signal.SIGHUP, ignored)


def test_a_sample_sums_over_a_server_and_its_children(directory: ServerDirectory) -> None:
    directory.data.mkdir(mode=0o777)
    directory.data.chmod(0o777)
    program = (
        "import os, subprocess, sys, time\n"
        f"files = [open('{directory.data}/' + name, 'w') for name in 'ab']\n"
        "memory = b'x' * (40 << 20)\n"
        "child = subprocess.Popen([sys.executable, '-c', "
        f'\'import time; f = open("{directory.data}/c", "w"); time.sleep(1000)\'])\n'
        "while not os.path.exists('" + str(directory.data) + "/c'): time.sleep(0.01)\n"
        "began = time.process_time()\n"
        "while time.process_time() - began < 0.05: pass\n" + IDLE
    )
    with processes.start_server(_python(program), directory) as server:
        server.wait_ready(lambda: _why_silent(server))
        found = sampling.sample(server.pid, directory.data)
        alone = sampling.sample(server.pid, directory.data, with_descendants=False)
    assert found is not None and alone is not None
    assert (found.processes, found.threads, found.open_files) == (2, 2, 3)
    assert (alone.processes, alone.open_files) == (1, 2)
    assert found.resident_bytes > alone.resident_bytes > 40 << 20
    assert found.virtual_bytes > found.resident_bytes
    assert alone.cpu_ns >= 40_000_000
    assert sampling.sample(server.pid) is None, "it is gone"


def test_a_storage_that_the_servers_user_cannot_reach_is_refused_with_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    if os.geteuid() == 0:
        expected, hint = "may not enter", f"chmod o+x {tmp_path.resolve().parents[-2]}"
    else:
        closed.chmod(0o500)
        expected, hint = "cannot be made", "choose another directory"
    with (
        pytest.raises(SystemUnderTestError, match=expected) as caught,
        server_directory(StorageFacts("here", "here", str(closed))),
    ):
        pytest.fail("it cannot be reached")
    assert hint.split("/")[0] in (caught.value.hint or "")
    assert list(closed.iterdir()) == [], "nothing is left of the attempt"


def test_ports_that_are_asked_for_together_differ_and_no_client_gets_one() -> None:
    ports = set(free_ports(500))
    assert len(ports) == 500
    range_of_clients = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
    first, last = map(int, range_of_clients.split())
    assert not ports & set(range(first, last + 1))


MB = 1 << 20
LIMITED = ServerMachine(memory_bytes=64 * MB, cpus=0.5)


def _why_not() -> str:
    try:
        limits.refuse_impossible_limits(LIMITED)
    except MachineLimit as error:
        return error.message
    return ""


needs_groups = pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "it can")


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


def _said(server: processes.ServerProcess) -> str | None:
    return None if "ready" in processes.last_lines(server.log) else "it has not said that it is"


@needs_groups
def test_all_processes_of_a_server_are_in_its_group_from_their_first_instant(
    here: StorageFacts,
) -> None:
    with server_directory(here, LIMITED) as directory:
        groups = directory.control_groups
        assert limits.memory_limit_bytes(groups) == 64 * MB
        assert limits.cpu_limit(groups) == 0.5
        # A tool of the server, which says its groups as its first deed; its input is its own.
        said = processes.run_program(
            ["cat", "/proc/self/cgroup", "-"], directory, standard_input="rows\n"
        )
        assert directory.root.name in said
        assert said.endswith("rows\n")
        with processes.start_server(["python3", "-c", SERVER], directory) as server:
            server.wait_ready(lambda: _said(server))
            child = processes.last_lines(server.log).split()[-1]
            for pid in (str(server.pid), child):
                of_process = Path(f"/proc/{pid}/cgroup").read_text()
                assert of_process.count(directory.root.name) >= len(groups)
    assert not any(group.exists() for group in groups)


@needs_groups
def test_a_server_that_needs_more_memory_ends_and_the_limit_is_named(here: StorageFacts) -> None:
    with (
        server_directory(here, LIMITED) as directory,
        processes.start_server(["python3", "-c", HOG], directory) as server,
    ):
        died = wait_until(server.died, "the limit has ended it")
        assert died is not None
        assert "python3: a process was ended by the memory limit of 64MB" in died
        with pytest.raises(SystemDied, match="memory limit of 64MB"):
            server.wait_ready(lambda: "it has ended")


ENTERS = """
import sys
from pathlib import Path
from assay.experiment import ServerMachine
from assay.provision import limits
from assay.contracts.storage_facts import StorageFacts
from assay.provision.directory import server_directory

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
    with limits.clients_within([group]):
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
        with limits.groups_of_experiment(is_limited=is_limited):
            with pytest.raises(ArgumentError, match="holds for the whole process") as caught:
                run(**options)
            refused.append(caught.value.hint)
    assert all("assay run" in str(hint) for hint in refused)
    run(memory="300MB")
    assert Path("/proc/self/cgroup").read_text() == before
