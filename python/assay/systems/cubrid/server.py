"""Makes a database and runs a private server on it until the end of the block: the master process,
the server, and a broker with the processes that execute its sessions' statements.

The server listens at all addresses of the machine, and has no setting for that; it lets in sessions
from this machine alone.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct

from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import ArgumentError, AssayError, Bug, SystemDied, SystemRefused
from assay.provision.disk.directory import identity_of
from assay.provision.machine import process_tags
from assay.provision.machine.family import SESSION
from assay.provision.machine.identity import stat_fields
from assay.provision.machine.program import Program
from assay.provision.processes import process, programs
from assay.provision.processes.process import ServerProcess
from assay.provision.undo import ledger
from assay.provision.undo.resources import CannotUndo, SharedMemory
from assay.systems.cubrid import home as homes
from assay.systems.cubrid.home import DATABASE, Home
from assay.systems.cubrid.installation import Installation
from assay.text.mentions import phrase

LOCALE = "en_US.utf8"
"""Texts compare byte by byte."""

SET_BY_ASSAY = frozenset(
    {"cubrid_port_id", "service", "server", "access_ip_control", "access_ip_control_file"}
)
"""Settings by which we reach the server: not to be asked for."""

MKDIR = Program("mkdir", "coreutils")
_STOP_S = 60.0
_BROKER_PROGRAM = "cub_broker"


class RunningServer(Struct, frozen=True):
    process: ServerProcess
    home: Home
    broker_session: int
    """The session of the operating system that all processes of the broker are in, which are no
    descendants of the server."""


def check_settings(settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that Assay chooses, or that breaks the file."""
    for name, value in settings.items():
        if name.lower() in SET_BY_ASSAY:
            raise ArgumentError(
                f"the setting {name} of a private server is set by Assay",
                hint=phrase(
                    "reach a server of your own by its URL: {--on cubrid://USER@HOST:PORT/DATABASE}"
                ),
            )
        if "\n" in value or not name.replace("_", "").isalnum():
            raise ArgumentError(f"expected a setting NAME=VALUE, found {name!r}")


@contextlib.contextmanager
def running(
    installation: Installation,
    directory: ServerDirectory,
    settings: Mapping[str, str],
    connections: int,
) -> Iterator[RunningServer]:
    """Starts the server on its data directory, which is made where it is not there, and stops it at
    the end. Raises `SystemRefused` in its own words."""
    is_new = not directory.data.exists()
    if is_new:
        _make_folder(directory)
    home = homes.make(installation, directory, settings, connections)
    if is_new:
        _create(home, directory)
    with contextlib.ExitStack() as stack:
        master = stack.enter_context(
            process.start(
                [home.program("cub_master")],
                directory,
                stop=((signal.SIGINT, 10.0), (signal.SIGTERM, 5.0)),
                environment=home.environment,
                log_name="master.log",
            )
        )
        master.wait_ready(lambda: _refuses(home.master_port))
        server = stack.enter_context(
            process.start(
                [home.program("cub_server"), DATABASE],
                directory,
                stop=((signal.SIGTERM, 10.0),),
                environment=home.environment,
            )
        )
        stack.callback(_stop_server, home, directory, server)
        server.wait_ready(lambda: _why_not_up(home, directory))
        _note_shared_memory(home, directory)
        _cubrid(home, directory, "broker", "start")
        stack.callback(_stop_broker, home, directory)
        server.wait_ready(lambda: _refuses(home.broker_port))
        yield RunningServer(server, home, _broker_session(directory))


def parameters(home: Home, directory: ServerDirectory) -> dict[str, str]:
    """The settings that the running server has in effect."""
    said = programs.run(
        [home.program("cubrid"), "paramdump", "--both", "-C", DATABASE],
        directory,
        environment=home.environment,
    )
    found: dict[str, str] = {}
    for line in said.rpartition("loaded by the server")[2].splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and name.replace("_", "").isalnum():
            found[name] = value.strip('"')
    return found


def _make_folder(directory: ServerDirectory) -> None:
    programs.run([MKDIR.path, "-m", "700", directory.data], directory)


def _create(home: Home, directory: ServerDirectory) -> None:
    programs.run(
        [
            home.program("cubrid"),
            "createdb",
            "--replace",
            "-F",
            directory.data,
            DATABASE,
            LOCALE,
        ],
        directory,
        environment=home.environment,
    )


def _cubrid(home: Home, directory: ServerDirectory, *words: str) -> None:
    """Runs an administrator's command. What it starts lives on: it must not hold our pipe."""
    log = directory.run / "admin.log"
    line = 'log=$1; shift; exec "$@" >"$log" 2>&1'
    try:
        programs.run(
            ["sh", "-c", line, "sh", log, home.program("cubrid"), *words],
            directory,
            environment=home.environment,
        )
    except SystemRefused as error:
        raise SystemRefused(
            f"cubrid {' '.join(words)}: {error.message}\n{programs.last_lines(log)}"
        ) from error


def _why_not_up(home: Home, directory: ServerDirectory) -> str | None:
    """None once the master knows the server."""
    try:
        said = programs.run(
            [home.program("cub_commdb"), "-P"], directory, environment=home.environment
        )
    except SystemRefused as error:
        return error.message
    return None if f"Server {DATABASE}" in said else "the master process does not know it yet"


def _stop_server(home: Home, directory: ServerDirectory, server: ServerProcess) -> None:
    """Ends its sessions and writes a checkpoint; a server that is gone already is none to stop."""
    if server.died() is not None:
        return

    def stop() -> None:
        with contextlib.suppress(AssayError):
            programs.run(
                [home.program("cub_commdb"), "-S", DATABASE],
                directory,
                environment=home.environment,
                timeout_s=_STOP_S,
            )

    # The program waits until the process is gone, which a child is only once its exit status is
    # read.
    with ThreadPoolExecutor(1) as threads:
        stopping = threads.submit(stop)
        while not stopping.done():
            server.died()
            time.sleep(0.02)


def _note_shared_memory(home: Home, directory: ServerDirectory) -> None:
    """Segments outlive a broker that is killed; a start on the same directory makes others."""
    held = ledger.held(identity_of(directory))
    if held is None:
        raise Bug(f"{directory.root} is not in the ledger")
    for resource in held.entry.resources:
        if isinstance(resource, SharedMemory):
            with contextlib.suppress(CannotUndo):
                resource.undo(held.entry.id)
                held.drop(resource)
    uid, _ = programs.owner(directory)
    for key in home.shared_memory_keys:
        held.add(SharedMemory.of_key(key, uid))


def _broker_session(directory: ServerDirectory) -> int:
    for member in process_tags.processes_of(identity_of(directory)):
        fields = stat_fields(member.pid)
        if fields is not None and _name(member.pid) == _BROKER_PROGRAM:
            return int(fields[SESSION])
    raise SystemDied(f"the broker has ended: there is no process {_BROKER_PROGRAM}")


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _stop_broker(home: Home, directory: ServerDirectory) -> None:
    """Also removes its shared memory."""
    with contextlib.suppress(AssayError):
        _cubrid(home, directory, "broker", "stop")


def _refuses(port: int) -> str | None:
    """None where something listens at the port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError as error:
        return f"it does not listen at port {port} yet: {error}"
    return None
