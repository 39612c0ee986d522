"""Returns the facts of this machine that decide how fast a database can be; not its name."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import psutil

_CPU_INFO = Path("/proc/cpuinfo")
_OS_RELEASE = Path("/etc/os-release")
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
_CONTROL_GROUPS = Path("/sys/fs/cgroup")


def machine() -> dict[str, Any]:
    """Facts as plain data; None where they are unknown.

    The host name is left out on purpose: records are meant to be shared, and no number depends on
    it.
    """
    return {
        "cpu_model": _cpu_model(),
        "architecture": platform.machine(),
        "cores": psutil.cpu_count(logical=False),
        "processors": psutil.cpu_count(),
        "processors_usable": len(os.sched_getaffinity(0)),
        "processors_limit": _processors_limit(),
        "memory_bytes": psutil.virtual_memory().total,
        "memory_limit_bytes": _memory_limit_bytes(),
        "cpu_governor": _line(_GOVERNOR),
        "kernel": platform.release(),
        "operating_system": _operating_system(),
        "python": platform.python_version(),
    }


def _line(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def _cpu_model() -> str | None:
    for line in (_line(_CPU_INFO) or "").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return platform.processor() or None


def _operating_system() -> str:
    for line in (_line(_OS_RELEASE) or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip("\"'")
    return platform.system()


def _control_group_files(name: str) -> list[str]:
    """The file's content in this process's control group and in each one above it (version 2)."""
    own = next(
        (
            line[3:]
            for line in (_line(Path("/proc/self/cgroup")) or "").splitlines()
            if line.startswith("0::")
        ),
        "/",
    )
    folder = _CONTROL_GROUPS / own.lstrip("/")
    folders = [folder, *folder.parents]
    inside = [path for path in folders if path.is_relative_to(_CONTROL_GROUPS)]
    return [text for path in inside if (text := _line(path / name))]


def _memory_limit_bytes() -> int | None:
    limits = [int(text) for text in _control_group_files("memory.max") if text != "max"]
    return min(limits, default=None)


def _processors_limit() -> float | None:
    """``cpu.max`` holds quota and period; a quota of half a period is half a processor."""
    limits = []
    for text in _control_group_files("cpu.max"):
        quota, period = text.split()
        if quota != "max":
            limits.append(int(quota) / int(period))
    return min(limits, default=None)
