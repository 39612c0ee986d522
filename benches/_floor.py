"""The floor of `client_cost`: a C program with the fewest system calls, compiled on first use."""

from __future__ import annotations

import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from assay.contracts.deployment import Address
from benches._client_peers import SCALE, Work

SOURCE = Path(__file__).parent / "floor" / "floor.c"
COUNTS = re.compile(r"transactions: (\d+)")
SECONDS = re.compile(r"seconds: ([\d.]+)")
"""From when all sessions were open to when the last transaction ended."""


@cache
def program() -> Path:
    """The compiled program, kept until this process ends."""
    folder = tempfile.TemporaryDirectory(prefix="assay-floor-")
    _folders.append(folder)
    compiled = Path(folder.name) / "floor"
    subprocess.run(["cc", "-O2", "-pthread", str(SOURCE), "-o", str(compiled)], check=True)
    return compiled


_folders: list[tempfile.TemporaryDirectory[str]] = []
"""Removed when the process ends."""


def command(
    address: Address, work: Work, clients: int, threads: int, stop: tuple[str, int]
) -> tuple[list[str], re.Pattern[str]]:
    """The command of one run, and where its output says how many transactions it did; ``stop`` is a
    number of ``seconds`` or of ``transactions`` of each client."""
    if work.floor is None:
        raise ValueError(f"{work.name} has no floor")
    socket = Path(address.unix or "")
    port = socket.name.rpartition(".")[2]
    server = [str(socket.parent), port, address.user, address.database]
    size = [str(SCALE), str(clients), str(threads)]
    return [str(program()), *server, work.floor, *size, *map(str, stop)], COUNTS
