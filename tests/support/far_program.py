"""Runs a program as if on another machine: in a network namespace, over a connection that crosses
the simulated network, and outside the test's process group and session.

``far_program.py NAMESPACE ADDRESS COMMAND…`` begins it and passes on what is written to it and what
it says. Where the network is cut, neither notices.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading


def pass_on(source: int, to: int) -> None:
    while piece := os.read(source, 1 << 16):
        view = memoryview(piece)
        while view:
            view = view[os.write(to, view) :]


def near(namespace: str, *words: str) -> None:
    server = subprocess.Popen(
        ["ip", "netns", "exec", namespace, sys.executable, __file__, "--far", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert server.stdout is not None
    address, _, port = server.stdout.readline().strip().rpartition(":")
    with socket.create_connection((address, int(port))) as connection:

        def said() -> None:
            pass_on(connection.fileno(), 1)
            os._exit(0)

        threading.Thread(target=said, daemon=True).start()
        pass_on(0, connection.fileno())


def far(address: str, *command: str) -> None:
    with socket.create_server((address, 0)) as listener:
        print("{}:{}".format(*listener.getsockname()), flush=True)
        connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for descriptor in (0, 1):
        os.dup2(connection.fileno(), descriptor)
    os.execvp(command[0], command)


if __name__ == "__main__":
    far(*sys.argv[2:]) if sys.argv[1] == "--far" else near(*sys.argv[1:])
