"""The limits of memory and processors for servers and clients, through control groups: those that
this process is in, those that it can make, and what they enforce."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from assay import registry
from assay.contracts.experiment import SystemChoice
from assay.contracts.factors import ServerMachine
from assay.contracts.storage_facts import IN_MEMORY
from assay.contracts.systems.abilities import BoundedInProcess, WorksInProcess
from assay.errors import ArgumentError, MachineLimit
from assay.provision.machine.mounts import MOUNT_TABLE, every_mount
from assay.provision.machine.sampling import machine_memory_bytes
from assay.text import units
from assay.text.phrases import Mention, phrase
from assay.text.units import binary, counted, size_word

if TYPE_CHECKING:
    from assay.contracts.storages.protocol import GroupLimit


PROCESSES = "cgroup.procs"
"""The file of a group that lists its processes; one that writes 0 there enters the group."""
ENABLED = "cgroup.subtree_control"
"""Version 2: the controllers that the groups within a group have."""
_AVAILABLE = "cgroup.controllers"
_TYPE = "cgroup.type"
"""Every group of version 2 has this file, but for the root of the whole tree."""

_OWN = Path("/proc/self/cgroup")
_NAMES_OF_VERSION_1: Mapping[str, str] = {"io": "blkio"}

_HINT = (
    "run assay as root; or, with systemd: systemd-run --user --scope -p Delegate=yes assay …; in a "
    "container: with --privileged"
)


class Parent(Struct, frozen=True):
    """A control group in which another can be made."""

    version: int
    """Of control groups: 1 or 2."""
    folder: Path
    enable: tuple[str, ...] = ()
    """Version 2: controllers that its groups have only once they are written to `ENABLED`."""


class _Mount(Struct, frozen=True):
    version: int
    root: str
    point: Path
    controllers: frozenset[str]
    """Of version 1."""


def parent_groups(controllers: Collection[str]) -> Mapping[str, Parent]:
    """Where a group of each controller can be made; it is the same group for all controllers of
    version 2. Raises `MachineLimit` with the fix where the machine has none, or does not let us
    make one. Changes nothing."""
    mounts, own = _mounts(MOUNT_TABLE.read_text()), _own_groups(_OWN.read_text())
    found: dict[str, Parent] = {}
    for controller in controllers:
        if (parent := _of_version_1(controller, mounts, own)) is not None:
            found[controller] = parent
    rest = tuple(controller for controller in controllers if controller not in found)
    if rest:
        found.update(dict.fromkeys(rest, _of_version_2(rest, mounts, own)))
    for parent in found.values():
        if not os.access(parent.folder, os.W_OK):
            raise MachineLimit(
                f"no control group can be made in {parent.folder}: permission denied", hint=_HINT
            )
    return found


def groups_around_us(controller: str) -> tuple[Path, ...]:
    """The groups whose limits of a controller hold for this process: our own, then those around
    it, as far as they are mounted, of both versions. None where the kernel does not show them."""
    try:
        mounts, own = _mounts(MOUNT_TABLE.read_text()), _own_groups(_OWN.read_text())
    except OSError:
        return ()
    name = _NAMES_OF_VERSION_1.get(controller, controller)
    return tuple(
        group
        for mount in mounts
        if mount.version == 2 or name in mount.controllers
        for group in _around_us(mount, own.get("" if mount.version == 2 else name, "/"))
    )


def _mounts(text: str) -> list[_Mount]:
    return [
        _Mount(
            1 if one.file_system == "cgroup" else 2,
            one.root,
            one.point,
            frozenset(one.file_system_options.split(",")),
        )
        for one in every_mount(text)
        if one.file_system in ("cgroup", "cgroup2")
    ]


def _own_groups(text: str) -> dict[str, str]:
    """Controller → our group of it, from the root of its tree; the one of version 2 has no name."""
    found = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            found[controller] = path
    return found


def _of_version_1(
    controller: str, mounts: Iterable[_Mount], own: Mapping[str, str]
) -> Parent | None:
    name = _NAMES_OF_VERSION_1.get(controller, controller)
    for mount in mounts:
        if mount.version == 1 and name in mount.controllers:
            return Parent(1, _own_folder(mount, own.get(name, "/")))
    return None


def _of_version_2(
    controllers: Collection[str], mounts: Iterable[_Mount], own: Mapping[str, str]
) -> Parent:
    """The nearest group around us whose groups have all of the controllers, or else the nearest
    where they can be enabled: a group that holds processes itself cannot pass controllers on."""
    wanted = set(controllers)
    path = own.get("", "/")
    around = [group for mount in mounts if mount.version == 2 for group in _around_us(mount, path)]
    for group in around:
        if wanted <= _words(group / ENABLED):
            return Parent(2, group)
    for group in around:
        is_root = not (group / _TYPE).exists()
        if wanted <= _words(group / _AVAILABLE) and (is_root or not _words(group / PROCESSES)):
            return Parent(2, group, enable=tuple(sorted(wanted - _words(group / ENABLED))))
    missing = wanted.difference(*(_words(group / _AVAILABLE) for group in around))
    if missing:
        raise MachineLimit(
            "this machine has no control groups with the controller "
            f"{' and '.join(map(repr, sorted(missing)))}",
            hint="see /proc/cgroups; a container must be given the host's control groups",
        )
    raise MachineLimit(
        f"no control group around this process can limit {' and '.join(sorted(wanted))}: each has "
        "processes of its own",
        hint=_HINT,
    )


def _around_us(mount: _Mount, path: str) -> Iterable[Path]:
    """Our own group, which has this path, and those around it, as far as they are mounted."""
    folder = _own_folder(mount, path)
    for group in (folder, *folder.parents):
        if not group.is_relative_to(mount.point):
            return
        yield group


def _own_folder(mount: _Mount, path: str) -> Path:
    """Our group's folder; in a container only a part of the tree may be mounted."""
    try:
        folder = mount.point / Path(path).relative_to(mount.root)
    except ValueError:
        return mount.point
    return folder if folder.is_dir() else mount.point


