"""Returns free TCP ports of this machine, and its address at which servers listen."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import ExitStack

from assay import env_vars
from assay.contracts.systems.protocol import LOOPBACK
from assay.errors import ArgumentError


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
    """Different ones: the kernel assigns them by chance, so all are held until the last is had."""
    with ExitStack() as held:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listeners = [held.enter_context(socket.socket(family)) for _ in range(count)]
        for listener in listeners:
            listener.bind((host, 0))
        return [listener.getsockname()[1] for listener in listeners]
