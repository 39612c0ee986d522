"""Takes the summary of the only cell of an experiment; returns its lines: verdict, numbers, groups
of clients, errors and checks."""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.sections import check_counts
from assay.report.summaries import cell_summary, rate_words, verdict_lines
from assay.report.summaries.cell_summary import CellSummary
from assay.report.summaries.named_line import HEAD, named_line
from assay.text.cut import cut_within
from assay.text.visible import visible

_MOST_OF_A_CELL = ((4, 6), (4, 4), (4, 2), (4, 1), (2, 1))
"""(groups shown, lines of each text): the first that fits."""


def lines(cell: CellSummary, width: int, room: int, is_narrow: bool) -> list[str]:
    """In so many lines."""
    title = f"{cell.test}: {cell.name}{cell_summary.repetitions([cell])}"
    for groups, most in _MOST_OF_A_CELL:
        shown = [
            cut_within(title, width) if is_narrow else visible(title),
            *verdict_lines.of_one(cell.verdict, width, most),
            *(
                one
                for name, text in cell.numbers
                for one in named_line(name, text, width, most=most)
            ),
            *named_line("headline", cell.headline, width, most=most),
            *(
                line
                for title, number in cell.derived
                for line in named_line("derived", f"{title} {number}", width, most=most)
            ),
            *named_line("limits", cell.response_limits, width, most=most),
            *named_line(rate_words.TITLE, rate_words.said([cell]), width, most=most),
            *_groups(cell, width, groups),
            *named_line("deferred", cell.deferred, width, most=most),
            *named_line("server", cell.server, width, most=most),
            *named_line(
                "durability", "" if cell.durability == "-" else cell.durability, width, most=1
            ),
            *named_line("device", cell.device, width, most=most),
            *named_line("errors", cell_summary.errors(cell.runs), width, most=most),
            *named_line("checks", check_counts.words(cell.runs), width, most=most),
        ]
        if len(shown) <= room:
            break
    return shown


def _groups(cell: CellSummary, width: int, most: int) -> list[str]:
    shown = [
        line
        for name, texts in cell.groups[:most]
        for line in named_line(f"  {name}", _that_fits(texts, width - HEAD), width, most=1)
    ]
    left_out = len(cell.groups) - most
    return [*shown, *([f"  and {left_out} more groups"] if left_out > 0 else [])]


def _that_fits(texts: Sequence[str], width: int) -> str:
    """The first of them; the last one if none fits."""
    return next((text for text in texts if len(text) <= width), texts[-1])
