"""Makes a database and runs a private server on it until the end of the block: the master process,
the server, and a broker with the processes that execute its sessions' statements.

The server listens at all addresses of the machine, and has no setting for that; it lets in sessions
from this machine alone.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct

from assay.contracts.systems.protocol import ServerDirectory
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, AssayError, Bug, SystemDied, SystemMissing, SystemRefused
from assay.provision import processes
from assay.provision.directory import identity_of
from assay.provision.machine import process_table
from assay.provision.machine.ports import free_ports
from assay.provision.machine.process_table import SESSION, stat_fields
from assay.provision.machine.program import Program
from assay.provision.processes import ServerProcess, server_owner
from assay.provision.undo import ledger
from assay.provision.undo.resources import CannotUndo, SharedMemory
from assay.text.phrases import phrase

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
    home = make_home(installation, directory, settings, connections)
    if is_new:
        _create(home, directory)
    with contextlib.ExitStack() as stack:
        master = stack.enter_context(
            processes.start_server(
                [home.program("cub_master")],
                directory,
                stop=((signal.SIGINT, 10.0), (signal.SIGTERM, 5.0)),
                environment=home.environment,
                log_name="master.log",
            )
        )
        master.wait_ready(lambda: _refuses(home.master_port))
        server = stack.enter_context(
            processes.start_server(
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
    said = processes.run_program(
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
    processes.run_program([MKDIR.path, "-m", "700", directory.data], directory)


def _create(home: Home, directory: ServerDirectory) -> None:
    processes.run_program(
        [home.program("cubrid"), "createdb", "--replace", "-F", directory.data, DATABASE, LOCALE],
        directory,
        environment=home.environment,
    )


def _cubrid(home: Home, directory: ServerDirectory, *words: str) -> None:
    """Runs an administrator's command. What it starts lives on: it must not hold our pipe."""
    log = directory.run / "admin.log"
    line = 'log=$1; shift; exec "$@" >"$log" 2>&1'
    try:
        processes.run_program(
            ["sh", "-c", line, "sh", log, home.program("cubrid"), *words],
            directory,
            environment=home.environment,
        )
    except SystemRefused as error:
        raise SystemRefused(
            f"cubrid {' '.join(words)}: {error.message}\n{processes.last_lines(log)}"
        ) from error


