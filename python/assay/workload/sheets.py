"""Takes ``[[sheets]]`` of a workload file; returns the tables that reports show as they stand: how
far a test is from its standard, say.

    [[sheets]]
    title = "How far it is from TPC-C"
    file = "README.md"

The table is the first one below that heading, in Markdown: people read it in the file as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from assay.contracts.recorded import SheetRecord
from assay.errors import ExperimentError
from assay.text.files import text_file
from assay.text.files.toml_file import TomlTable

if TYPE_CHECKING:
    from markdown_it.token import Token

_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")


def read(sections: list[TomlTable], folder: Path) -> tuple[SheetRecord, ...]:
    """Raises `ExperimentError` with the line."""
    return tuple(_sheet(section, folder) for section in sections)


def _sheet(section: TomlTable, folder: Path) -> SheetRecord:
    title, name = section.text("title"), section.text("file")
    section.done()
    file = folder / name
    if ".." in file.parts[len(folder.parts) :] or Path(name).is_absolute() or not file.is_file():
        raise section.error(f"there is no file {name!r} in the workload's folder", "file")
    text = text_file.read(file, ExperimentError)
    tokens = _tokens(text)
    if title not in (_heading(tokens, at) for at in range(len(tokens))):
        raise section.error(
            f"{name} has no heading {title!r}", "title", hint=f"write ## {title} above the table"
        )
    rows = _first_table(tokens, title)
    if len(rows) < 2:
        raise section.error(
            f"there is no table below {title!r} in {name}", "title",
            hint="write a line of headings, the rule below it, and a line for each row",
        )  # fmt: skip
    columns, lines = rows[0], text.splitlines()
    for row in rows:
        # Markdown itself fills a short row, and cuts a long one.
        assert row[0].map is not None
        written = lines[row[0].map[0]].strip().removeprefix("|")
        cells = _BETWEEN_CELLS.split(re.sub(r"(?<!\\)\|$", "", written))
        if len(cells) != len(columns) - 1:
            raise section.error(
                f"the row {cells[0].strip()!r} in {name} has {len(cells)} cells: "
                f"expected {len(columns) - 1}",
                "file",
            )
    shown = [[_plain(cell) for cell in row[1:]] for row in rows]
    return {"title": title, "columns": shown[0], "rows": shown[1:]}


@lru_cache(maxsize=8)
def _tokens(text: str) -> Sequence[Token]:
    """What is in a fence of code or in a comment is neither a heading nor a table. Who has a
    workload checked while it is written has its page read again and again."""
    from markdown_it import MarkdownIt  # most workloads have no sheet, and start sooner without it

    return MarkdownIt("commonmark").enable("table").parse(text)


def _heading(tokens: Sequence[Token], at: int) -> str | None:
    return _plain(tokens[at + 1]) if tokens[at].type == "heading_open" else None


def _first_table(tokens: Sequence[Token], title: str) -> list[list[Token]]:
    """Its rows, each the token that opens it and those of its cells; none where there is no table
    before the next heading."""
    places = dropwhile(lambda at: _heading(tokens, at) != title, range(len(tokens)))
    next(places)
    own = [tokens[at] for at in takewhile(lambda at: _heading(tokens, at) is None, places)]
    table = [*dropwhile(lambda token: token.type != "table_open", own)]
    above = own[: len(own) - len(table)]
    if any(one.type == "inline" and one.content.startswith("|") for one in above):
        return []  # meant as the table, and none: a later one is not what was asked for
    rows: list[list[Token]] = []
    is_cell = False
    for token in takewhile(lambda token: token.type != "table_close", table):
        if token.type == "tr_open":
            rows.append([token])
        elif token.type == "inline" and is_cell:
            rows[-1].append(token)
        is_cell = token.type in ("th_open", "td_open")
    return rows


def _plain(inline: Token) -> str:
    """Without the marks of code and emphasis, and without the targets of links."""
    return "".join(part.content for part in inline.children or () if part.type != "html_inline")
