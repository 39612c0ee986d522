"""The kernel confines threads of the engine and programs of servers. Each is tried in a process of
its own, as nothing takes it back."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

BEGIN = """
import os, socket, sys
from pathlib import Path
from assay.errors import SystemUnderTestError
from assay.provision.confinement import confinement
from assay.provision.engine.engine_calls import ConfinedThread, once
own, outside = map(Path, sys.argv[1:])
try:
    confinement.begin(needs_network=False, readable=())
except SystemUnderTestError as error:
    sys.exit(f"cannot: {error.message}")
if confinement.user():
    os.chown(own, *confinement.user())
"""


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder in which all users may write."""
    with tempfile.TemporaryDirectory(prefix="assay-outside-", dir="/var/tmp") as name:
        Path(name).chmod(0o777)
        (Path(name) / "secret").write_text("x")
        (Path(name) / "secret").chmod(0o644)
        yield Path(name)


@pytest.fixture
def own() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="assay-own-", dir="/var/tmp") as name:
        yield Path(name)


def tried(text: str, own: Path, outside: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + text, str(own), str(outside)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.stderr.startswith("cannot: "):
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_thread_reaches_its_own_directories_alone(own: Path, outside: Path) -> None:
    text = """
def attempt(work):
    try:
        work()
    except OSError as error:
        return type(error).__name__
    return "done"

def work():
    return [
        attempt(lambda: (outside / "made").write_text("x")),
        attempt(lambda: (outside / "secret").read_text()),
        attempt(lambda: os.truncate(outside / "secret", 0)),
        attempt(lambda: (own / "made").write_text("x")),
        attempt(lambda: socket.socket().connect(("192.0.2.1", 9))),
        "program" if os.system(f"touch {outside}/made 2>/dev/null") == 0 else "none",
        "root" if os.geteuid() == 0 else "user",
    ]

with confinement.allowed(own):
    print(*once(lambda thread: work()))
print("root" if os.geteuid() == 0 else "user", attempt(lambda: (outside / "ours").write_text("x")))
"""
    *of_thread, who, ours = tried(text, own, outside)
    refused = "PermissionError"
    assert of_thread == [refused, refused, refused, "done", "OSError", "none", "user"]
    assert sorted(one.name for one in outside.iterdir()) == ["ours", "secret"]
    assert ours == "done", "the process itself keeps its rights"
    assert who in ("root", "user")


def test_what_the_engine_calls_back_has_the_rights_of_who_waits(own: Path, outside: Path) -> None:
    text = """
def rows():
    yield [os.geteuid()]
    (outside / "by-callback").write_text("x")
    yield [(outside / "secret").read_text()]

thread = ConfinedThread()
print(*(cell for row in thread.call(lambda: list(thread.relayed_rows(rows()))) for cell in row))
try:
    thread.call(lambda: thread.relayed(lambda: 1 / 0)())
except ZeroDivisionError:
    print("raised")
thread.end()
"""
    uid, read, raised = tried(text, own, outside)
    assert (read, raised) == ("x", "raised") and uid.isdecimal()
    assert (outside / "by-callback").exists()


def test_rows_are_read_from_the_files_that_were_named(own: Path, outside: Path) -> None:
    (own / "input").write_text("x")
    (own / "input").chmod(0o600)
    (own / "other").write_text("x")
    text = """
def read(path):
    try:
        return path.read_text()
    except OSError as error:
        return type(error).__name__

inputs = [own / "input"]
print(*once(lambda thread: [read(own / "input"), read(own / "other")], inputs))
"""
    assert tried(text, own, outside) == ["x", "PermissionError"]


def test_a_program_of_a_server_is_confined(own: Path, outside: Path) -> None:
    text = """
from assay.contracts.storage_facts import StorageFacts
from assay.provision.disk.directory import server_directory
from assay.provision.processes import programs
own.chmod(0o755)
os.chown(own, 0, 0) if os.geteuid() == 0 else None
facts = StorageFacts("here", "here", str(own))
script = 'id -u; echo x > "$1"/made; cat "$0"/secret; echo x > "$0"/made; echo $?'
with server_directory(facts) as directory:
    said = programs.run(["sh", "-c", script, str(outside), str(directory.root)], directory)
    print(said.split()[0] != "0" or os.geteuid() != 0, said.split()[-1] != "0")
    print((directory.root / "made").exists())
"""
    assert tried(text, own, outside) == ["True", "True", "True"]
    assert not (outside / "made").exists()
