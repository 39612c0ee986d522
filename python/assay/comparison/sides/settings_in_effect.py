"""Takes the runs of two sides; gives the settings in effect that are not the same on both, by what
their values mean: those that both have first, then those that one side alone has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from assay.comparison.sides.values import Difference, joined
from assay.provision.undo import ledger
from assay.record import RunRecord

_TRUTH = {"on": "true", "yes": "true", "off": "false", "no": "false"}
_NUMBER = re.compile(r"[-+]?[0-9]{1,30}(?:\.[0-9]{1,30})?", re.ASCII)
_BYTES = re.compile(r"([0-9]{1,30})(?:\.([0-9]{1,30}))? ?(?:bytes|b|([kmgt])ib)", re.ASCII)
_POWERS = {letter: power for power, letter in enumerate("kmgt", 1)}


def differing(a: Sequence[RunRecord], b: Sequence[RunRecord], between: str) -> Iterator[Difference]:
    """A system records all that are not at their default, so that one which a side does not have is
    at its default there, or that version or system lacks it."""
    of_a, of_b = _in_effect(a), _in_effect(b)
    if not of_a or not of_b:
        return
    is_one_system = {run.system for run in a} == {run.system for run in b}
    versions = {run.deployment.version for run in (*a, *b) if run.deployment}
    missing = "default" if len(versions) == 1 else "default, or not in this version"
    missing = missing if is_one_system else "default, or not in this system"
    may_be_lacking: list[Difference] = []
    for name in dict.fromkeys(name for settings in (*of_a, *of_b) for name in settings):
        if name == "port" or f"{a[0].system}.{name}" == between:
            continue
        left, right = ([_shown(one.get(name, missing)) for one in side] for side in (of_a, of_b))
        found = Difference("setting", name, joined(left) or "empty", joined(right) or "empty")
        if _are_same(left, right) or any(map(ledger.is_path_of_a_run, found[2:])):
            continue
        if missing != "default" and missing in (*left, *right):
            may_be_lacking.append(found)
        else:
            yield found
    yield from may_be_lacking


def _in_effect(runs: Iterable[RunRecord]) -> list[Mapping[str, str]]:
    """Of each run of which they are known."""
    found = (run.deployment for run in runs if run.deployment)
    return [one.settings for one in found if one.settings and not one.settings_unknown]


def _shown(value: str) -> str:
    """On one line."""
    return " ".join(value.split()) if "\n" in value else value


def _are_same(left: Iterable[str], right: Iterable[str]) -> bool:
    """Whether each value of a side has one on the other that means the same."""
    a, b = set(left), set(right)
    return all(any(mean_the_same(one, other) for other in b) for one in a) and all(
        any(mean_the_same(one, other) for other in a) for one in b
    )


def mean_the_same(value: str, other: str) -> bool:
    """``128.0 MiB`` is ``134217728B``, ``976.5 KiB`` may be ``1000000B``, ``on`` is ``TRUE``. A
    number without a unit is in that of its setting, and ``MB`` is a thousand or 1024 ``kB``: these
    are compared among themselves alone."""
    left, right = (
        _TRUTH.get(text.strip().lower(), text.strip().lower()) for text in (value, other)
    )
    if left == right:
        return True
    if _NUMBER.fullmatch(left) and _NUMBER.fullmatch(right):
        return Fraction(left) == Fraction(right)
    first, second = _bytes(left), _bytes(right)
    if first is None or second is None:
        return False
    apart = abs(first[0] - second[0])
    return apart == 0 or apart < max(first[1], second[1])


def _bytes(text: str) -> tuple[Fraction, Fraction] | None:
    """A size, and the last decimal place to which it was cut; 0: it is whole."""
    found = _BYTES.fullmatch(text)
    if found is None:
        return None
    whole, places, letter = found.groups()
    unit = Fraction(1 << 10 * _POWERS.get(letter or "", 0))
    size = Fraction(f"{whole}.{places or 0}") * unit
    return size, unit / 10 ** len(places) if places else Fraction(0)
