"""Returns a free TCP port of this machine."""

from __future__ import annotations

import socket


def free_port(host: str = "127.0.0.1") -> int:
    """A port that was free an instant ago. The kernel assigns them in turn, so two callers seldom
    get the same; a server whose port is taken reports it in its log and can be started with
    another."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind((host, 0))
        port: int = listener.getsockname()[1]
        return port
