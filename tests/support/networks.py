"""A network of other machines on this one: a bridge, and namespaces that are connected to it."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from programs import IP, need_program

_FAR_PROGRAM = Path(__file__).with_name("far_program.py")
_numbers = itertools.count()


class Network:
    def __init__(self, name: str, subnet: str, machines: int) -> None:
        self.address = f"{subnet}.1"
        """Of this machine, at the bridge."""
        self._name, self._subnet = name, subnet
        self.namespaces = [f"{name}-{number}" for number in range(1, machines + 1)]

    def link(self, machine: int) -> str:
        """Of that machine, at the bridge."""
        return f"{self._name}v{machine + 1}"

    def inside(self, machine: int, *command: str) -> None:
        run("ip", "netns", "exec", self.namespaces[machine], *command)

    def command(self, machine: int) -> list[str]:
        """The beginning of a command of `LocalFleet`, for a program behind the network."""
        address = f"{self._subnet}.{machine + 2}"
        return [sys.executable, str(_FAR_PROGRAM), self.namespaces[machine], address]

    def cut(self, machine: int) -> None:
        run("ip", "link", "set", self.link(machine), "down")

    def pids(self, machine: int) -> list[int]:
        """The processes that are there."""
        return [int(pid) for pid in run("ip", "netns", "pids", self.namespaces[machine]).split()]


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


@contextmanager
def network(machines: int) -> Iterator[Network]:
    """Skips the test where it cannot be made."""
    need_program(IP)
    if os.geteuid() != 0:
        pytest.skip("needs network namespaces (ip netns, as root)")
    name = f"as{os.getpid() % 100000}n{next(_numbers)}"
    made = Network(name, f"10.213.{os.getpid() % 250}", machines)
    with ExitStack() as stack:

        def make(*command: str, undo: tuple[str, ...]) -> None:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                pytest.skip(f"needs network namespaces: {' '.join(command)}: {done.stderr.strip()}")
            stack.callback(subprocess.run, undo, capture_output=True, check=False)

        make("ip", "link", "add", name, "type", "bridge", undo=("ip", "link", "del", name))
        run("ip", "addr", "add", f"{made.address}/24", "dev", name)
        run("ip", "link", "set", name, "up")
        for number, namespace in enumerate(made.namespaces):
            make("ip", "netns", "add", namespace, undo=("ip", "netns", "del", namespace))
            link = made.link(number)
            make(
                "ip", "link", "add", link, "type", "veth", "peer", "eth0", "netns", namespace,
                undo=("ip", "link", "del", link),
            )  # fmt: skip
            run("ip", "link", "set", link, "master", name, "up")
            within = ("ip", "-n", namespace)
            run(
                *within, "addr", "add", f"10.213.{os.getpid() % 250}.{number + 2}/24", "dev", "eth0"
            )
            run(*within, "link", "set", "eth0", "up")
            run(*within, "link", "set", "lo", "up")
        yield made
