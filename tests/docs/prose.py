"""Takes the text files of the project; returns where a phrase is in them, also across line ends."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from exceptions import FILE
from glossary import PAGE, ROOT
from names_in_code import source_files

PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")
SUFFIXES = {".py", ".pyi", ".rs", ".md", ".toml", ".sql", ".json", ".c", ""}
BETWEEN_LINES = re.compile(
    r'[ \t]*(?:\\|["\'])?\n[ \t]*(?:/{2,3}!?|#+|--|\*|>)?[ \t]*(?:[rf]?["\'])?'
)
"""A line end with the marks of comments and of texts in several parts."""


def files() -> Iterator[Path]:
    """Everything that people read, except the glossary and its exceptions."""
    yield from (ROOT / page for page in PAGES)
    yield from (
        path for path in sorted((ROOT / "docs").rglob("*")) if path.is_file() and path != PAGE
    )
    yield from (path for path in source_files() if path.suffix in SUFFIXES and path != FILE)


def found(path: Path, phrases: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """(line, phrase) of each place, in small letters and with single blanks."""
    text = path.read_text(encoding="utf-8")
    joined = BETWEEN_LINES.sub(lambda end: "\n".ljust(len(end[0])), text)
    joined = joined.encode().lower().decode()  # of ASCII alone, so that places stay what they are
    for place in phrases.finditer(joined):
        line = text.count("\n", 0, place.start()) + 1
        yield line, re.sub(r"[\s_-]+", " ", place[0]).lower()


def pattern(phrases: Collection[str]) -> re.Pattern[str]:
    """Any of them, whatever is between their words; to be looked for in small letters, as to ignore
    the case takes several times as long."""
    assert all(one == one.lower() for one in phrases), phrases
    either = "|".join(r"[\s_-]+".join(map(re.escape, one.split())) for one in phrases)
    return re.compile(rf"(?<![\w-])(?:{either})(?!\w)")
