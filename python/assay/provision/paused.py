"""Takes the directory of a private server; keeps all its processes from running for a while."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator

from assay.provision import process_tags
from assay.provision.directory import identity_of
from assay.provision.identity import stat_fields
from assay.systems.protocol import ServerDirectory

_PATIENCE_S = 10.0


@contextlib.contextmanager
def paused(directory: ServerDirectory) -> Iterator[None]:
    """While the block runs, no process of the server runs: its files are those of one instant. A
    server that was paused when we are killed ends with us (`programs.command`)."""
    family = process_tags.processes_of(identity_of(directory))
    try:
        for member in family:
            member.send(signal.SIGSTOP)
        deadline_s = time.monotonic() + _PATIENCE_S
        while not all(_has_stopped(member.pid) for member in family):
            if time.monotonic() > deadline_s:
                break  # in a call of the kernel that does not end: it writes nothing else
            time.sleep(0.001)
        yield
    finally:
        for member in reversed(family):
            member.resume()


def _has_stopped(pid: int) -> bool:
    """A process that has ended counts too."""
    fields = stat_fields(pid)
    return fields is None or fields[0] in "TtZX"
