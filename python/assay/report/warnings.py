"""Takes the warnings of many runs; returns each kind once, with its cause and its fix."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from assay.judge import RunWarning
from assay.judge.kinds import Kind, WarningText
from assay.report.values import WarningNote

_DETAILS_SHOWN = 4


def notes(warnings: Iterable[RunWarning], limits: Collection[str]) -> tuple[WarningNote, ...]:
    """The warnings of many runs, which end by these ``limits``, each kind once. Kinds that this
    version does not know come last, without cause and fix."""
    details: dict[str, list[str]] = {}
    for name, detail in warnings:
        details.setdefault(name, []).append(detail)
    kinds = {kind.id: kind.value for kind in Kind}
    ordered = [name for name in kinds if name in details]
    ordered += [name for name in details if name not in kinds]
    return tuple(
        WarningNote(name, text.cause, _distinct(details[name]), text.fix_of(limits))
        for name in ordered
        for text in [kinds.get(name, WarningText("", ""))]
    )


def _distinct(details: Iterable[str]) -> tuple[str, ...]:
    """The first few distinct details, and the number of the others."""
    distinct = list(dict.fromkeys(detail for detail in details if detail))
    more = len(distinct) - _DETAILS_SHOWN
    return (*distinct[:_DETAILS_SHOWN], *([f"and {more} more"] if more > 0 else []))
