"""Returns free TCP ports of this machine and its address at which servers listen; takes the
address of a server on this machine, returns the process that listens there."""

from __future__ import annotations

import errno
import ipaddress
import os
import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from msgspec import Struct

from assay import env_vars
from assay.contracts.deployment import Deployment
from assay.contracts.engine import SessionAddress
from assay.contracts.systems.protocol import LOOPBACK
from assay.errors import ArgumentError
from assay.provision.machine.process_table import stat_fields
from assay.text import pattern

_NET = Path("/proc/net")
_PORTS_OF_CLIENTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
_FIRST_PORT, _TRIES = 10_000, 1000  # below it many programs have a port of their own
_LISTENING_TCP = "0A"
_ACCEPTS_CONNECTIONS = 0x10000
"""Of the flags in ``/proc/net/unix``."""
_SOCKET = pattern(r"socket:\[(\d+)\]")
_PARENT = 1


class Listener(Struct, frozen=True):
    """The process that listens at an address."""

    pid: int | None
    """The first of them, where several share the socket; None: not seen."""
    program: str = ""
    """Its name."""
    why_not_seen: str = ""


def with_listeners(deployment: Deployment) -> Deployment:
    """The deployment of a server that Assay did not start, with the processes that listen at its
    endpoints, as far as they can be seen from here."""
    if len(deployment.nodes) != len(deployment.endpoints):
        return deployment
    nodes = []
    for node, endpoint in zip(deployment.nodes, deployment.endpoints, strict=True):
        found = listener(endpoint)
        nodes.append(
            replace(
                node,
                seen_pid=found.pid,
                seen_program=found.program,
                why_not_seen=found.why_not_seen,
            )
        )
    return replace(deployment, nodes=tuple(nodes))


def listener(address: SessionAddress) -> Listener:
    """Who listens at the address."""
    sockets = set(_unix(address.unix) if address.unix is not None else _tcp(address))
    if not sockets:
        return Listener(None, why_not_seen="it is not on this machine")
    holders, hidden = _holders(sockets)
    if holders:
        first = _first(holders)
        return Listener(first, _program(first))
    why = "its process is not seen here: is it in another container?"
    if hidden:
        why = "its processes are another user's: run assay as root to see what they use"
    return Listener(None, why_not_seen=why)


def _unix(path: str) -> Iterator[str]:
    """``Num RefCount Protocol Flags Type St Inode Path``."""
    wanted = str(Path(path).resolve())
    for line in _lines("unix"):
        words = line.split(maxsplit=7)
        if len(words) == 8 and int(words[3], 16) & _ACCEPTS_CONNECTIONS:
            found = words[7]
            if found in (path, wanted) or str(Path(found).resolve()) == wanted:
                yield words[6]


def _tcp(address: SessionAddress) -> Iterator[str]:
    """``sl local_address rem_address st … inode``; addresses are in the order of this machine's
    bytes, by 32 bits."""
    if address.host is None or address.port is None:
        return
    wanted = _places(address.host_address or address.host, address.port)
    if not wanted & _of_this_machine(wanted):
        return
    for table in ("tcp", "tcp6"):
        for line in _lines(table):
            words = line.split()
            host, _, port = words[1].partition(":")
            if words[3] != _LISTENING_TCP or int(port, 16) != address.port:
                continue
            place = _plain(_address(host))
            if place.is_unspecified or place in wanted:
                yield words[9]


_Place = ipaddress.IPv4Address | ipaddress.IPv6Address


def _places(host: str, port: int) -> set[_Place]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return set()
    return {_plain(ipaddress.ip_address(str(one[4][0]).partition("%")[0])) for one in found}


def _of_this_machine(places: set[_Place]) -> set[_Place]:
    """Those at which a socket can be bound."""
    return {place for place in places if _is_ours(place)}


def _is_ours(place: _Place) -> bool:
    family = socket.AF_INET if place.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(place), 0))
    except OSError:
        return False
    return True


def _address(digits: str) -> _Place:
    words = [bytes.fromhex(digits[at : at + 8])[::-1] for at in range(0, len(digits), 8)]
    return ipaddress.ip_address(b"".join(words))


def _plain(place: _Place) -> _Place:
    """``::ffff:10.0.0.1`` is 10.0.0.1."""
    mapped = place.ipv4_mapped if isinstance(place, ipaddress.IPv6Address) else None
    return mapped or place


def _lines(table: str) -> list[str]:
    try:
        return (_NET / table).read_text(errors="replace").splitlines()[1:]
    except OSError:
        return []


def _holders(sockets: set[str]) -> tuple[list[int], bool]:
    """The processes that have one of the sockets open; whether there are some whose files we may
    not see."""
    found, hidden = [], False
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            files = os.listdir(process / "fd")  # noqa: PTH208  (many, and only their names)
        except PermissionError:
            hidden = True
            continue
        except OSError:
            continue
        if any(_socket(process / "fd" / file) in sockets for file in files):
            found.append(int(process.name))
    return found, hidden


def _socket(file: Path) -> str | None:
    try:
        found = _SOCKET.fullmatch(os.readlink(file))  # noqa: PTH115
    except OSError:
        return None
    return found[1] if found else None


def _first(holders: list[int]) -> int:
    """The one whose parent is none of them: the others are its children."""
    for pid in sorted(holders):
        fields = stat_fields(pid)
        if fields is not None and int(fields[_PARENT]) not in holders:
            return pid
    return holders[0]


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def server_address() -> str:
    """Raises `ArgumentError` where the one that was asked for is none of this machine."""
    address = env_vars.SERVER_ADDRESS.get() or LOOPBACK
    try:
        # Clients connect to it as it is written: a name, 0.0.0.0 or :: is none.
        if not ipaddress.ip_address(address).is_unspecified:
            free_port(address)
            return address
    except (OSError, ValueError):
        pass
    raise ArgumentError(
        f"{env_vars.SERVER_ADDRESS.name}: expected an IP address of this machine, found {address}",
        hint="ip addr lists them; one of a link alone (fe80::) cannot be used",
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refuse_beyond_loopback(label: str, address: str) -> None:
    """Of a server that listens on this machine alone. Raises `ArgumentError`."""
    if not is_loopback(address):
        raise ArgumentError(
            f"{label}: the server that Assay starts listens on loopback alone, not at {address}",
            hint=f"name a running server by its URL, or unset {env_vars.SERVER_ADDRESS.name}",
        )


def free_port(host: str = LOOPBACK) -> int:
    """A port that was free an instant ago. A server whose port is taken reports it in its log and
    can be started with another."""
    return free_ports(1, host)[0]


def free_ports(count: int, host: str = LOOPBACK) -> list[int]:
    """Different ones, none that the kernel gives to a client: it could take the port before the
    server does. Raises `OSError`."""
    end = max(int(_PORTS_OF_CLIENTS.read_text().split()[0]), _FIRST_PORT + 1)
    with ExitStack() as held:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listeners = [held.enter_context(socket.socket(family)) for _ in range(count)]
        for listener in listeners:
            drawn = (random.randrange(_FIRST_PORT, end) for _ in range(_TRIES))
            if not any(_is_bound(listener, host, port) for port in drawn):
                listener.bind((host, 0))  # the kernel assigns one
        return [listener.getsockname()[1] for listener in listeners]


def _is_bound(listener: socket.socket, host: str, port: int) -> bool:
    """Whether the port was free."""
    try:
        listener.bind((host, port))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True
