"""Real bibliographies and real systems for tests, which are skipped where these are missing."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import forked_programs
import light_java
import made_once
from able import beside_their_line
from assay import env_vars, registry
from assay.contracts.deployment import Deployment
from assay.contracts.storage_facts import StorageFacts
from assay.errors import AssayError
from assay.provision.machine.users import server_user
from assay.provision.undo.ledger import clear_leftovers
from assay.systems import System
from busy_machine import pytest_runtest_protocol as pytest_runtest_protocol
from commands import Assay, Ended, need, why_missing
from forked_programs import BIN
from programs import StartedPrograms, brought, undeclared
from servers import SERVERS, directory_for_servers, place_of_folders, shared

os.environ[env_vars.PROBE_SECONDS.name] = "0"
# What a test measures is not what another one, or an earlier Assay, has measured.
os.environ[env_vars.AGAIN.name] = "yes"
# Other tests disturb every run; those of this ability set it to "yes".
os.environ[env_vars.REPEAT_DISTURBED.name] = "no"
"""Here and in every program that a test starts: storages are probed only by tests that ask for
it."""

os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(place_of_folders()))

_ON_DISK = {"conformance", "docs", "papers", "proofs", "truth"}
"""Folders whose tests run systems as users do."""
_LONGEST_FILE = "test_examples.py"
_STARTED = StartedPrograms()

forked_programs.keep_environment()

gc.set_threshold(100_000, 20, 20)
"""Thousands of tests that are collected are never garbage; to look through them takes a sixth of
the collection's time."""

made_once.read_workloads()
made_once.copy_records()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # In the background a shell makes programs ignore Ctrl-C, and so would all that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick",
        action="store_true",
        help="leave out the tests marked slow or alone, and let none start a program of a package",
    )
    parser.addoption(
        "--keep-outputs",
        action="store_true",
        help="write what commands print now into their transcripts, in place of comparing it",
    )
    parser.addoption(
        "--every-system",
        action="store_true",
        help="run a test on further systems and guides, too, for which another one stands",
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    with suppress(AssayError):  # as root it is made here, and not by the first test that needs it
        server_user()
    if not session.config.getoption("--quick"):
        light_java.use()
        _keep_new_data()


def _keep_new_data() -> None:
    """For all processes of the session, which begin in the first one's environment: to make the
    data directory of a server takes longer than most tests do."""
    if env_vars.NEW_DATA.name not in os.environ:
        folder = tempfile.mkdtemp(prefix="assay-test-new-data-", dir=place_of_folders())
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ[env_vars.NEW_DATA.name] = folder


_FIXTURES = {"server": {"available", "cassandra", "server"}, "slow": {"assay", "beebe"}}
"""By whose use a test is known to start a server, or programs that are not on every machine."""
_SERVERS_ALONE = ("conformance", "papers")
"""Folders of tests that are about real systems."""


def _mark_by_use(item: pytest.Item) -> None:
    """What is left to mark by hand needs seconds, root or a device."""
    known = getattr(item, "_fixtureinfo", None)
    used = known.name2fixturedefs.keys() if known else set()
    marks = {mark for mark, fixtures in _FIXTURES.items() if fixtures & used}
    asks = "need" in item.function.__code__.co_names if isinstance(item, pytest.Function) else False
    if asks or item.path.parent.name in _SERVERS_ALONE:
        marks.add("server")
    for mark in marks:
        item.add_marker(mark)


def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    left_out = set() if session.config.getoption("--every-system") else {"same_line"}
    left_out |= {"slow", "alone", "server"} if session.config.getoption("--quick") else set()
    kept, left = [], []
    for one in items:
        _mark_by_use(one)
        is_left = any(mark.name in left_out for mark in one.iter_markers())
        (left if is_left else kept).append(one)
    session.config.hook.pytest_deselected(items=left)
    # A file is one process's, and the longest one must not be the last.
    items[:] = sorted(kept, key=lambda item: item.path.name != _LONGEST_FILE)
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _programs_of_the_collection() -> None:
    """Modules ask the machine when they are imported: that is no test's doing."""
    _STARTED.since_last_time()


@pytest.fixture(autouse=True)
def _only_declared_programs(
    request: pytest.FixtureRequest, _programs_of_the_collection: None
) -> Iterator[None]:
    """A test that starts a program which is declared nowhere fails: `make test` would not bring it
    to another machine. So does a quick one that starts more than Debian always has."""
    yield
    refusal = brought if request.config.getoption("--quick") else undeclared
    wrong = [why for started in _STARTED.since_last_time() if (why := refusal(started))]
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="session")
def beebe() -> Path:
    """The folder of the 13 real bibliographies, as `assay install` makes it."""
    done = subprocess.run([BIN / "assay", "install", "beebe"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"the real bibliographies cannot be had: {done.stderr.strip()}")
    return Path(done.stdout.splitlines()[-1])


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A test's own folder: in memory, or on a disk where the test looks at what that does."""
    is_on_disk = request.node.get_closest_marker("disk") is not None
    if not is_on_disk and request.path.parent.name not in _ON_DISK:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="assay-test-") as folder:
        yield Path(folder)


@pytest.fixture
def working_folder(tmp_path: Path) -> Iterator[Path]:
    """An empty working folder; afterwards no server is left behind."""
    yield tmp_path
    state = tmp_path / "state"
    left = list(state.rglob("*.json")) if state.exists() else []
    texts = [path.read_text() for path in left]
    if left:
        # A mount without its program makes other tests fail, too.
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("XDG_STATE_HOME", str(state))
            clear_leftovers()
    assert not left, f"left behind: {texts}"


@pytest.fixture
def assay(working_folder: Path) -> Assay:
    """Runs a command in this folder."""

    def run(
        *words: str | Path,
        program: str = "assay",
        stdin: str | None = None,
        is_forked: bool = True,
        **more: Any,
    ) -> Ended:
        done = forked_programs.run(
            program,
            words,
            folder=working_folder,
            stdin=stdin,
            is_forked=is_forked,
            environment={**os.environ, "XDG_STATE_HOME": str(working_folder / "state"), **more},
        )
        return Ended(done, working_folder)

    return run


@pytest.fixture(scope="session")
def available(request: pytest.FixtureRequest) -> list[str]:
    """Names of the systems of SQL that store rows and whose programs are on this machine; of each
    line of driver and dialect one, without ``--every-system``."""
    found = []
    for name in registry.systems():
        if name == "null" or registry.system(name).dialect.language != "sql":
            continue
        if reason := why_missing(name):
            print(f"{name} is left out: {reason}")
        else:
            found.append(name)
    every = request.config.getoption("--every-system")
    left = [] if every else beside_their_line(found)
    return [name for name in found if name not in left]


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StorageFacts]:
    """Where servers keep their data."""
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    with directory_for_servers() as directory:
        yield directory


@pytest.fixture
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test starts is noted in its own folder."""
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.delenv("ASSAY_DATA_DIRECTORY", raising=False)


@pytest.fixture
def _own_places(_own_state: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same, with the data of servers in a folder on a disk."""
    with tempfile.TemporaryDirectory(prefix="assay-test-", dir="/var/tmp") as made:
        Path(made).chmod(0o755)  # the servers' user must be able to enter
        monkeypatch.setenv("ASSAY_DATA_DIRECTORY", made)
        yield


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> System:
    """Each system that is a server, one after another."""
    need(request.param)
    return registry.system(request.param)


@pytest.fixture(scope="session")
def cassandra(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A private Cassandra that the tests of a session share, as it takes long to start."""
    with shared("cassandra", tmp_path_factory.mktemp("state"), nodes="1") as deployment:
        yield deployment
