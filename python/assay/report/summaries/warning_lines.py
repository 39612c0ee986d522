"""Takes the warnings of a report; returns the lines of as many as there is room for, and the names
of the others."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.report.summaries.named_line import named_line
from assay.report.values import WarningNote


def lines(warnings: Sequence[WarningNote], room: int, width: int) -> list[str]:
    """As many as there is room for, in the order of the report: with cause, detail and fix,
    or without the cause; the rest by name."""
    shown: list[str] = []
    left_out: list[str] = []
    for place, warning in enumerate(warnings, 1):
        fix = named_line("", f"fix: {warning.fix}", width) if warning.fix else []
        first = _first(warning)
        forms = [
            [*named_line("warning", f"{warning.name}: {words}", width), *fix]
            for words in (first.sentence, "; ".join(first.details))
            if words
        ]
        # Lines are kept for the names of those left out.
        others = named_line(
            "also", ", ".join([*left_out, *(one.name for one in warnings[place:])]), width
        )
        most = room - len(shown) - len(others)
        text = next((text for text in forms if len(text) <= most), None)
        if text is None:
            left_out.append(warning.name)
        else:
            shown += text
    named = _named(left_out, "also" if shown else "warnings", width, max(1, room - len(shown)))
    return [*shown, *named]


def _named(names: Sequence[str], head: str, width: int, room: int) -> list[str]:
    """The names, none of them cut; as many as there is room for, and the number of the others."""
    for number in range(len(names), 0, -1):
        more = f" and {len(names) - number} more" if number < len(names) else ""
        found = named_line(head, ", ".join(names[:number]) + more, width)
        if len(found) <= room:
            return found
    return named_line(head, f"{len(names)} of them" if names else "", width, most=1)


def _first(warning: WarningNote) -> WarningNote:
    """With the first of its details; the report has more of them."""
    more = len(warning.details) - 1
    if more < 1:
        return warning
    return replace(warning, details=(warning.details[0], f"and {more} more"))
