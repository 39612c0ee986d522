"""Takes the runs of two sides; gives what one writes, flushes or checks otherwise than the other
for the same work, in the words of their systems and storages; and says it in a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.comparison.sides.values import Difference, joined
from assay.contracts.safeguards import KINDS, Safeguard
from assay.record import Run

SAFEGUARD, INDEXES = "safeguard", "indexes"
"""Kinds of differences that change the work, and leave a verdict."""
_NOTHING = re.compile(r"(?P<verb>\w+) no (?P<thing>.+)")
"""What a system does not do at all."""
OF_INDEXES = "indexes of "
"""Begins the name of such a difference; the table follows."""


def differing(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Difference]:
    """In what they differ, with the settings that say so (``log_bin = ON``)."""
    for kind, left, right in _of_both(a, b):
        if {one.does for one in left} != {one.does for one in right}:
            yield Difference(SAFEGUARD, kind, _with_settings(left), _with_settings(right))


def known(a: Sequence[Run], b: Sequence[Run]) -> Iterator[Difference]:
    """All that is known of both, also what is the same, in words alone."""
    for kind, left, right in _of_both(a, b):
        yield Difference(SAFEGUARD, kind, *(joined(one.does for one in of) for of in (left, right)))


def _of_both(
    a: Iterable[Run], b: Iterable[Run]
) -> Iterator[tuple[str, list[Safeguard], list[Safeguard]]]:
    of_a, of_b = _by_kind(a), _by_kind(b)
    for kind in sorted((kind for kind in of_a if kind in of_b), key=_place):
        yield kind, of_a[kind], of_b[kind]


def _place(kind: str) -> int:
    """Those that another package has come last."""
    return KINDS.index(kind) if kind in KINDS else len(KINDS)


def index_words(difference: Difference) -> tuple[Sequence[str], Sequence[str]]:
    """The indexes that A alone has, and those that B alone has."""
    of_a, of_b = (side.split("; ") for side in (difference.a, difference.b))
    return _alone(of_a, of_b), _alone(of_b, of_a)


def _alone(own: Sequence[str], other: Sequence[str]) -> list[str]:
    return [one for one in own if one not in other and one != "none"]


def clauses(named: Iterable[tuple[str, str, Difference]]) -> list[str]:
    """``A writes and flushes a binary log, B writes none``: a clause for each kind in which not all
    are the same. ``named``: what the sides are called, and what is known of both."""
    by_kind: dict[str, dict[str, str]] = {}
    of_indexes: dict[str, None] = {}
    for name_a, name_b, one in named:
        if one.what == INDEXES:
            table = one.name.removeprefix(OF_INDEXES)
            of_a, of_b = index_words(one)
            for name, other, alone in ((name_a, name_b, of_a), (name_b, name_a, of_b)):
                of_indexes |= dict.fromkeys(
                    f"{name} has the index {index} of {table}, {other} does not" for index in alone
                )
        else:
            by_kind.setdefault(one.name, {}).update({name_a: one.a, name_b: one.b})
    several = (by_kind[kind] for kind in sorted(by_kind, key=_place))
    return [*filter(None, map(_clause, several)), *of_indexes]


def _clause(by_name: Mapping[str, str]) -> str:
    """What is done first, then what is not: ``A writes pages twice, B writes pages once``; of more
    than two, ``writes pages twice (A, C), writes pages once (B)``. Empty: all are the same."""
    names: dict[str, list[str]] = {}
    for name, does in by_name.items():
        names.setdefault(does, []).append(name)
    if len(names) < 2:
        return ""
    in_order = sorted(names, key=lambda does: bool(_NOTHING.fullmatch(does)))
    said = {does: _beside(does, in_order) for does in in_order}
    if len(by_name) == len(names) == 2:
        return ", ".join(f"{names[does][0]} {said[does]}" for does in in_order)
    return ", ".join(f"{said[does]} ({', '.join(names[does])})" for does in in_order)


def _beside(does: str, others: Sequence[str]) -> str:
    """``writes none``, where another one writes that thing."""
    found = _NOTHING.fullmatch(does)
    if found and any(found["thing"] in other for other in others if other != does):
        return f"{found['verb']} none"
    return does


def _by_kind(runs: Iterable[Run]) -> dict[str, list[Safeguard]]:
    """Those of the system, then those of the storages that it is on."""
    found: dict[str, list[Safeguard]] = {}
    for deployment in filter(None, (run.deployment for run in runs)):
        storages = (one for storage in deployment.all_storages for one in storage.safeguards)
        for one in (*deployment.safeguards, *storages):
            if one not in found.setdefault(one.kind, []):
                found[one.kind].append(one)
    return found


def _with_settings(safeguards: Iterable[Safeguard]) -> str:
    return joined(
        f"{one.does} ({', '.join(one.settings)})" if one.settings else one.does
        for one in safeguards
    )
