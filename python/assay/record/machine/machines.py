"""Takes the facts of machines, as records hold them; gives which of them are the same machine, and
short names that no two different ones share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from assay.contracts.recorded import HardwareFact, Machine, MachineFact
from assay.text import units

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
_NOISE = re.compile(
    r"\((?:R|TM|C)\)|\bCPU\b|\bProcessor\b|\b\d+-Core\b|@.*$|\bwith .*$", re.IGNORECASE
)
"""In the names of processors, what distinguishes none from another."""


def by_name(machine: Machine) -> Mapping[str, MachineFact]:
    """All that is known of it, also what only another Assay kept."""
    return cast(Mapping[str, MachineFact], machine)


def is_same(fact: str, a: MachineFact, b: MachineFact) -> bool:
    """Whether two values of this fact may be of one machine."""
    if fact == "memory_bytes" and isinstance(a, int) and isinstance(b, int):
        return abs(a - b) <= _SAME_MEMORY * max(a, b)
    return bool(a == b)


def differing(a: Machine, b: Machine) -> list[HardwareFact]:
    """The facts of hardware by which they are two machines, of those that both have: an earlier
    Assay kept fewer, and what is not known is no difference."""
    return [
        fact
        for fact in HARDWARE
        if fact in a
        and fact in b
        and not (fact in ESSENTIAL and None in (a[fact], b[fact]))
        and not is_same(fact, a[fact], b[fact])
    ]


def short_name(facts: Machine) -> str:
    """Its own name, else ``AMD EPYC 9R14 2 CPUs 25.3 GB``."""
    return str(facts.get("name") or _words(facts, _SHORT) or "unknown machine")


def names(machines: Iterable[Machine]) -> list[str]:
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
    return (a.get("name") or "") == (b.get("name") or "") and not differing(a, b)


def _distinct_names(kinds: Sequence[Machine]) -> list[str]:
    """Names of different machines."""
    unnamed = [one for one in kinds if not one.get("name")]
    distinguishing = [
        fact
        for fact in HARDWARE
        if any(fact in differing(unnamed[0], other) for other in unnamed[1:])
    ]
    distinguishing.sort(key=lambda fact: fact not in _SHORT)
    chosen = next(
        filter(lambda facts: _distinguish(facts, unnamed), _begins(distinguishing)), distinguishing
    )
    found = [str(one.get("name") or _words(one, chosen) or short_name(one)) for one in kinds]
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
        return units.size(value)
    return f"{fact} {units.size(value) if fact.endswith('_bytes') else value}"
