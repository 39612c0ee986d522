"""Runs a null server as our child until the end of the block: the command ``assay null-server``."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator, Mapping

from msgspec import Struct

from assay.contracts.deployment import Address
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import ArgumentError
from assay.provision.machine.ports import is_loopback
from assay.provision.processes.own_program import own_program
from assay.provision.processes.process import ServerProcess

_OTHER_FILES = 100
"""Files that our process and the server's have open beside their sessions, and some room."""


class RunningServer(Struct, frozen=True):
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


def refuse_address(transport: str, address: str) -> None:
    """Raises `ArgumentError` where other machines would reach it."""
    if transport != "socket" and not is_loopback(address):
        raise ArgumentError(
            f"a null server asks for no password, and does not listen at {address}",
            hint="start one on another machine (assay null-server --host), and name its URL",
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

    Raises `ArgumentError` in its own words where an option is wrong.
    """
    refuse_address(transport, directory.address)
    socket = directory.run / f"{name}.sock"
    words = ["--protocol", protocol]
    words += ["--unix", str(socket)] if transport == "socket" else ["--port", "0"]
    for option, value in {"rows": "0", **given}.items():
        words += [f"--{option.replace('_', '-')}", value]
    program = own_program(["null-server", *words], directory, f"{name}.log", ArgumentError)
    with program as (server, listens_at):
        if transport == "socket":
            address = Address(driver=protocol, unix=str(socket), user="assay", database="assay")
        else:
            host, _, port = listens_at.rpartition(":")
            address = Address(
                driver=protocol, host=host, port=int(port), user="assay", database="assay"
            )
        yield RunningServer(server, address)