def _why_not_up(home: Home, directory: ServerDirectory) -> str | None:
    """None once the master knows the server."""
    try:
        said = processes.run_program(
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
            processes.run_program(
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
    held = ledger.held_entries(identity_of(directory))
    if held is None:
        raise Bug(f"{directory.root} is not in the ledger")
    for resource in held.entry.resources:
        if isinstance(resource, SharedMemory):
            with contextlib.suppress(CannotUndo):
                resource.undo(held.entry.id)
                held.drop(resource)
    uid, _ = processes.server_owner(directory)
    for key in home.shared_memory_keys:
        held.add(SharedMemory.of_key(key, uid))


def _broker_session(directory: ServerDirectory) -> int:
    for member in process_table.tagged_processes(identity_of(directory)):
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


USER = "dba"
DATABASE = "assay"
BROKER = "assay"
_ALLOWED, _ADDRESSES, _USERS = "allowed_servers.txt", "addresses.txt", "allowed_users.txt"
_SHARED = ("bin", "lib", "cci", "share", "msg", "locales", "timezones", "include", "java")
_OWN = ("conf", "log", "log/broker", "log/server", "tmp", "var", "var/CUBRID_SOCK")

_FIRST_PROCESSES = 8

_DEFAULTS: Mapping[str, str] = {
    # Volumes grow by themselves; by default each begins with half a gigabyte.
    "db_volume_size": "64M",
    "log_volume_size": "64M",
}


class Home(Struct, frozen=True):
    """A private server's home, and the ports of its parts."""

    folder: Path
    data: Path
    master_port: int
    broker_port: int

    @property
    def shared_memory_keys(self) -> tuple[int, ...]:
        """Of the broker: it reads the digits of its configuration as hexadecimal ones."""
        return int(str(self.master_port), 16), int(str(self.broker_port), 16)

    @property
    def environment(self) -> Mapping[str, str]:
        """For every program of the server."""
        libraries = [self.folder / "lib", self.folder / "cci" / "lib"]
        return {
            "CUBRID": str(self.folder),
            "CUBRID_DATABASES": str(self.data),
            "CUBRID_TMP": str(self.folder / "var" / "CUBRID_SOCK"),
            "CUBRID_MSG_LANG": "en_US",
            "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
            # The master is our child and not a daemon.
            "CUBRID_NO_DAEMON": "true",
        }

    def program(self, name: str) -> Path:
        return self.folder / "bin" / name


def make_home(
    installation: Installation,
    directory: ServerDirectory,
    settings: Mapping[str, str],
    connections: int,
) -> Home:
    """Writes the configuration anew: ports differ from start to start."""
    folder = directory.run / "cubrid"
    uid, gid = server_owner(directory)
    for path in (folder, *(folder / name for name in _OWN)):
        path.mkdir(mode=0o700, exist_ok=True)
        os.chown(path, uid, gid)
    for name in _SHARED:
        target = installation.folder / name
        if target.is_dir() and not (folder / name).is_symlink():
            (folder / name).symlink_to(target)
    home = Home(folder, directory.data, *free_ports(2))
    server = {
        **_DEFAULTS,
        _java_setting(installation): "no",
        "access_ip_control": "yes",
        "access_ip_control_file": str(folder / "conf" / _ALLOWED),
        "max_clients": str(connections),
        **settings,
        "cubrid_port_id": str(home.master_port),
    }
    lines = ["[service]", "service=server,broker", "", "[common]"]
    lines += [f"{name}={value}" for name, value in server.items()]
    _write(folder / "conf" / "cubrid.conf", lines, uid, gid)
    _write(folder / "conf" / "cubrid_broker.conf", _broker(home, connections), uid, gid)
    # Both of them listen at all addresses; they let in this machine alone.
    this_machine = ["127.0.0.1"]
    _write(folder / "conf" / _ALLOWED, [f"[@{DATABASE}]", *this_machine], uid, gid)
    _write(folder / "conf" / _ADDRESSES, this_machine, uid, gid)
    users = [f"[%{BROKER}]", f"{DATABASE}:{USER}:{_ADDRESSES}"]
    _write(folder / "conf" / _USERS, users, uid, gid)
    return home


def _java_setting(installation: Installation) -> str:
    """What turns off the procedures in Java, which would need a JVM: versions know it by one of two
    names, and refuse to start with the other."""
    library = installation.folder / "lib" / "libcubrid.so"
    words = library.read_bytes() if library.is_file() else b""
    new = "stored_procedure"
    return new if f"\0{new}\0".encode() in words else f"java_{new}"


def _broker(home: Home, connections: int) -> list[str]:
    """Each session has a process of its own; some are there from the beginning, more are started
    for more sessions, and none ends by itself. The keys of shared memory are the ports, which are
    not in use."""
    return [
        "[broker]",
        f"MASTER_SHM_ID={home.master_port}",
        "ADMIN_LOG_FILE=log/broker/cubrid_broker.log",
        "ACCESS_CONTROL=ON",
        f"ACCESS_CONTROL_FILE=conf/{_USERS}",
        "",
        f"[%{BROKER}]",
        "SERVICE=ON",
        "SSL=OFF",
        f"BROKER_PORT={home.broker_port}",
        f"MIN_NUM_APPL_SERVER={min(connections, _FIRST_PROCESSES)}",
        f"MAX_NUM_APPL_SERVER={connections}",
        f"APPL_SERVER_SHM_ID={home.broker_port}",
        "LOG_DIR=log/broker/sql_log",
        "ERROR_LOG_DIR=log/broker/error_log",
        "SQL_LOG=OFF",
        "SLOW_LOG=OFF",
        "TIME_TO_KILL=86400",
        "SESSION_TIMEOUT=86400",
        "KEEP_CONNECTION=ON",
        "CCI_DEFAULT_AUTOCOMMIT=ON",
    ]


def _write(path: Path, lines: list[str], uid: int, gid: int) -> None:
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    os.chown(path, uid, gid)


HOME = EnvVar("CUBRID", "The folder of CUBRID's programs, with bin and lib in it.")

MODULE = "pycubrid"

PROGRAMS = tuple(
    Program(name, None)
    for name in ("cubrid", "cub_master", "cub_server", "cub_admin", "cub_broker", "cub_cas")
)


class Installation(Struct, frozen=True):
    """The server's programs, which belong together."""

    folder: Path

    def program(self, name: str) -> Path:
        return self.folder / "bin" / name


def find_server(programs: str = "") -> Installation:
    """In the folder ``programs``, or the one that the environment names. Raises
    `SystemMissing`."""
    chosen = programs or HOME.get()
    if chosen is None:
        raise SystemMissing(
            f"the environment variable {HOME.name} names no folder of CUBRID's programs",
            hint=phrase(
                "unpack CUBRID and set {} to its folder; or reach a server by its URL: {--on "
                "cubrid://USER@HOST:PORT/DATABASE}",
                HOME.name,
            ),
        )
    folder = Path(chosen).absolute()
    missing = [one.name for one in PROGRAMS if not os.access(folder / "bin" / one.name, os.X_OK)]
    if missing:
        raise SystemMissing(
            f"{HOME.name}: there is no program {missing[0]} in {folder / 'bin'}",
            hint=f"set {HOME.name} to the folder that has bin, lib and conf in it",
        )
    return Installation(folder)


def insist_on_the_driver() -> None:
    """Raises `SystemMissing` where Python does not have CUBRID's driver."""
    if importlib.util.find_spec(MODULE) is None:
        raise SystemMissing(
            f"CUBRID is reached through the Python module {MODULE}, which is not installed",
            hint=f"install it into the environment that Assay runs in: pip install {MODULE}",
        )
