"""What a killed Assay leaves is found and removed; what belongs to others is not touched."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.cli.program import run_program
from assay.contracts.stop import Stopped
from assay.provision.machine import process_table
from assay.provision.machine.process_table import ProcessIdentity
from assay.provision.machine.signals import stopped_by_signals
from assay.provision.undo import ledger
from assay.provision.undo.ledger import clear_leftovers, undone_at_end
from assay.provision.undo.resources import Directory
from waiting import HANG_S

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_own_state")]

# An Assay that holds a real server, which listens on a Unix socket and has a child in a session of
# its own (as database servers do); it says the server's number and waits to be killed.
_HOLDER = """
import sys, time
from pathlib import Path
from assay.provision import processes
from assay.provision.directory import server_directory
from assay.contracts.storage_facts import StorageFacts

if sys.argv[2] == "without setpriv":
    processes._dying_with_us = lambda: None
SERVER = '''
import os, socket, subprocess, sys
subprocess.Popen(["sleep", "1000"], start_new_session=True)
listener = socket.socket(socket.AF_UNIX)
listener.bind("socket")
listener.listen()
while True:
    listener.accept()[0].close()
'''
with server_directory(StorageFacts("here", "here", sys.argv[1])) as directory:
    directory.data.mkdir()
    (directory.data / "rows").write_text("1")
    arguments = ["python3", "-c", SERVER]
    with processes.start_server(arguments, directory) as server:
        server.wait_ready(lambda: None if (directory.run / "socket").exists() else "no socket")
        print(server.pid, directory.root, directory.run, flush=True)
        time.sleep(1000)
