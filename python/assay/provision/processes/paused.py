"""Takes the directory of a private server; keeps all its processes from running for a while."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from assay.contracts.systems.protocol import ServerDirectory
from assay.provision.disk.directory import identity_of
from assay.provision.machine import process_tags
from assay.provision.machine.identity import ProcessIdentity, stat_fields

_TIMEOUT_S = 10.0


@contextlib.contextmanager
def paused(directory: ServerDirectory) -> Iterator[None]:
    """While the block runs, no process of the server runs: its files are those of one instant. A
    server that was paused when we are killed ends with us (`programs.command`)."""
    tag = identity_of(directory)
    stopped: dict[ProcessIdentity, None] = {}
    deadline_s = time.monotonic() + _TIMEOUT_S
    try:
        while True:
            # A server may start a process before the one that starts them has stopped.
            new = [one for one in process_tags.processes_of(tag) if one not in stopped]
            for one in new:
                stopped[one] = None
                one.send(signal.SIGSTOP)
            if not new and all(_has_stopped(one.pid) for one in stopped):
                break
            if time.monotonic() > deadline_s:
                break  # in a call of the kernel that does not end: it writes nothing else
            time.sleep(0.001)
        yield
    finally:
        for one in reversed(stopped):
            one.resume()


def _has_stopped(pid: int) -> bool:
    """All of its threads; a process that has ended counts too."""
    try:
        threads = [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return True
    found = (stat_fields(thread) for thread in threads)
    return all(fields is None or fields[0] in "TtZX" for fields in found)
