"""Takes rows of named values; writes them as a table, JSON, CSV or Markdown."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TextIO

from assay.contracts.factors import Scalar
from assay.text import table_forms, terminal
from assay.text.table_forms import BETWEEN, whole_table
from assay.text.terminal import line_width, visible, visible_lines

CellValue = (
    Scalar | Sequence[str] | Sequence[int] | Mapping[str, Scalar | Sequence[str] | None] | None
)
Row = Mapping[str, CellValue]
"""Values as they are, with their types; None or an empty text: there is none."""


def write(
    rows: Sequence[Row],
    columns: Sequence[str],
    form: str,
    stream: TextIO,
    *,
    width: int | None = None,
    optional: Collection[str] = (),
) -> None:
    """Writes ``columns`` of the rows in the format ``form``; JSON has all of each row. ``width``:
    of a table where the stream has none; None: as wide as it has to be. ``optional``: columns that
    a table may do without on a narrow terminal, in this order."""
    if form == "table":
        _table(rows, columns, stream, width, optional)
    else:
        FORMS[form](rows, columns, stream)


def _table(
    rows: Sequence[Row],
    columns: Sequence[str],
    stream: TextIO,
    width: int | None = None,
    optional: Collection[str] = (),
) -> None:
    cells = [[shown(row.get(column)) for column in columns] for row in rows]
    is_number = [_is_number([row.get(column) for row in rows]) for column in columns]
    for line in row_table_lines(
        columns, cells, is_number, line_width(stream) or width, optional=optional
    ):
        stream.write(line + "\n")


def _is_number(values: Sequence[object]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float) for value in known)


def _markdown(rows: Sequence[Row], columns: Sequence[str], stream: TextIO) -> None:
    cells = ([shown(row.get(column)) for column in columns] for row in rows)
    for line in table_forms.markdown_lines(columns, cells):
        stream.write(f"{line}\n")


def _csv(rows: Sequence[Row], columns: Sequence[str], stream: TextIO) -> None:
    fields = ([_text(row.get(column)) for column in columns] for row in rows)
    table_forms.write_csv(stream, columns, fields)


def _json(rows: Sequence[Row], _columns: Sequence[str], stream: TextIO) -> None:
    write_json([{key: _plain(value) for key, value in row.items()} for row in rows], stream)


def _plain(value: object) -> object:
    """What is not known, or not there, is null."""
    return None if value == "" else value


def write_json(document: object, stream: TextIO) -> None:
    """Writes a document as JSON; control characters become its own escapes."""
    text = json.dumps(document, ensure_ascii=False, indent=2, default=str)
    stream.write(visible_lines(text) + "\n")


def shown(value: object) -> str:
    """The value on one line of a table."""
    if isinstance(value, bool):
        return _level(value)
    return visible(" ".join(_text(value).splitlines()))


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, Mapping):
        return " ".join(f"{key}={_level(level)}" for key, level in value.items())
    return str(value)


def _level(level: object) -> str:
    """``10``, ``yes``: as it is written on a command line."""
    if isinstance(level, bool):
        return "yes" if level else "no"
    return _text(level).removesuffix(".0") if isinstance(level, float) else _text(level)


FORMS: Mapping[str, Callable[[Sequence[Row], Sequence[str], TextIO], None]] = {
    "table": _table,
    "json": _json,
    "csv": _csv,
    "markdown": _markdown,
}


def local_time(unix_ns: int | None) -> str:
    """``2026-11-22 21:15:02``; empty where there is none."""
    if unix_ns is None:
        return ""
    return datetime.fromtimestamp(unix_ns / 1e9).astimezone().strftime("%Y-%m-%d %H:%M:%S")


# Takes rows of texts and the width of a terminal; returns lines in which columns are aligned.
#
# Where they do not fit, what all rows share is said once above them; then cells are wrapped
# between words, then columns are left out that the caller can do without, then words are broken
# behind signs; where even that is too wide, each row becomes a block with a line for each of its
# columns.

_LEAST_OF_TEXT = 10
"""A column is not wrapped to less than this."""
_BREAKS = ("|,=", "-/._")
"""Behind these a word may be broken that is longer than its column: the first of them first."""
_LONGEST_PART = 24
"""What is longer without such a sign, a digest for example, may be broken anywhere."""
_WORDS = re.compile(r"\s+")
_PARTS = re.compile(rf"\s+|(?<=[{re.escape(''.join(_BREAKS))}])")
_PARTS_OF_A_HEADING = re.compile(r"\s+|(?<=_)")

Columns = list[tuple[str, list[str], bool]]
"""(heading, cells, whether they are numbers) of each."""


def row_table_lines(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    is_number: Sequence[bool],
    width: int | None,
    *,
    optional: Collection[str] = (),
) -> Iterator[str]:
    """``width`` None: as wide as it has to be. ``optional``: headings of columns that may be left
    out, in this order."""
    cells = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in headings]
    columns = list(zip(headings, cells, is_number, strict=True))
    full = [_size(column) for column in columns]
    if width is None or not rows or whole_table(full) <= width:
        yield from _row_table(columns, full)
        return
    shared, columns = _apart(columns, len(rows))
    if shared:
        yield from textwrap.wrap(f"in all rows: {'; '.join(shared)}", width, break_on_hyphens=False)
        yield ""
    for ends in (_WORDS, _PARTS):
        for number in range(len(optional) + 1):
            left_out = list(optional)[:number]
            kept = [column for column in columns if column[0] not in left_out]
            if (widths := _widths(kept, width, ends)) is not None:
                yield from _row_table(kept, widths)
                return
    names = [heading for heading, _, _ in columns]
    yield from _blocks(names, [*zip(*(cells for _, cells, _ in columns), strict=True)], width)


def _apart(columns: Columns, rows: int) -> tuple[list[str], Columns]:
    """What several rows share, and the columns in which they differ; the first always stays."""
    first, *others = columns
    same = [column for column in others if rows > 1 and len(set(column[1])) == 1]
    shared = [f"{heading} {cells[0]}" for heading, cells, _ in same if cells[0]]
    return shared, [first, *(column for column in others if column not in same)]


def _size(column: tuple[str, list[str], bool]) -> int:
    return max(map(terminal.display_width, (column[0], *column[1])))


def _widths(columns: Columns, width: int, ends: re.Pattern[str]) -> list[int] | None:
    """Texts may be wrapped at ``ends``. None where they cannot be made to fit."""
    widths = [_size(column) for column in columns]
    least = [_least(column, ends) for column in columns]
    if _size(columns[0]) <= width // 2:  # what a row is about stays whole
        least[0] = widths[0]
    while whole_table(widths) > width:
        room = [size - one for size, one in zip(widths, least, strict=True)]
        if not any(room):
            return None
        widest = max(range(len(widths)), key=lambda place: (bool(room[place]), widths[place]))
        widths[widest] -= 1
    return widths


def _least(column: tuple[str, list[str], bool], ends: re.Pattern[str]) -> int:
    heading, cells, is_number = column
    # A single row with broken headings is harder to read than a block.
    head = max(map(len, _PARTS_OF_A_HEADING.split(heading) if len(cells) > 1 else [heading]))
    if is_number:
        return max(head, *map(terminal.display_width, cells))
    longest = max(terminal.display_width(part) for cell in cells for part in ends.split(cell))
    if ends is _PARTS:
        longest = min(longest, _LONGEST_PART)
    return min(_size(column), max(head, longest, _LEAST_OF_TEXT))


def _row_table(columns: Columns, widths: Sequence[int]) -> Iterator[str]:
    rows = zip(*([heading, *cells] for heading, cells, _ in columns), strict=True)
    wrapped = ([*map(_wrapped, row, widths)] for row in rows)
    yield from table_forms.table_lines(wrapped, widths, [one for _, _, one in columns])


def _blocks(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    names = max(map(terminal.display_width, headings))
    for place, row in enumerate(rows):
        if place:
            yield ""
        for heading, text in zip(headings, row, strict=True):
            found = _wrapped(text, max(_LEAST_OF_TEXT, width - names - BETWEEN))
            yield from table_forms.table_lines([([heading], found)], (names, 0), (False, False))


def _wrapped(text: str, width: int) -> list[str]:
    if terminal.display_width(text) <= width:
        return [text]
    return terminal.wrapped_to_columns(_Wrapper(width, break_on_hyphens=False), text) or [""]


class _Wrapper(textwrap.TextWrapper):
    """Breaks a long word behind a sign, where it has one."""

    def _handle_long_word(
        self, reversed_chunks: list[str], cur_line: list[str], cur_len: int, width: int
    ) -> None:
        word, room = reversed_chunks[-1], width - cur_len
        cuts = (max(word.rfind(sign, 0, room) for sign in signs) + 1 for signs in _BREAKS)
        cut = next(filter(None, cuts), 0)
        if not cut and cur_line:
            return
        cut = cut or room
        cur_line.append(word[:cut])
        reversed_chunks[-1] = word[cut:]