"""


@pytest.fixture
def reachable_directory() -> Iterator[Path]:
    """Pytest's own directories are closed to the servers' user."""
    path = Path(f"/var/tmp/assay-test-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    path.rmdir()  # also asserts that everything in it was removed


@contextmanager
def _holder(directory: Path, belt: str) -> Iterator[tuple[subprocess.Popen[str], int, list[Path]]]:
    child = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(directory), belt], stdout=subprocess.PIPE, text=True
    )
    with child:
        try:
            assert child.stdout is not None
            pid, *paths = child.stdout.readline().split()
            yield child, int(pid), [Path(path) for path in paths]
        finally:
            child.kill()


@pytest.mark.parametrize("belt", ["with setpriv", "without setpriv"])
def test_a_killed_assay_leaves_nothing_after_the_next_start(
    reachable_directory: Path, belt: str
) -> None:
    with _holder(reachable_directory, belt) as (assay, server_pid, paths):
        assert clear_leftovers() == [], "its maker lives"
        assert all(path.is_dir() for path in paths)
        mark = paths[0].name.removeprefix("assay-")
        assert len(process_table.tagged_processes(mark)) == 2, "the server and its child"
        server = ProcessIdentity.of(server_pid)
        assert server is not None
        assay.kill()
        assay.wait()
        cleared = clear_leftovers()
    assert [one.entries for one in cleared] == [(mark,)]
    assert sorted(cleared[0].removed) == sorted(str(path) for path in paths)
    assert not cleared[0].remaining
    assert not any(path.exists() for path in paths)
    assert not server.is_alive()
    assert process_table.tagged_processes(mark) == []
    assert clear_leftovers() == [], "the entry is gone too"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_assay_cleans_up(reachable_directory: Path, number: signal.Signals) -> None:
    guarded = _HOLDER.replace(
        "with server_directory",
        "from assay.provision.machine.signals import stopped_by_signals\n"
        "with stopped_by_signals(), server_directory",
    )
    child = subprocess.Popen(
        [sys.executable, "-c", guarded, str(reachable_directory), "with setpriv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        _, *paths = child.stdout.readline().split()
        child.send_signal(number)
        child.wait(HANG_S)
        assert child.stderr is not None
        message = child.stderr.read()
    assert "Stopped" in message
    assert not any(Path(path).exists() for path in paths)
    assert process_table.tagged_processes(Path(paths[0]).name.removeprefix("assay-")) == []
    assert clear_leftovers() == []


def _dead_entry(**fields: object) -> Path:
    """An entry as a killed Assay leaves it: on disk, and without a lock. Version 1, from before
    resources had kinds."""
    identity = ledger.new_id()
    path = ledger.state_directory() / f"{identity}.json"
    document = {
        "version": 1, "id": identity, "owner_pid": 1, "made": "2026-01-02T03:04:05+00:00",
        "directories": [], "mounts": [], "leader": None, **fields,
    }  # fmt: skip
    path.write_text(json.dumps(document))
    return path


def test_a_process_that_was_given_the_servers_number_is_not_touched() -> None:
    with subprocess.Popen(["sleep", "1000"]) as stranger:
        try:
            now = ProcessIdentity.of(stranger.pid)
            assert now is not None
            for leader in (
                {"pid": now.pid, "start_ticks": now.start_ticks - 1, "boot": now.boot},
                {"pid": now.pid, "start_ticks": now.start_ticks, "boot": "another boot"},
            ):
                entry = _dead_entry(leader=leader)
                (cleared,) = clear_leftovers()
                assert cleared.processes == 0
                assert not entry.exists()
                assert stranger.poll() is None, "the stranger was killed"
            _dead_entry(leader={"pid": now.pid, "start_ticks": now.start_ticks, "boot": now.boot})
            assert clear_leftovers()[0].processes == 1
            assert stranger.wait(HANG_S) == -signal.SIGKILL
        finally:
            stranger.kill()


def test_a_directory_that_assay_did_not_make_is_not_removed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis").write_text("only copy")
    entry = _dead_entry(directories=[str(precious)])
    link = tmp_path / f"assay-{entry.stem}"
    link.symlink_to(precious)
    (cleared,) = clear_leftovers()
    assert cleared.remaining == [f"{precious}: it is not a directory that Assay made"]
    entry.unlink()
    entry = _dead_entry(directories=[str(tmp_path / "assay-000000000000")])
    document = json.loads(entry.read_text())
    document["directories"] = [str(tmp_path / f"assay-{document['id']}")]
    (tmp_path / f"assay-{document['id']}").symlink_to(precious)
    entry.write_text(json.dumps(document))
    assert clear_leftovers()[0].remaining
    assert (precious / "thesis").read_text() == "only copy"


def test_unfinished_entries_are_dropped_and_entries_of_other_versions_kept() -> None:
    precious = Path(ledger.state_directory(), "precious")
    half = _dead_entry().rename(ledger.state_directory() / "0123456789ab.new")
    damaged = _dead_entry()
    damaged.write_text(damaged.read_text()[:40])
    fits_all = _dead_entry(id="", directories=[str(precious)])
    precious.mkdir()
    newer = _dead_entry(version=99)
    unknown_kind = _dead_entry(version=2, resources=[{"kind": "zeppelin", "path": "/x"}])
    assert clear_leftovers() == []
    assert not half.exists()
    assert damaged.exists() and fits_all.exists() and precious.exists()
    assert newer.exists() and unknown_kind.exists(), "another version knows what they mean"


def test_two_assays_do_not_clear_the_same_entry(tmp_path: Path) -> None:
    directories = [ledger.state_directory().parent / "unused"]
    for _ in range(20):
        entry = _dead_entry()
        made = tmp_path / f"assay-{entry.stem}"
        made.mkdir()
        directories.append(made)
        document = json.loads(entry.read_text())
        entry.write_text(json.dumps({**document, "directories": [str(made)]}))
    program = (
        "from assay.provision.undo.ledger import clear_leftovers; "
        "cleared = clear_leftovers(); assert not any(one.remaining for one in cleared); "
        "print(*(entry for one in cleared for entry in one.entries))"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    cleared = [child.communicate()[0].split() for child in both]
    assert [child.returncode for child in both] == [0, 0]
    assert sorted(cleared[0] + cleared[1]) == sorted(
        path.name.removeprefix("assay-") for path in directories[1:]
    )
    assert not any(path.exists() for path in directories)


def test_a_state_directory_that_others_may_write_in_is_refused() -> None:
    ledger.state_directory().chmod(0o777)
    with pytest.raises(Exception, match="no other user may write") as caught:
        clear_leftovers()
    assert "ASSAY_STATE_DIRECTORY" in str(caught.value.hint)  # type: ignore[attr-defined]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system, which needs root")
@pytest.mark.parametrize("is_full", [True, False], ids=["full", "read-only"])
def test_a_state_directory_that_cannot_be_written_is_named_with_a_fix(
    is_full: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    state = tmp_path / "state"
    state.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", state], check=True)
    try:
        ledger.state_directory()
        if is_full:
            with pytest.raises(OSError, match="No space"), (state / "rest").open("wb", 0) as rest:
                while True:
                    rest.write(bytes(1024))
        else:
            subprocess.run(["mount", "-o", "remount,ro", state], check=True)
        words = [
            "run", "tpcb", "--on", "sqlite", "--warm-up", "0", "--transactions", "1", "--no-probe",
        ]  # fmt: skip
        assert run_program(words) == 3
        message = capsys.readouterr().err
    finally:
        subprocess.run(["umount", state], check=True)
    assert f"{state}/made: " in message and "ASSAY_STATE_DIRECTORY" in message
    assert os.strerror(errno.ENOSPC if is_full else errno.EROFS) in message
    assert not (tmp_path / ".assay").exists()


def test_killing_waits_until_the_process_is_gone() -> None:
    with subprocess.Popen(["sleep", "1000"]) as child:
        identity = ProcessIdentity.of(child.pid)
        assert identity is not None and identity.is_alive()
        assert process_table.kill_tagged("no such mark", identity) == 1
        assert not identity.is_alive()
        identity.send(signal.SIGTERM)  # to no process


@pytest.mark.parametrize("call", ["fsync", "close"])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_signal_does_not_leave_half_a_note(
    call: str, nth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it comes, what was noted is removed, and nothing else is raised."""
    through = getattr(os, call)
    calls: list[int] = []

    def interrupted(descriptor: int) -> None:
        through(descriptor)
        calls.append(descriptor)
        if len(calls) == nth:
            os.kill(os.getpid(), signal.SIGTERM)

    identity = ledger.new_id()
    folders = [tmp_path / name / f"assay-{identity}" for name in ("data", "log")]
    with monkeypatch.context() as patched, stopped_by_signals():
        patched.setattr(ledger.os, call, interrupted)
        with pytest.raises(Stopped), undone_at_end(identity) as entry:
            for folder in folders:
                entry.add(Directory(str(folder)))
                folder.mkdir(parents=True)
    assert not any(folder.exists() for folder in folders)
    assert list(ledger.state_directory().iterdir()) == []
    assert ledger.held_entries(identity) is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_does_not_cut_a_removal_short(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undo = ledger.undo_entry

    def interrupted(entry: ledger.Entry) -> object:
        os.kill(os.getpid(), number)
        return undo(entry)

    monkeypatch.setattr(ledger, "undo_entry", interrupted)
    identity = ledger.new_id()
    folder = tmp_path / f"assay-{identity}"
    with pytest.raises(Stopped) as caught, stopped_by_signals(), undone_at_end(identity) as entry:
        entry.add(Directory(str(folder)))
        folder.mkdir()
    assert caught.value.reason.exit_code == 128 + number
    assert not folder.exists()
    assert list(ledger.state_directory().iterdir()) == []
