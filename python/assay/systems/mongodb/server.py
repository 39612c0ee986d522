"""Runs a private `mongod` on its data directory until the end of the block."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import SystemDied, SystemRefused
from assay.provision.processes import process
from assay.provision.processes.process import ServerProcess
from assay.systems.mongodb import configuration


class RunningServer(Struct, frozen=True):
    process: ServerProcess
    socket: Path
    """It asks for no password: only the servers' user and we can enter its directory."""


@contextlib.contextmanager
def running(
    program: Path, directory: ServerDirectory, settings: Mapping[str, str]
) -> Iterator[RunningServer]:
    """Raises `SystemRefused` in the server's own words where it does not start, `SystemDied` where
    it hangs."""
    if not directory.data.exists():
        owner = directory.root.stat()
        directory.data.mkdir(mode=0o700)
        os.chown(directory.data, owner.st_uid, owner.st_gid)
    listens = directory.run / "mongod.sock"
    listens.unlink(missing_ok=True)
    file = directory.run / "mongod.conf"
    file.write_text(configuration.text(directory.data, listens, settings), encoding="utf-8")
    file.chmod(0o644)  # its directory is closed to all but the server's user and us
    with process.start([program, "--config", file], directory) as server:
        try:
            server.wait_ready(functools.partial(_why_not_ready, listens))
        except SystemDied as error:
            if server.died() is None:
                raise
            raise SystemRefused(f"the server does not start: {error.message}") from error
        yield RunningServer(server, listens)


def _why_not_ready(listens: Path) -> str | None:
    """None when it accepts connections."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(listens))
        except OSError as error:
            return f"it does not accept connections: {error}"
    return None
