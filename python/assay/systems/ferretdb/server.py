"""Runs a private FerretDB until the end of the block: PostgreSQL with DocumentDB, and FerretDB in
front of it.

FerretDB is started last and stopped first, so that no client meets one without the other. It
connects to PostgreSQL's socket, which only the servers' user and we can reach, without a password.
"""

from __future__ import annotations

import contextlib
import functools
import signal
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from assay.contracts.deployment import Address, host_and_port
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import ArgumentError, SystemDied
from assay.provision import processes
from assay.provision.engine.engine_calls import session
from assay.provision.machine.ports import free_port
from assay.provision.processes import ListeningServer, ServerProcess
from assay.systems.ferretdb.installation import FerretdbPrograms
from assay.systems.postgresql import server as postgresql
from assay.text.phrases import phrase

USER = postgresql.USER
DATABASE = "assay"

STOP = ((signal.SIGTERM, 30.0),)
"""FerretDB ends its sessions and those with PostgreSQL."""

_OF_DOCUMENTDB = {
    "shared_preload_libraries": "pg_cron,pg_documentdb_core,pg_documentdb",
    "cron.database_name": postgresql.DATABASE,
}
CONNECTIONS_OF_ITS_OWN = ("cron.host", "documentdb.localhost_connection_string")
"""By which DocumentDB's own jobs reach the server that they run in; `localhost` by default, which
would ask for a password."""
_SET_BY_ASSAY = frozenset({*postgresql.SET_BY_ASSAY, *_OF_DOCUMENTDB, *CONNECTIONS_OF_ITS_OWN})

LOG_LEVEL = "WARN"
"""By default it writes a line for every command: hundreds of megabytes in a long run."""

_PORT_TRIES = 3
_PORT_IS_TAKEN = "address already in use"
_PROBE_S = 1.0


class RunningServer(Struct, frozen=True):
    process: ServerProcess
    behind: ListeningServer
    """PostgreSQL."""
    socket: Path | None
    port: int | None
    """FerretDB listens at a socket without a password, or at a port of ``host`` with one."""
    host: str

    @property
    def address_behind(self) -> Address:
        return Address(
            driver="postgresql",
            unix=str(self.behind.socket),
            user=USER,
            database=postgresql.DATABASE,
        )


def check_settings(settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that Assay chooses."""
    if set_here := [name for name in settings if name.lower() in _SET_BY_ASSAY]:
        raise ArgumentError(
            f"the setting {set_here[0]} of a private server is set by Assay",
            hint=phrase(
                "reach a server of your own by its URL: {--on ferretdb://USER@HOST:PORT/DATABASE}"
            ),
        )


@contextlib.contextmanager
def running(
    programs: FerretdbPrograms,
    directory: ServerDirectory,
    settings: Mapping[str, str],
    password: str,
    *,
    over_tcp: bool,
    connections: int,
) -> Iterator[RunningServer]:
    """Starts both on PostgreSQL's data directory, with ``settings`` of PostgreSQL; FerretDB opens
    at most ``connections`` sessions with it.

    Raises `SystemRefused` in PostgreSQL's own words where it does not start, `SystemDied` where one
    of them hangs or ends.
    """
    given = {
        **settings,
        **_OF_DOCUMENTDB,
        # Paths that Assay makes hold letters, digits and slashes alone.
        "cron.host": str(directory.run),
        "documentdb.localhost_connection_string": f"host={directory.run}",
    }
    with postgresql.running(programs.postgresql, directory, given, password) as behind:
        with session(
            Address(
                driver="postgresql",
                unix=str(behind.socket),
                user=USER,
                database=postgresql.DATABASE,
            )
        ) as opened:
            opened.execute("CREATE EXTENSION IF NOT EXISTS documentdb CASCADE")
            if over_tcp:
                opened.execute(f"ALTER ROLE {USER} PASSWORD '{password}'")
        with _front(programs, directory, behind, over_tcp, connections) as running:
            yield running


@contextlib.contextmanager
def _front(
    installed: FerretdbPrograms,
    directory: ServerDirectory,
    behind: ListeningServer,
    over_tcp: bool,
    connections: int,
) -> Iterator[RunningServer]:
    own = directory.run / "ferretdb.sock"
    with contextlib.ExitStack() as stack:
        for tries_left in reversed(range(_PORT_TRIES)):
            host = directory.address
            port = free_port(host) if over_tcp else None
            own.unlink(missing_ok=True)
            ferretdb = stack.enter_context(
                processes.start_server(
                    _arguments(installed, own, host, port),
                    directory,
                    stop=STOP,
                    # A URL of PostgreSQL would else stand in the list of processes.
                    environment={
                        "FERRETDB_POSTGRESQL_URL": _url(directory, behind.port, connections),
                        "DO_NOT_TRACK": "1",
                    },
                    log_name=f"ferretdb-{port or 'socket'}.log",
                )
            )
            try:
                ferretdb.wait_ready(functools.partial(_why_not_ready, own, host, port))
                break
            except SystemDied:
                taken = _PORT_IS_TAKEN in processes.last_lines(ferretdb.log)
                if ferretdb.died() is None or not taken or tries_left == 0:
                    raise
                stack.close()
        yield RunningServer(ferretdb, behind, None if port else own, port, host)


def _arguments(
    programs: FerretdbPrograms, own: Path, host: str, port: int | None
) -> list[str | Path]:
    where = (
        ["--listen-addr=", f"--listen-unix={own}", "--no-auth"]
        if port is None
        else [f"--listen-addr={host_and_port(host, port)}", "--listen-unix=", "--auth"]
    )
    quiet = ["--debug-addr=", "--state-dir=.", "--telemetry=disable", f"--log-level={LOG_LEVEL}"]
    return [programs.ferretdb, *where, *quiet]


def _url(directory: ServerDirectory, port: int | None, connections: int) -> str:
    host = quote(str(directory.run), safe="")
    return (
        f"postgres://{USER}@/{postgresql.DATABASE}?host={host}&port={port}"
        f"&pool_max_conns={connections}"
    )


def _why_not_ready(own: Path, host: str, port: int | None) -> str | None:
    """None when it accepts connections."""
    try:
        if port is not None:
            socket.create_connection((host, port), timeout=_PROBE_S).close()
            return None
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(_PROBE_S)
            probe.connect(str(own))
    except OSError as error:
        return f"it does not accept connections: {error}"
    return None