def _words(file: Path) -> set[str]:
    try:
        return set(file.read_text().split())
    except OSError:
        return set()


_PERIOD_US = 100_000
"""In which a group may use so much CPU time: what container engines use, too."""
_SMALLEST_QUOTA_US = 1000
"""That the kernel takes."""
_NO_LIMIT_BYTES = 1 << 60
_KILLS = "oom_kill"
FIX = "; fix: a smaller buffer of the server, or a higher limit"
"""Follows the reason of `why_killed` where that is all that is said."""


def refuse_impossible_limits(machine: ServerMachine) -> None:
    """Raises `MachineLimit` where this machine cannot limit a server so, or has not as much.
    Nothing is made."""
    parent_groups([limit.controller for limit in limits_of_server(machine)])
    processors = len(os.sched_getaffinity(0))
    memory = memory_limit_bytes(groups_around_us("memory")) or machine_memory_bytes()
    if machine.cpus is not None and machine.cpus > processors:
        raise MachineLimit(
            phrase(
                "{}: this machine has {}",
                Mention("cpus", f"{machine.cpus:g}"),
                units.counted(processors, "processor"),
            ),
            hint=phrase("{} or less, or none", Mention("cpus", str(processors))),
        )
    if machine.memory_bytes is not None and machine.memory_bytes > memory:
        raise MachineLimit(
            phrase(
                "{}: this machine has {}",
                Mention("memory", size_word(machine.memory_bytes)),
                binary(memory),
            ),
            hint="give less, or none",
        )


def limits_of_server(machine: ServerMachine) -> tuple[GroupLimit, ...]:
    """The limits of a control group that has this memory and these processors."""
    limits = []
    if machine.memory_bytes is not None:
        limits.append(_memory_limit(machine.memory_bytes))
    if machine.cpus is not None:
        limits.append(_cpu_limit(machine.cpus))
    return tuple(limits)


def _memory_limit(memory_bytes: int) -> GroupLimit:
    """Without swap, which would be memory beyond the limit."""
    limit = str(memory_bytes)
    with_swap = "memory.memsw.limit_in_bytes", "memory.swap.max"
    from assay.contracts.storages.protocol import GroupLimit

    return GroupLimit(
        "memory",
        version_1=(("memory.limit_in_bytes", limit), (with_swap[0], limit)),
        version_2=(("memory.max", limit), (with_swap[1], "0")),
        optional_files=frozenset(with_swap),  # where the kernel does not count swap
    )


