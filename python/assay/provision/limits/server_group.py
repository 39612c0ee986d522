"""Takes the machine that a server is given; returns the limits of control groups that have that
memory and those processors, and reads the limits of any groups.

The memory holds everything: the processes' own and the pages of files that they are the first to
read or write. When it is full and nothing can be dropped, the kernel kills one of the processes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.contracts.factors import ServerMachine
from assay.errors import MachineLimit
from assay.provision.limits.hierarchies import around_us, parents
from assay.provision.machine.machine_sampling import memory_bytes
from assay.text import units
from assay.text.mentions import Mention, phrase
from assay.text.sizes import about, size_word

if TYPE_CHECKING:
    from assay.contracts.storages.group_limits import GroupLimit

_PERIOD_US = 100_000
"""In which a group may use so much CPU time: what container engines use, too."""
_SMALLEST_QUOTA_US = 1000
"""That the kernel takes."""
_NO_LIMIT_BYTES = 1 << 60
_KILLS = "oom_kill"
FIX = "; fix: a smaller buffer of the server, or a higher limit"
"""Follows the reason of `why_killed` where that is all that is said."""


def refuse_impossible(machine: ServerMachine) -> None:
    """Raises `MachineLimit` where this machine cannot limit a server so, or has not as much.
    Nothing is made."""
    parents([limit.controller for limit in limits_of(machine)])
    processors = len(os.sched_getaffinity(0))
    memory = memory_limit_bytes(around_us("memory")) or memory_bytes()
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
                "{}: this machine has {}, in units of 1024",
                Mention("memory", size_word(machine.memory_bytes)),
                about(memory),
            ),
            hint="give less, or none",
        )


def limits_of(machine: ServerMachine) -> tuple[GroupLimit, ...]:
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
    from assay.contracts.storages.group_limits import GroupLimit

    return GroupLimit(
        "memory",
        version_1=(("memory.limit_in_bytes", limit), (with_swap[0], limit)),
        version_2=(("memory.max", limit), (with_swap[1], "0")),
        optional_files=frozenset(with_swap),  # where the kernel does not count swap
    )


def _cpu_limit(cpus: float) -> GroupLimit:
    quota_us = max(_SMALLEST_QUOTA_US, round(cpus * _PERIOD_US))
    from assay.contracts.storages.group_limits import GroupLimit

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
