"""Finds a TCP port of this machine on which nothing listens."""

from __future__ import annotations

import socket


def free_port(host: str = "127.0.0.1") -> int:
    """A port that was free an instant ago. The kernel hands them out in turn, so that two callers
    seldom get the same one; a server that finds it taken says so in its log, and may be tried again
    with another."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind((host, 0))
        port: int = listener.getsockname()[1]
        return port
