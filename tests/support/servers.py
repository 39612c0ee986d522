"""Private servers for tests: brought up, queried, and used by their own client."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from msgspec import structs

from assay import registry
from assay.contracts.deployment import Deployment
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.provision.directory import server_directory
from assay.provision.engine.engine_calls import session
from assay.systems import System
from assay.systems.options import TRANSPORT
from assay.systems.postgresql import installation as postgresql
from commands import need

SERVERS = [
    name
    for name in registry.systems()
    if TRANSPORT in registry.system(name).option_specs
    and registry.system(name).dialect.language == "sql"
]
"""The systems of SQL that are processes of their own, which clients reach at a socket or a port."""


def place_of_folders() -> Path:
    """In memory where there is room, as nothing here asks how fast a disk is: records alone are
    flushed tens of thousands of times."""
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and shutil.disk_usage(memory).free > 4 << 30
    return memory if has_room else Path("/var/tmp")


@contextmanager
def directory_for_servers() -> Iterator[StorageFacts]:
    """A directory that the servers' user can reach, which pytest's own are not; in memory where
    there is room, as nothing here asks how fast a disk is."""
    path = Path(tempfile.mkdtemp(prefix="assay-test-", dir=place_of_folders()))
    path.chmod(0o755)
    yield StorageFacts("here", "here", str(path))
    path.rmdir()  # also asserts that everything in it was removed


@contextmanager
def two_builds() -> Iterator[tuple[Path, Path]]:
    """Two copies of PostgreSQL, ``old`` and ``new`` in one folder, that differ in a byte of a
    library."""
    need("postgresql")
    own = postgresql.find_server().program("postgres").resolve().parents[1]
    with tempfile.TemporaryDirectory(prefix="assay-test-", dir="/var/tmp") as made:
        Path(made).chmod(0o755)  # the servers' user must be able to enter
        for name in ("old", "new"):
            # Its programs find their files from where they are.
            whole = Path(made, f"usr-{name}")
            copy = whole / "lib" / "postgresql" / own.name
            shutil.copytree(own, copy, ignore=shutil.ignore_patterns("bitcode", "pgxs"))
            (whole / "share").symlink_to(own.parents[2] / "share")
            Path(made, name).symlink_to(copy)
        with Path(made, "new", "lib", "plpgsql.so").open("ab") as library:
            library.write(b"x")
        yield Path(made, "old"), Path(made, "new")


@contextmanager
def provisioned(
    system: System,
    storage: StorageFacts,
    settings: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
    connections: int | None = None,
) -> Iterator[Deployment]:
    """A private server until the end of the block; then nothing is left of it. The session keeps
    new data directories (`ASSAY_NEW_DATA`), of which it starts on a copy."""
    choice = SystemChoice(system.name, settings=settings or {}, options=options or {})
    with (
        server_directory(storage) as directory,
        system.provision(choice, directory, connections=connections) as deployment,
    ):
        yield deployment
    assert not Path(f"/proc/{deployment.server_pid}").exists()


@contextmanager
def shared(system: str, state: Path, **options: str) -> Iterator[Deployment]:
    """A private server for several tests, of which each leaves it as it was. ``state``: a folder
    for what is noted to be undone."""
    need(system)
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("ASSAY_STATE_DIRECTORY", str(state))
            storage = stack.enter_context(directory_for_servers())
            up = provisioned(registry.system(system), storage, options=options)
            deployment = stack.enter_context(up)
        yield deployment


def ask(deployment: Deployment, statement: str) -> list[tuple[str | None, ...]]:
    with session(deployment.address) as opened:
        return opened.execute(statement).rows


def url_of(system: System, deployment: Deployment, **changes: str) -> str:
    """Of a server at a port; ``changes``: another host or database."""
    to = structs.replace(deployment.address, **changes)
    password = quote(to.password or "", safe="")
    place = f"{to.user}:{password}@{to.host}:{to.port}/{to.database}"
    return f"{system.url_schemes[0]}://{place}"


def with_client(
    system: System, deployment: Deployment, script: str
) -> subprocess.CompletedProcess[str]:
    """Runs the system's own client with a script on its standard input."""
    arguments, environment = system.client_command(deployment.address)
    return subprocess.run(
        arguments,
        input=script,
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
