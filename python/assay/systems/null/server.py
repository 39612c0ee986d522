"""Runs a null server as our child until the end of the block: the command ``assay serve null``;
and its options, those that it has in this process and by URL too."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from assay import _engine
from assay.contracts.deployment import Address
from assay.contracts.systems.protocol import OptionSpec, ServerDirectory
from assay.errors import ArgumentError, SystemRefused
from assay.provision.engine.engine_calls import session
from assay.provision.machine.ports import is_loopback
from assay.provision.processes import ServerProcess, own_program
from assay.systems.options import TRANSPORT
from assay.text.quantities import ROWS_ANSWERED, SEED, SESSIONS_TAKEN

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
            hint="start one on another machine (assay serve null --host), and name its URL",
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
    program = own_program(["serve", "null", *words], directory, f"{name}.log", ArgumentError)
    with program as (server, listens_at):
        if transport == "socket":
            address = Address(driver=protocol, unix=str(socket), user="assay", database="assay")
        else:
            host, _, port = listens_at.rpartition(":")
            address = Address(
                driver=protocol, host=host, port=int(port), user="assay", database="assay"
            )
        yield RunningServer(server, address)


def _by_the_engine(name: str) -> Callable[[str], None]:
    """Refuses what the engine, which knows the forms, does not understand."""

    def refuse(value: str) -> None:
        try:
            with session(Address(driver="null", options={name: value, "deployment": "check"})):
                pass
        except SystemRefused as error:
            raise ArgumentError(error.message.removeprefix("opening a session: ")) from error

    return refuse


ENGINE_OPTIONS: Final[tuple[OptionSpec, ...]] = (
    OptionSpec(
        "delay",
        "",
        (),
        "Time that each statement takes: constant:1ms, uniform:1ms..3ms, exponential:1ms (mean), "
        "lognormal:1ms,0.5 (median, deviation of the logarithm).",
        refuse=_by_the_engine("delay"),
    ),
    OptionSpec(
        "stall",
        "",
        (),
        "When it stops answering: 1.4s@5s (the whole system, from 5 s on), 1.4s@#1000 (each "
        "session's statement of that number), 1.4s@0.01 (a share of the statements).",
        refuse=_by_the_engine("stall"),
    ),
    OptionSpec(
        "fail",
        "",
        (),
        "Errors to return: deadlock@#10, timeout@0.01; separate several with commas.",
        refuse=_by_the_engine("fail"),
    ),
    OptionSpec(
        "unknown",
        "",
        (),
        "Errors after which it is unknown whether the statement took effect: timeout@#10.",
        refuse=_by_the_engine("unknown"),
    ),
    OptionSpec(
        "lose", "", (), "When a session is lost: #100, 0.001 or 5s.", refuse=_by_the_engine("lose")
    ),
    OptionSpec("rows", "0", (), "Rows returned by each SELECT.", ROWS_ANSWERED),
    OptionSpec(
        "refuse_after", "", (), "Most sessions at a time; more are refused.", SESSIONS_TAKEN
    ),
    OptionSpec("seed", "1", (), "Seed of its random choices.", SEED),
)
"""Passed to the engine, which checks and documents them in ``crates/drivers/src/null``."""

IN_PROCESS: Final = "none"

PROTOCOL: Final = OptionSpec(
    "protocol",
    IN_PROCESS,
    (IN_PROCESS, *_engine.null_protocols()),
    "The protocol that it speaks as a server, a process of its own; none: it lives in this one.",
)

REACHED_BY: Final = replace(
    TRANSPORT, help="How clients reach it behind a protocol: its Unix socket, or 127.0.0.1."
)

OPTIONS: Final = (*ENGINE_OPTIONS, PROTOCOL, REACHED_BY)
