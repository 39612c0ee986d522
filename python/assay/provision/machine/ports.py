"""Returns free TCP ports of this machine."""

from __future__ import annotations

import socket
from contextlib import ExitStack


def free_port(host: str = "127.0.0.1") -> int:
    """A port that was free an instant ago. A server whose port is taken reports it in its log and
    can be started with another."""
    return free_ports(1, host)[0]


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Different ones: the kernel assigns them by chance, so all are held until the last is had."""
    with ExitStack() as held:
        listeners = [held.enter_context(socket.socket()) for _ in range(count)]
        for listener in listeners:
            listener.bind((host, 0))
        return [listener.getsockname()[1] for listener in listeners]
