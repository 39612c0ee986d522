"""Takes a process number; returns an identity that stays unique, the process with all its
descendants, and the processes that carry the tag of a private server."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

_WHOLE_BYTES = 1 << 16


def stat_fields(pid: int) -> list[str] | None:
    """The fields of ``/proc/PID/stat`` from the third (state) on; None if there is no such process.

    The second field, the program's name, may itself hold blanks and parentheses: it ends at the
    last parenthesis of the line.
    """
    try:
        text = process_file(pid, "stat")
    except OSError:
        return None
    return text[text.rindex(")") + 1 :].split()


def process_file(pid: int, name: str) -> str:
    """The text of ``/proc/PID/NAME``, a file that the kernel makes as one piece (``stat``, ``io``,
    ``smaps_rollup``). Raises `OSError`.

    Some hundreds are read for one sample of a server: a file object with its path costs twice what
    the kernel needs.
    """
    descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _WHOLE_BYTES).decode(errors="replace")
    finally:
        os.close(descriptor)


def boot_id() -> str:
    """Names this boot of this machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


class ProcessIdentity(Struct, frozen=True):
    pid: int
    start_ticks: int
    boot: str
    """The kernel's random id of this boot; it does not identify the machine."""

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity | None:
        """The process that has this number now; None where there is none."""
        fields = stat_fields(pid)
        return None if fields is None else cls(pid, int(fields[19]), boot_id())

    @classmethod
    def own(cls) -> ProcessIdentity:
        """Of the process that calls it."""
        return cls.of(os.getpid()) or cls(os.getpid(), 0, boot_id())

    def is_alive(self) -> bool:
        """Whether this very process still runs; a zombie does not."""
        fields = stat_fields(self.pid)
        return (
            fields is not None
            and fields[0] not in "ZX"
            and int(fields[19]) == self.start_ticks
            and self.boot == boot_id()
        )

    def resume(self) -> None:
        """Continues the process if it was stopped (SIGSTOP); one that runs does not notice.

        Its state is not asked first: a stop that was sent and not yet obeyed does not show in it.
        """
        self.send(signal.SIGCONT)

    def send(self, number: int) -> None:
        """Sends a signal to this process, and to no other that has its number.

        The handle is taken first and the start time compared after: between the two the number
        cannot come to mean another process, as the handle stays with the first.
        """
        try:
            handle = os.pidfd_open(self.pid)
        except OSError:
            return
        try:
            if self.is_alive():
                signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            pass
        finally:
            os.close(handle)


Fields = list[str]
"""Of ``/proc/PID/stat``, from the third (state) on."""

STATE, PARENT, SESSION = 0, 1, 3
USER_TICKS, SYSTEM_TICKS, ENDED_USER_TICKS, ENDED_SYSTEM_TICKS = 11, 12, 13, 14
"""The last two are those of children that have ended."""
_START_TICKS = 19
_OF_ENDED_CHILDREN = (8, 10, ENDED_USER_TICKS, ENDED_SYSTEM_TICKS)
"""The fields that change when a child is reaped; page faults (8, 10) do even for short-lived
ones."""

_KERNEL_THREADS = 2
"""The process from which all threads of the kernel descend (kthreadd). In a container this number
may be another process's, whose programs are then not counted."""

_TRIES = 20
"""With constantly starting and ending processes no two readings agree; then only the times of those
that ended within some milliseconds are missed."""


def family_of(pid: int) -> dict[int, Fields]:
    """The process first, then its descendants; empty if it is gone."""
    found: dict[int, Fields] = {}
    for _ in range(_TRIES):
        found = _read(pid)
        if all(_is_as_it_was(member, fields) for member, fields in found.items()):
            break
    return found


def members_of_session(session: int) -> dict[int, Fields]:
    """For servers whose processes leave the one that started them."""
    found = {number: stat_fields(number) for number in _process_numbers()}
    return {
        number: fields
        for number, fields in found.items()
        if fields is not None and fields[STATE] not in "ZX" and int(fields[SESSION]) == session
    }


def ticks_of(fields: Fields) -> int:
    """CPU time of a process and of its children that have ended."""
    times = (USER_TICKS, SYSTEM_TICKS, ENDED_USER_TICKS, ENDED_SYSTEM_TICKS)
    return sum(int(fields[time]) for time in times)


def ticks_of_others(roots: Collection[int]) -> int:
    """CPU time of all programs that this process sees, of those that ended as well, without the
    processes ``roots``, what descends from them, and the kernel's own threads."""
    table = _table()
    own = {*_with_descendants(table, [*roots, _KERNEL_THREADS])}
    return sum(ticks_of(fields) for number, fields in table.items() if number not in own)


def _read(pid: int) -> dict[int, Fields]:
    """By one pass over the process table."""
    table = _table()
    return {member: table[member] for member in _with_descendants(table, [pid])}


def _table() -> dict[int, Fields]:
    found = {number: stat_fields(number) for number in _process_numbers()}
    # In state X its times are its parent's already.
    return {number: fields for number, fields in found.items() if fields and fields[STATE] != "X"}


def _with_descendants(table: Mapping[int, Fields], roots: Iterable[int]) -> list[int]:
    """Each once; the roots first."""
    children: dict[int, list[int]] = {}
    for number, fields in table.items():
        children.setdefault(int(fields[PARENT]), []).append(number)
    members = [root for root in dict.fromkeys(roots) if root in table]
    seen = set(members)
    for member in members:  # grows while we walk it
        found = [child for child in children.get(member, ()) if child not in seen]
        seen.update(found)
        members.extend(found)
    return members


def _process_numbers() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208


def _is_as_it_was(pid: int, before: Fields) -> bool:
    now = stat_fields(pid)
    return (
        now is not None
        and now[_START_TICKS] == before[_START_TICKS]
        and all(now[field] == before[field] for field in _OF_ENDED_CHILDREN)
    )


TAG_VARIABLE = "ASSAY_SERVER_ID"
_MOST_AT_ONCE = 1 << 16
_KILLED_WITHIN_S = 20.0


def tagged_pids() -> Iterator[int]:
    """Every visible process except this one."""
    own = os.getpid()
    for name in os.listdir("/proc"):  # noqa: PTH208  (numbers, no paths)
        if name.isdigit() and int(name) != own:
            yield int(name)


def tagged_processes(tag: str, leader: ProcessIdentity | None = None) -> list[ProcessIdentity]:
    """The running processes with the tag, the leader if it still runs, and their descendants."""
    variable = f"{TAG_VARIABLE}={tag}".encode()
    parents: dict[int, int] = {}
    found: set[int] = set()
    for pid in tagged_pids():
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


def kill_tagged(tag: str, leader: ProcessIdentity | None = None) -> int:
    """Kills all of them and waits until they are gone; returns how many there were.

    Children that a server makes while it is being killed are met in the next round.
    """
    killed: set[ProcessIdentity] = set()
    deadline = time.monotonic() + _KILLED_WITHIN_S
    while living := tagged_processes(tag, leader):
        for identity in living:
            identity.send(signal.SIGKILL)
            killed.add(identity)
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    return len(killed)
