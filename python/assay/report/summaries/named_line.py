"""Takes a name and a text; returns the lines that have them beside each other, in two columns."""

from __future__ import annotations

import textwrap

from assay.report.summaries.latency_words import TOGETHER
from assay.text import display_width, terminal_lines
from assay.text.cut import cut
from assay.text.visible import visible

HEAD = 13
"""Width of the names before the text of a line."""


def named_line(name: str, text: str, width: int, *, most: int = 99) -> list[str]:
    """The text beside its name, wrapped in its own column; at most ``most`` lines."""
    if not text:
        return []
    wrapper = textwrap.TextWrapper(max(20, width - HEAD), break_on_hyphens=False)
    found = display_width.wrapped(wrapper, visible(" ".join(text.split("\n"))))
    if len(found) > most:
        found = [*found[: most - 1], cut(" ".join(found[most - 1 :]), width - HEAD)]
    found = [one.replace(TOGETHER, " ") for one in found]
    head = cut(name, HEAD - 1)
    return list(terminal_lines.table_lines([([head], found)], (HEAD, 0), (False, False), 0))
