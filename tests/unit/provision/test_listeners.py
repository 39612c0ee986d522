"""The process of a running server is found by its address, where it is on this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from assay.contracts.deployment import Address
from assay.provision.machine.listeners import listener

CHILD = """
import os, socket, sys, time
server = socket.socket(socket.AF_INET)
server.bind(("127.0.0.1", 0))
server.listen()
if os.fork() == 0:
    time.sleep(1000)
print(server.getsockname()[1], flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize(
    ("bound", "asked"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "localhost"),
        ("::", "127.0.0.1"),
        ("::1", "::1"),
    ],
)
def test_a_port_is_found_in_each_form_of_its_address(bound: str, asked: str) -> None:
    family = socket.AF_INET6 if ":" in bound else socket.AF_INET
    try:
        server = socket.create_server((bound, 0), family=family, dualstack_ipv6=bound == "::")
    except (OSError, ValueError) as error:
        pytest.skip(f"this machine cannot listen at {bound}: {error}")
    with server:
        found = listener(Address("any", host=asked, port=server.getsockname()[1]))
    assert (found.pid, found.why_not_seen) == (os.getpid(), "")
    assert found.program == Path("/proc/self/comm").read_text().strip()


def test_a_socket_is_found_by_its_path_and_one_of_that_name_elsewhere_is_not() -> None:
    with socket.socket(socket.AF_UNIX) as server:
        path = f"/tmp/assay-listener-{os.getpid()}"
        server.bind(path)
        try:
            server.listen()
            assert listener(Address("any", unix=path)).pid == os.getpid()
            assert listener(Address("any", unix=f"{path}-other")).pid is None
        finally:
            Path(path).unlink()


def test_of_a_server_with_children_it_is_the_first_process() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            assert listener(Address("any", host="127.0.0.1", port=port)).pid == server.pid
        finally:
            os.killpg(server.pid, 9)


def test_an_address_elsewhere_is_said_to_be_elsewhere() -> None:
    # Of the addresses for documentation (RFC 5737): no machine has it.
    found = listener(Address("any", host="192.0.2.1", port=80))
    assert (found.pid, found.why_not_seen) == (None, "it is not on this machine")