def _cpu_limit(cpus: float) -> GroupLimit:
    quota_us = max(_SMALLEST_QUOTA_US, round(cpus * _PERIOD_US))
    from assay.contracts.storages.protocol import GroupLimit

    return GroupLimit(
        "cpu",
        version_1=(("cpu.cfs_period_us", str(_PERIOD_US)), ("cpu.cfs_quota_us", str(quota_us))),
        version_2=(("cpu.max", f"{quota_us} {_PERIOD_US}"),),
    )


def memory_limit_bytes(groups: Iterable[Path]) -> int | None:
    """The lowest one in effect; None: not limited."""
    words = [
        _read(group / file).strip()
        for group in groups
        for file in ("memory.limit_in_bytes", "memory.max")
    ]
    limits = [int(word) for word in words if word.isdigit()]
    return min((limit for limit in limits if limit < _NO_LIMIT_BYTES), default=None)


def cpu_limit(groups: Iterable[Path]) -> float | None:
    """The lowest one in effect, in processors; None: not limited."""
    limits = []
    for group in groups:
        quota = _read(group / "cpu.cfs_quota_us") or _read(group / "cpu.max")
        period = _read(group / "cpu.cfs_period_us")
        words = f"{quota} {period}".split()
        if len(words) == 2 and words[0].isdigit():
            limits.append(int(words[0]) / int(words[1]))
    return min(limits, default=None)


def memory_kills(groups: Iterable[Path]) -> int:
    """How many processes the kernel has killed because the memory of the groups was full."""
    kills = 0
    for group in groups:
        for file in ("memory.oom_control", "memory.events"):
            lines = [line.split() for line in _read(group / file).splitlines()]
            kills += sum(int(words[1]) for words in lines if words[:1] == [_KILLS])
    return kills


def why_killed(groups: Sequence[Path], killed_before: int) -> str | None:
    """None, unless the kernel has killed a process since there were so many."""
    if memory_kills(groups) <= killed_before:
        return None
    limit = memory_limit_bytes(groups)
    if limit is None:
        return "a process was ended because this machine had no memory left"
    return f"a process was ended by the memory limit of {size_word(limit)}"


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


_OWN_GROUPS = Path("/proc/self/cgroup")
_counting = threading.Lock()
_experiments = {True: 0, False: 0}
"""How many experiments this process runs now: with such limits, and without."""


@contextlib.contextmanager
def groups_of_experiment(*, is_limited: bool) -> Iterator[None]:
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
def clients_within(groups: Sequence[Path]) -> Iterator[None]:
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


_CLIENT_BYTES = 32 << 20
"""What the clients may take in this process while they work, beside the system in it."""


def is_client_memory_limited(choice: SystemChoice) -> bool:
    """Whether this process has a memory limit while the system works."""
    system = registry.system(choice.name)
    is_given = choice.url is None and choice.machine.memory_bytes is not None
    is_in_process = isinstance(system, WorksInProcess) and system.is_in_process(choice)
    return is_given and is_in_process and isinstance(system, BoundedInProcess)


def refuse_too_little_client_memory(
    choice: SystemChoice, storage_name: str, file_system: str, sessions: int
) -> None:
    """Raises `ArgumentError`. ``file_system``: of the data; empty: not known."""
    system, limit = registry.system(choice.name), choice.machine.memory_bytes
    if (
        limit is None
        or not isinstance(system, BoundedInProcess)
        or not is_client_memory_limited(choice)
    ):
        return
    if file_system in IN_MEMORY:
        raise ArgumentError(
            f"{choice.label}: data on {storage_name} count as memory of the process that writes "
            "them, here Assay's own, which the limit would end",
            hint=phrase("{--memory none}, or a storage on a disk"),
        )
    needed = system.most_memory_bytes(choice, sessions) + _CLIENT_BYTES
    needed = -(-needed >> 20) << 20
    if needed > limit:
        raise ArgumentError(
            f"{choice.label}: {counted(sessions, 'session')} may need {size_word(needed)} of this "
            f"process, and its limit is {size_word(limit)}",
            hint=phrase(
                "{} or more, a smaller buffer, or fewer clients",
                Mention("memory", size_word(needed)),
            ),
        )
