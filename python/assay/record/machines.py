"""Gives the facts of this machine that decide how fast a database can be; takes those of
several, as records hold them, and says which are the same machine, and how each is called."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import platform
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, cast

from assay import __version__, _engine, env_vars
from assay.contracts.recorded import Build, HardwareFact, Machine, MachineFact
from assay.provision import limits
from assay.text import pattern, units

HARDWARE: tuple[HardwareFact, ...] = (
    "cpu_model", "architecture", "cores", "processors", "processors_usable", "affinity",
    "processors_limit", "memory_bytes", "memory_limit_bytes",
)  # fmt: skip
"""What makes a machine another one, with the limits under which Assay ran there."""
ESSENTIAL: tuple[HardwareFact, ...] = ("cpu_model", "memory_bytes")
"""Of these, what every Assay kept."""
_SHORT: tuple[HardwareFact, ...] = ("cpu_model", "processors_usable", "memory_bytes")
"""What a machine without a name is called by, where nothing else distinguishes it."""
_SAME_MEMORY = 0.02
"""The kernel takes a share of it, which differs between versions."""
_NOISE = pattern(r"(?i)\((?:R|TM|C)\)|\bCPU\b|\bProcessor\b|\b\d+-Core\b|@.*$|\bwith .*$")
"""In the names of processors, what distinguishes none from another."""


def facts_by_name(machine: Machine) -> Mapping[str, MachineFact]:
    """All that is known of it, also what only another Assay kept."""
    return cast(Mapping[str, MachineFact], machine)


def is_same_fact(fact: str, a: MachineFact, b: MachineFact) -> bool:
    """Whether two values of this fact may be of one machine."""
    if fact == "memory_bytes" and isinstance(a, int) and isinstance(b, int):
        return abs(a - b) <= _SAME_MEMORY * max(a, b)
    return bool(a == b)


def differing_hardware(a: Machine, b: Machine) -> list[HardwareFact]:
    """The facts of hardware by which they are two machines, of those that both have: an earlier
    Assay kept fewer, and what is not known is no difference."""
    return [
        fact
        for fact in HARDWARE
        if fact in a
        and fact in b
        and not (fact in ESSENTIAL and None in (a[fact], b[fact]))
        and not is_same_fact(fact, a[fact], b[fact])
    ]


def machine_name(facts: Machine) -> str:
    """Its own name, else ``AMD EPYC 9R14 2 CPUs 23.5 GiB``."""
    return str(facts.get("name") or _words(facts, _SHORT) or "unknown machine")


def machine_names(machines: Iterable[Machine]) -> list[str]:
    """A name for each, equal for equal machines: the one that it was given, else the facts in which
    it differs from the others. All empty where it is the same machine throughout."""
    machines = list(machines)
    kinds: list[Machine] = []
    of_facts: dict[int, int] = {}  # most runs share one document
    for facts in machines:
        if id(facts) not in of_facts:
            same = (at for at, one in enumerate(kinds) if _is_one(one, facts))
            place = next(same, len(kinds))
            kinds += [facts] if place == len(kinds) else []
            of_facts[id(facts)] = place
    if len(kinds) < 2:
        return [""] * len(machines)
    named = _distinct_names(kinds)
    return [named[of_facts[id(facts)]] for facts in machines]


def _is_one(a: Machine, b: Machine) -> bool:
    """One with a name and one without are two: nothing says that they are the same."""
    return (a.get("name") or "") == (b.get("name") or "") and not differing_hardware(a, b)


def _distinct_names(kinds: Sequence[Machine]) -> list[str]:
    """Names of different machines."""
    unnamed = [one for one in kinds if not one.get("name")]
    distinguishing = [
        fact
        for fact in HARDWARE
        if any(fact in differing_hardware(unnamed[0], other) for other in unnamed[1:])
    ]
    distinguishing.sort(key=lambda fact: fact not in _SHORT)
    chosen = next(
        filter(lambda facts: _distinguish(facts, unnamed), _begins(distinguishing)), distinguishing
    )
    found = [str(one.get("name") or _words(one, chosen) or machine_name(one)) for one in kinds]
    for further in (distinguishing, _SHORT, HARDWARE):
        if len(set(found)) == len(found):
            return found
        found = [
            f"{name} {_words(one, further)}".strip() if found.count(name) > 1 else name
            for name, one in zip(found, kinds, strict=True)
        ]
    return [f"{name} ({at})" if found.count(name) > 1 else name for at, name in enumerate(found, 1)]


def _begins(facts: Sequence[HardwareFact]) -> Iterator[Sequence[HardwareFact]]:
    return (facts[:number] for number in range(1, len(facts) + 1))


def _distinguish(facts: Sequence[HardwareFact], machines: Sequence[Machine]) -> bool:
    """Whether these facts alone are a name for each."""
    found = [_words(one, facts) for one in machines]
    return all(found) and len(set(found)) == len(found)


def _words(machine: Machine, facts: Iterable[HardwareFact]) -> str:
    """Without commas, which stand between levels."""
    known = (_word(fact, machine[fact]) for fact in facts if machine.get(fact))
    return " ".join(known).replace(",", " ")


def _word(fact: str, value: Any) -> str:
    if fact == "cpu_model":
        return " ".join(_NOISE.sub(" ", str(value)).split()) or str(value)
    if fact == "processors_usable":
        return units.counted(int(value), "CPU")
    if fact == "memory_bytes":
        return units.binary(value)
    return f"{fact} {units.binary(value) if fact.endswith('_bytes') else value}"


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
        "processors_limit": limits.cpu_limit(limits.groups_around_us("cpu")),
        "memory_bytes": _memory_bytes(),
        "memory_limit_bytes": limits.memory_limit_bytes(limits.groups_around_us("memory")),
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
