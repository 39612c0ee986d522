"""Takes control groups; moves this process, in which clients and an embedded database work, into
them for a ``with`` block, and back into those it was in.

What the process took before stays with its former groups, so a memory limit holds for what it takes
in the block: the database's buffers, the pages of files that are read or written, and what the
clients need meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.errors import ArgumentError, MachineLimit
from assay.provision.limits.hierarchies import PROCESSES
from assay.text.mentions import phrase

_OWN_GROUPS = Path("/proc/self/cgroup")
_counting = threading.Lock()
_experiments = {True: 0, False: 0}
"""How many experiments this process runs now: with such limits, and without."""


@contextlib.contextmanager
def experiment(*, is_limited: bool) -> Iterator[None]:
    """A block in which this process runs an experiment; ``is_limited``: it moves the process into
    groups, and with it everything else that the process does. Raises `ArgumentError` where another
    experiment of this process would be limited, too, or its limit hold for this one."""
    with _counting:
        if _experiments[True] or (is_limited and _experiments[False]):
            raise ArgumentError(
                phrase(
                    "{--memory} of a system that works in this process holds for the whole "
                    "process, which runs another experiment at the same time"
                ),
                hint="run one after the other, or one of them as a command of its own: assay run",
            )
        _experiments[is_limited] += 1
    try:
        yield
    finally:
        with _counting:
            _experiments[is_limited] -= 1


@contextlib.contextmanager
def within(groups: Sequence[Path]) -> Iterator[None]:
    """All threads of this process are in the groups while the block runs, and programs that it
    starts there. Raises `MachineLimit` where the kernel refuses."""
    with contextlib.ExitStack() as back:
        for group in groups:
            before = _paths()
            _enter(group)
            back.callback(_enter, _former(group, before, _paths()))
        yield


def _former(group: Path, before: dict[str, str], after: dict[str, str]) -> Path:
    """The folder of the group in which the process was, in the hierarchy of ``group``: paths in
    `_OWN_GROUPS` begin at a root that a container need not have mounted."""
    for hierarchy, path in after.items():
        if path != before.get(hierarchy) and path.endswith(group.name):
            return Path(os.path.normpath(group / os.path.relpath(before[hierarchy], path)))
    return group.parent


def _paths() -> dict[str, str]:
    """Hierarchy → the path of the group in it that this process is in."""
    lines = (line.split(":", 2) for line in _OWN_GROUPS.read_text().splitlines())
    return {hierarchy: path for hierarchy, _, path in lines}


def _enter(group: Path) -> None:
    try:
        (group / PROCESSES).write_text("0")
    except OSError as error:
        raise MachineLimit(
            f"this process cannot enter the control group {group}: {error.strerror}",
            hint="run assay as root, or without --memory",
        ) from error
