"""Takes docs/concepts/glossary.md; returns its identifiers, and the words that it replaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "concepts" / "glossary.md"
TEXT, NAMES, TYPES = "text", "names", "types and files"


@dataclass(frozen=True)
class Replaced:
    """A word or phrase of a "do not say" column."""

    words: str
    say: str
    held_in: frozenset[str]


def identifiers() -> list[str]:
    """How the terms are spelled in the program."""
    cells = [cells[2] for cells in _rows("identifier")]
    return [word for cell in cells for word in re.findall(r"`(\w+)`", cell)]


def replaced() -> list[Replaced]:
    """The "do not say" words of both tables."""
    # A phrase can be looked for in text; a single word such as "case" has other meanings there.
    terms = [
        Replaced(
            words, cells[0].replace("*", ""), frozenset({NAMES, TEXT} if " " in words else {NAMES})
        )
        for cells in _rows("identifier")
        for words in _listed(cells[3])
    ]
    plain = [
        Replaced(words, cells[1], frozenset(_listed(cells[2])))
        for cells in _rows("held in")
        for words in _listed(cells[0])
    ]
    return terms + plain


def _listed(cell: str) -> list[str]:
    cells = cell.replace("-", " ").lower().split(",")
    return [words.strip() for words in cells if words.strip()]


def _rows(heading: str) -> Iterator[list[str]]:
    """The cells of each row of the table that has a column of that heading."""
    is_within = False
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            is_within = False
        elif heading in cells:
            is_within = True
        elif is_within and not set(line) <= set("|-"):
            yield cells
