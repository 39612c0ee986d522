"""Takes the runs of two sides; gives what one writes, flushes or checks otherwise than the other
for the same work, in the words of their systems and storages; and says it in a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from assay.comparison.sides.values import Difference, joined
from assay.contracts.safeguards import Safeguard
from assay.record import RunRecord

SAFEGUARD, INDEXES = "safeguard", "indexes"
"""Kinds of differences that change the work, and leave a verdict."""
_NOTHING = re.compile(r"(?P<verb>\w+) no (?P<thing>.+)")
"""What a system does not do at all."""
OF_INDEXES = "indexes of "
"""Begins the name of such a difference; the table follows."""


def differing(
    a: Sequence[RunRecord], b: Sequence[RunRecord], *, with_settings: bool
) -> Iterator[Difference]:
    """Of each kind that is known of both sides. ``with_settings``: behind the words, those that say
    so (``log_bin = ON``)."""
    of_a, of_b = (_by_kind(runs) for runs in (a, b))
    for kind in (kind for kind in of_a if kind in of_b):
        left, right = of_a[kind], of_b[kind]
        if {one.does for one in left} != {one.does for one in right}:
            yield Difference(
                SAFEGUARD, kind, *(_words(found, with_settings) for found in (left, right))
            )


def index_words(difference: Difference) -> tuple[Sequence[str], Sequence[str]]:
    """The indexes that A alone has, and those that B alone has."""
    of_a, of_b = (side.split("; ") for side in (difference.a, difference.b))
    return _alone(of_a, of_b), _alone(of_b, of_a)


def _alone(own: Sequence[str], other: Sequence[str]) -> list[str]:
    return [one for one in own if one not in other and one != "none"]


def clauses(named: Iterable[tuple[str, str, Difference]]) -> list[str]:
    """``A writes and flushes a binary log, B writes none``: a clause for each kind. ``named``: what
    the sides are called, and in what they differ."""
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
    return [*map(_clause, by_kind.values()), *of_indexes]


def _clause(by_name: dict[str, str]) -> str:
    """What is done first, then what is not."""
    others = [*by_name.values()]
    in_order = sorted(by_name, key=lambda name: bool(_NOTHING.fullmatch(by_name[name])))
    return ", ".join(f"{name} {_beside(by_name[name], others)}" for name in in_order)


def _beside(does: str, others: Sequence[str]) -> str:
    """``writes none``, where another one writes that thing."""
    found = _NOTHING.fullmatch(does)
    if found and any(found["thing"] in other for other in others if other != does):
        return f"{found['verb']} none"
    return does


def _by_kind(runs: Iterable[RunRecord]) -> dict[str, list[Safeguard]]:
    """Those of the system, then those of the storages that it is on."""
    found: dict[str, list[Safeguard]] = {}
    for deployment in filter(None, (run.deployment for run in runs)):
        storages = (one for storage in deployment.all_storages for one in storage.safeguards)
        for one in (*deployment.safeguards, *storages):
            if one not in found.setdefault(one.kind, []):
                found[one.kind].append(one)
    return found


def _words(found: Iterable[Safeguard], with_settings: bool) -> str:
    return joined(
        f"{one.does} ({', '.join(one.settings)})" if with_settings and one.settings else one.does
        for one in found
    )
