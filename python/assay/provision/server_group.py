"""Takes the machine that a server is given; makes control groups with that memory and those
processors, which its processes join before their programs begin.

The memory holds everything: the processes' own and the pages of files that they are the first to
read or write. When it is full and nothing can be dropped, the kernel kills one of the processes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from assay.errors import MachineLimit, SystemUnderTestError
from assay.experiment.values import ServerMachine
from assay.provision.hierarchies import parents
from assay.provision.ledger import HeldEntry
from assay.provision.resources import ControlGroup
from assay.text import units
from assay.text.sizes import size_word

_PERIOD_US = 100_000
"""In which a group may use so much CPU time: what container engines use, too."""
_NO_LIMIT_BYTES = 1 << 60
_KILLS = "oom_kill"


def refuse_impossible(machine: ServerMachine) -> None:
    """Raises `MachineLimit` where this machine cannot limit a server so, or has not as much.
    Nothing is made."""
    if machine.is_limited:
        parents(_controllers(machine))
    processors, memory = len(os.sched_getaffinity(0)), _memory_bytes()
    if machine.cpus is not None and machine.cpus > processors:
        raise MachineLimit(
            f"--cpus {machine.cpus:g}: this machine has {units.counted(processors, 'processor')}",
            hint=f"--cpus {processors} or less, or none",
        )
    if machine.memory_bytes is not None and machine.memory_bytes > memory:
        raise MachineLimit(
            f"--memory {size_word(machine.memory_bytes)}: this machine has {units.size(memory)}",
            hint="give less, or none",
        )


def make(entry: HeldEntry, machine: ServerMachine) -> tuple[Path, ...]:
    """The folders of the groups, which are removed with the entry; none where nothing is limited.

    Raises `MachineLimit` where they cannot be made.
    """
    if not machine.is_limited:
        return ()
    found = parents(_controllers(machine))
    folders = {
        name: (parent.version, parent.folder / f"assay-{entry.entry.id}")
        for name, parent in found.items()
    }
    made = tuple(dict.fromkeys(folder for _, folder in folders.values()))
    for folder in made:
        entry.add(ControlGroup(str(folder)))
    try:
        for folder in made:
            folder.mkdir()
        for name, (version, folder) in folders.items():
            for file, value in _limits(name, version, machine):
                _set(folder / file, value)
    except OSError as error:
        raise MachineLimit(
            f"a control group cannot be given its limits: {error}",
            hint="run assay as root, or without --memory and --cpus",
        ) from error
    return made


def join(groups: Iterable[Path], pid: int) -> None:
    """Moves a process into the groups, with all that it will start."""
    for group in groups:
        try:
            (group / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            raise SystemUnderTestError(
                f"the server's process cannot be moved to the control group {group}: {error}"
            ) from error


def memory_limit_bytes(groups: Iterable[Path]) -> int | None:
    """In effect; None: not limited."""
    for group in groups:
        for file in ("memory.limit_in_bytes", "memory.max"):
            word = _read(group / file).strip()
            if word.isdigit() and int(word) < _NO_LIMIT_BYTES:
                return int(word)
    return None


def cpu_limit(groups: Iterable[Path]) -> float | None:
    """In effect; None: not limited."""
    for group in groups:
        quota = _read(group / "cpu.cfs_quota_us") or _read(group / "cpu.max")
        period = _read(group / "cpu.cfs_period_us")
        words = f"{quota} {period}".split()
        if len(words) == 2 and words[0].isdigit():
            return int(words[0]) / int(words[1])
    return None


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
    limit = memory_limit_bytes(groups) or 0
    return f"a process was ended by the memory limit of {size_word(limit)}"


def _controllers(machine: ServerMachine) -> Sequence[str]:
    wanted = {"memory": machine.memory_bytes, "cpu": machine.cpus}
    return [name for name, limit in wanted.items() if limit is not None]


def _limits(controller: str, version: int, machine: ServerMachine) -> Iterable[tuple[str, str]]:
    """The files of a group and what is written to them, in order."""
    if controller == "memory":
        limit = str(machine.memory_bytes)
        if version == 1:
            yield "memory.limit_in_bytes", limit
            yield "memory.memsw.limit_in_bytes", limit
        else:
            yield "memory.max", limit
            yield "memory.swap.max", "0"
    else:
        quota_us = max(1000, round((machine.cpus or 0) * _PERIOD_US))
        if version == 1:
            yield "cpu.cfs_period_us", str(_PERIOD_US)
            yield "cpu.cfs_quota_us", str(quota_us)
        else:
            yield "cpu.max", f"{quota_us} {_PERIOD_US}"


def _set(file: Path, value: str) -> None:
    """A kernel that does not count swap has no file for it."""
    if "sw" in file.name and not file.exists():
        return
    file.write_text(value)


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
