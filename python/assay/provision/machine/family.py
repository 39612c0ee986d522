"""Takes a process; returns it and all its descendants, as a consistent snapshot; or takes a session
of the operating system, and returns the processes in it; or takes several processes, and returns
the CPU time of all programs that are not of their families.

The kernel reports one process at a time. When a child ends and its parent reaps it, its CPU times
move to the parent: a parent read before and a child read after would miss them. So every member is
read again, and if any has reaped a child meanwhile or has ended, all are read anew.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from assay.provision.machine.identity import stat_fields

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
