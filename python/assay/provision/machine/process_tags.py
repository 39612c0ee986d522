"""Finds and kills every process of a private server, also those that left its process group.

Each server is started with a mark in its environment, which its children inherit. A process group
would not do: some servers put each of their processes into a session of its own. Servers that
overwrite their environment with a title are still found as descendants of one that is marked.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

from assay.provision.machine.identity import ProcessIdentity, stat_fields

TAG_VARIABLE = "ASSAY_SERVER_ID"
_MOST_AT_ONCE = 1 << 16


def pids() -> Iterator[int]:
    """Every visible process except this one."""
    own = os.getpid()
    for name in os.listdir("/proc"):  # noqa: PTH208  (numbers, no paths)
        if name.isdigit() and int(name) != own:
            yield int(name)


def processes_of(tag: str, leader: ProcessIdentity | None = None) -> list[ProcessIdentity]:
    """The running processes with the tag, the leader if it still runs, and their descendants."""
    variable = f"{TAG_VARIABLE}={tag}".encode()
    parents: dict[int, int] = {}
    found: set[int] = set()
    for pid in pids():
        fields = stat_fields(pid)
        if fields is None or fields[0] in "ZX":
            continue
        parents[pid] = int(fields[1])
        environment = _environment(pid)
        if variable in environment and variable in environment.split(b"\0"):
            found.add(pid)
    if leader is not None and leader.is_alive():
        found.add(leader.pid)
    size = -1
    while size != len(found):
        size = len(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    found.discard(os.getpid())
    identities = (ProcessIdentity.of(pid) for pid in found)
    return [identity for identity in identities if identity is not None]


def _environment(pid: int) -> bytes:
    """Empty where it is another user's, or gone. Without a file object and its path, which cost
    more than what the kernel does: all processes of the machine are looked at for each server."""
    try:
        descriptor = os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    environment = b""
    try:
        while part := os.read(descriptor, _MOST_AT_ONCE):
            environment += part
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return environment


def kill(tag: str, leader: ProcessIdentity | None = None, *, timeout_s: float = 20.0) -> int:
    """Kills all of them and waits until they are gone; returns how many there were.

    Children that a server makes while it is being killed are met in the next round.
    """
    killed: set[ProcessIdentity] = set()
    deadline = time.monotonic() + timeout_s
    while living := processes_of(tag, leader):
        for identity in living:
            identity.send(signal.SIGKILL)
            killed.add(identity)
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    return len(killed)
