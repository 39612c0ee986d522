"""Takes the warnings of the runs that have ended, and those of the run under way; returns them as
the live page lists them: in the order, and with the words, in which a report has them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from assay.judge.warnings.kinds import texts
from assay.record.progress.under_way import KeptWarning
from assay.text.reasons import sentence
from assay.text.secrets import without_secrets
from assay.text.visible import visible

_MOST_DETAILS = 4
"""Of a warning; the report has all."""


class WarningLine(msgspec.Struct, frozen=True):
    """Of all runs that have it."""

    name: str
    cause: str
    runs: tuple[int, ...]
    """The 1-based places of its runs in the plan."""
    details: tuple[str, ...]
    """Of the last runs."""
    is_under_way: bool
    """Whether the last of them is: what it says is of the seconds so far."""


def warning_lines(kept: Iterable[KeptWarning], arising: Iterable[KeptWarning]) -> list[WarningLine]:
    known = texts()
    found: dict[str, list[KeptWarning]] = {}
    under_way = list(arising)
    for one in [*kept, *under_way]:
        found.setdefault(one.name, []).append(one)
    ordered = [name for name in known if name in found]
    names = {one.name for one in under_way}
    return [
        WarningLine(
            name,
            known[name].cause if name in known else "",
            tuple(dict.fromkeys(one.position + 1 for one in found[name])),
            tuple(dict.fromkeys(shown_line(one.detail) for one in found[name][-_MOST_DETAILS:])),
            name in names,
        )
        for name in [*ordered, *(name for name in found if name not in known)]
    ]


def shown_line(text: str) -> str:
    return visible(without_secrets(sentence(text)))
