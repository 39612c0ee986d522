"""Returns the facts of this machine that decide how fast a database can be, with the limits under
which this process runs (control groups, affinity); not its name, unless it was given one. Returns
the versions of this program, too."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import platform
from collections.abc import Collection
from itertools import count
from pathlib import Path
from typing import cast

from assay import __version__, _engine, env_vars
from assay.contracts.recorded import Build, Machine
from assay.provision.limits import hierarchies, server_group

_CPU_INFO = Path("/proc/cpuinfo")
_MEMORY = Path("/proc/meminfo")
_PROCESSORS = Path("/sys/devices/system/cpu")
_OS_RELEASE = Path("/etc/os-release")
_IDENTITIES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_OWN_USE = b"assay-db"
"""With it the identity becomes one that no other program has (machine-id(5) asks for that)."""
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def machine() -> Machine:
    """Facts as plain data; None where they are unknown.

    The host name is left out on purpose: records are meant to be shared, and no number depends on
    it. A name given in `ASSAY_MACHINE` is kept, and a digest that distinguishes machines.
    """
    given = env_vars.MACHINE.get()
    usable = os.sched_getaffinity(0)
    facts: Machine = {
        "cpu_model": _cpu_model(),
        "architecture": platform.machine(),
        "cores": _cores(),
        "processors": os.cpu_count(),
        "processors_usable": len(usable),
        "affinity": _affinity(usable),
        "processors_limit": server_group.cpu_limit(hierarchies.around_us("cpu")),
        "memory_bytes": _memory_bytes(),
        "memory_limit_bytes": server_group.memory_limit_bytes(hierarchies.around_us("memory")),
        "cpu_governor": _line(_GOVERNOR),
        "kernel": platform.release(),
        "operating_system": _operating_system(),
        "python": platform.python_version(),
    }
    if host := _host():
        facts["host"] = host
    return {"name": given, **facts} if given else facts


def build() -> Build:
    """The versions of Assay and of its engine."""
    return cast(Build, {"assay": __version__, **json.loads(_engine.build_info())})


def _host() -> str | None:
    """None where the machine has no identity, or not yet (``uninitialized``)."""
    found = (_line(path) or "" for path in _IDENTITIES)
    identity = next((one for one in found if len(one) == 32), None)
    if identity is None:
        return None
    return hmac.new(identity.encode(), _OWN_USE, hashlib.sha256).hexdigest()[:16]


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


def _cores() -> int | None:
    """Processors of one core name the same ones."""
    found = {_line(path) for path in _PROCESSORS.glob("cpu[0-9]*/topology/core_cpus_list")}
    if found:
        return len(found)
    import psutil  # here, and below: it takes long to import, and knows where else to look

    return psutil.cpu_count(logical=False)


def _memory_bytes() -> int:
    for line in (_line(_MEMORY) or "").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    import psutil

    return psutil.virtual_memory().total


def _operating_system() -> str:
    for line in (_line(_OS_RELEASE) or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip("\"'")
    return platform.system()


def _affinity(processors: Collection[int]) -> str:
    """``0-3,8``, as ``taskset --cpu-list`` takes them."""
    words: list[str] = []
    for first in sorted(one for one in processors if one - 1 not in processors):
        last = next(one for one in count(first) if one + 1 not in processors)
        words.append(str(first) if first == last else f"{first}-{last}")
    return ",".join(words)
