"""Takes ``[[sheets]]`` of a workload file; returns the tables that reports show as they stand: how
far a test is from its standard, say.

    [[sheets]]
    title = "How far it is from TPC-C"
    file = "README.md"

The table is the first one below that heading, in Markdown: people read it in the file as well.
"""

from __future__ import annotations

import re
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import NamedTuple

from assay.contracts.recorded import SheetRecord
from assay.errors import ExperimentError
from assay.text.files import text_file
from assay.text.files.toml_file import TomlTable

_HEADING = re.compile(r"#+\s+(?P<title>.*?)\s*#*")
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|(\s*:?-+:?\s*\|)+")


class Sheet(NamedTuple):
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def for_record(self) -> SheetRecord:
        return {
            "title": self.title,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
        }


def read(sections: list[TomlTable], folder: Path) -> tuple[Sheet, ...]:
    """Raises `ExperimentError` with the line."""
    return tuple(_sheet(section, folder) for section in sections)


def _sheet(section: TomlTable, folder: Path) -> Sheet:
    title, name = section.text("title"), section.text("file")
    section.done()
    if not (folder / name).is_file():
        raise section.error(f"there is no file {name!r} in the workload's folder", "file")
    lines = text_file.read(folder / name, ExperimentError).splitlines()
    below = list(dropwhile(lambda line: _heading(line) != title, lines))[1:]
    if title not in map(_heading, lines):
        raise section.error(
            f"{name} has no heading {title!r}", "title", hint=f"write ## {title} above the table"
        )
    own = takewhile(lambda line: _heading(line) is None, below)
    from_table = dropwhile(lambda line: not line.startswith("|"), own)
    table = list(takewhile(lambda line: line.startswith("|"), from_table))
    if len(table) < 3 or not _RULE.fullmatch(table[1].strip()):
        raise section.error(
            f"there is no table below {title!r} in {name}", "title",
            hint="write a line of headings, the rule below it, and a line for each row",
        )  # fmt: skip
    columns, _, *rows = map(_cells, table)
    for row in rows:
        if len(row) != len(columns):
            raise section.error(
                f"the row {row[0]!r} in {name} has {len(row)} cells: expected {len(columns)}",
                "file",
            )
    return Sheet(title, columns, tuple(rows))


def _heading(line: str) -> str | None:
    found = _HEADING.fullmatch(line)
    return found["title"] if found else None


def _cells(line: str) -> tuple[str, ...]:
    """Without the marks of code and emphasis, which are no part of a text elsewhere."""
    _, *cells, _ = _BETWEEN_CELLS.split(line.strip())
    return tuple(re.sub(r"[`*]", "", cell).replace("\\|", "|").strip() for cell in cells)
