"""Takes the patterns of ``--only`` and a plan; returns the runs that they choose.

A pattern names a test, a system or a storage; ``*`` stands for any letters. Several patterns
separated by commas choose what any of them fits; each further ``--only`` narrows the choice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from assay.errors import ArgumentError
from assay.plan.values import Cell, Plan, PlannedRun
from assay.text.mentions import Mention, phrase

Patterns = Sequence[Sequence[str]]
"""Of each ``--only``, its patterns; none: all runs."""


def chosen(plan: Plan, patterns: Patterns) -> tuple[PlannedRun, ...]:
    """Raises `ArgumentError` where no run is left."""
    runs = plan.runs
    for one_of in patterns:
        fits = re.compile("|".join(map(_expression, one_of)), re.IGNORECASE)
        left = tuple(
            run for run in runs if any(fits.fullmatch(_typed(name)) for name in _names(run.cell))
        )
        known = list(dict.fromkeys(name for run in runs for name in _names(run.cell)))
        for pattern in one_of:
            # Each of them: a misspelt one would silently leave runs out.
            if not any(re.fullmatch(_expression(pattern), _typed(name), re.I) for name in known):
                raise ArgumentError(
                    phrase(
                        "{}: no run has a test, a system or a storage of this name",
                        Mention("only", pattern),
                    ),
                    hint=f"known: {', '.join(known)}",
                )
        runs = left
    return runs


def either(a: Patterns, b: Patterns) -> Patterns:
    """Those that choose what ``a`` or ``b`` chooses."""
    return tuple(tuple(dict.fromkeys((*one, *other))) for one in a for other in b)


def of_use(plan: Plan, patterns: Patterns) -> Patterns:
    """Those of which each fits a run, as may not be so of another plan than theirs."""
    found: Patterns = ()
    for one_of in patterns:
        with suppress(ArgumentError):
            chosen(plan, (*found, one_of))
            found = (*found, one_of)
    return found


def narrowed(plan: Plan, patterns: Patterns) -> Plan:
    """A plan of these runs alone."""
    runs = chosen(plan, patterns)
    return replace(plan, runs=tuple(replace(run, position=place) for place, run in enumerate(runs)))


def _names(cell: Cell) -> list[str]:
    system = [cell.system_label, cell.system.label, *cell.system.names]
    # A storage is chosen by the name that a file gives it, and by that with the note behind it.
    storage = [cell.storage_name, cell.storage_name.partition(" (")[0]]
    return [name for name in dict.fromkeys([cell.test_name, *system, *storage]) if name]


def _expression(pattern: str) -> str:
    return re.escape(_typed(pattern)).replace(r"\*", ".*")


def _typed(name: str) -> str:
    """With ``us`` for the ``µs`` that labels have, and few keyboards."""
    return name.replace("µs", "us").replace("μs", "us")
