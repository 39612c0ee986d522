"""Runs a null server as our child until the end of the block: the command ``assay null-server``."""

from __future__ import annotations

import contextlib
import resource
import signal
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.errors import ArgumentError, SystemDied
from assay.provision import process, programs
from assay.provision.deployment import Address
from assay.provision.process import ServerProcess
from assay.systems.protocol import ServerDirectory

_PROGRAM = "from assay.cli import main; main()"
_REFUSAL = "error: "
_OTHER_FILES = 100
"""Files that our process and the server's have open beside their sessions, and some room."""


@dataclass(frozen=True)
class RunningServer:
    process: ServerProcess
    address: Address


def check_open_files(connections: int | None) -> None:
    """Raises `ArgumentError` where neither we nor the server may have so many sessions open."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if connections is not None and most not in (resource.RLIM_INFINITY, -1):
        needed = connections + _OTHER_FILES
        if needed > most:
            raise ArgumentError(
                f"{connections} sessions need {needed} open files, this process may have {most}",
                hint=f"raise the hard limit first: ulimit -Hn {needed} (as root)",
            )


@contextlib.contextmanager
def running(
    protocol: str,
    given: Mapping[str, str],
    transport: str,
    directory: ServerDirectory,
    *,
    name: str = "null",
) -> Iterator[RunningServer]:
    """Starts the server with these options and stops it at the end. ``name`` is that of its
    socket and its log: a directory may hold several servers.

    It runs as we do: it is our own program, which another user may not be able to read. Raises
    `ArgumentError` in its own words where an option is wrong.
    """
    socket = directory.run / f"{name}.sock"
    words = ["--protocol", protocol]
    words += ["--unix", str(socket)] if transport == "socket" else ["--port", "0"]
    for option, value in {"rows": "0", **given}.items():
        words += [f"--{option.replace('_', '-')}", value]
    with process.start(
        [sys.executable, "-P", "-c", _PROGRAM, "null-server", *words],
        directory,
        stop=((signal.SIGTERM, 10.0),),
        as_ourselves=True,
        log_name=f"{name}.log",
    ) as server:

        def listens_at() -> str:
            """Its first line, once it is whole; a server that refuses to start begins otherwise."""
            line, end, _ = server.log.read_text(encoding="utf-8").partition("\n")
            return line if end and not line.startswith(_REFUSAL) else ""

        try:
            server.wait_ready(lambda: None if listens_at() else "it has not reported its address")
        except SystemDied as error:
            first, _, _ = programs.last_lines(server.log).partition("\n")
            raise ArgumentError(first.removeprefix(_REFUSAL) or error.message) from error
        if transport == "socket":
            address = Address(driver=protocol, unix=str(socket), user="assay", database="assay")
        else:
            host, _, port = listens_at().rpartition(":")
            address = Address(
                driver=protocol, host=host, port=int(port), user="assay", database="assay"
            )
        yield RunningServer(server, address)
