"""Takes the summaries of several cells; returns a table with a line for each, and a bar beside the
number by which they are compared.

What all cells share stands once above them. What varies has a column each; where these are too
wide, a cell has its name instead. Columns with the same value for all cells are left out: the lines
around the table have it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.contracts import factors
from assay.plan import cell_names
from assay.report.cells import cold, durability
from assay.report.summaries import cell_summary
from assay.report.summaries.cell_summary import CellSummary
from assay.text import display_width, terminal_lines
from assay.text.cut import cut, cut_within
from assay.text.terminal_lines import BETWEEN
from assay.text.visible import visible

_SAID_AROUND = ("failed", "verdict")
"""Columns that are left out where all cells have the same."""
_SAID_BELOW = (cell_summary.DURABILITY, cell_summary.DEVICE_READS)
"""Further ones that may be, where there is little room."""
_LEAST_BAR, _MOST_BAR = 8, 24
"""Characters."""
_BAR = "bar"
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def lines(summaries: Sequence[CellSummary], width: int, is_narrow: bool) -> list[str]:
    """``is_narrow``: none is wider than ``width``; else the names stay whole in longer lines."""
    tests = {cell.test for cell in summaries}
    has_one_test = len(tests) == 1
    repetitions = cell_summary.repetitions(summaries)
    head = (summaries[0].test if has_one_test else "cells") + repetitions
    names = [cell.name if has_one_test else f"{cell.test}: {cell.name}" for cell in summaries]
    columns = _columns(summaries)
    shared, own = _apart(names)
    labels = _by_factor(summaries) if has_one_test else None
    if labels is None or _of_columns(labels) - BETWEEN + _of_columns(columns) > width:
        labels = {"": own if shared else names}
    if is_narrow:
        for name in _SAID_BELOW:
            values = columns.get(name, [])
            too_wide = _of_columns(labels) - BETWEEN + _of_columns(columns) > width
            if too_wide and len(set(values)) == 1:
                del columns[name]
    title = f"{head}: {shared}" if shared else head
    room = width - (_of_columns(labels) - BETWEEN + _of_columns(columns) + BETWEEN)
    shown = _aligned(labels, _with_bars(summaries, columns, room), width if is_narrow else None)
    if not is_narrow:
        return [visible(title), *shown]
    return [cut(title, width), *(cut(line, width) for line in shown)]


def _columns(summaries: Sequence[CellSummary]) -> dict[str, list[str]]:
    """Title → the value of each cell."""
    *titles, last = cell_summary.COLUMNS
    columns = {
        title: [cell.columns[place] for cell in summaries] for place, title in enumerate(titles)
    }
    asked = [cell.goal_column for cell in summaries if cell.goal_column]
    if asked:
        shown = [cell.goal_column[1] if cell.goal_column else "" for cell in summaries]
        columns = _behind(columns, "p99", asked[0][0], shown)
    if any(cell.first for cell in summaries):
        of_cold = {
            cold.FIRST: [cell.first for cell in summaries],
            cold.WARM_AFTER: [cell.warm_after for cell in summaries],
        }
        if all(cell.first for cell in summaries):
            del columns[titles[0]]
        columns = {**of_cold, **columns}
    of_headlines = {cell.headline_column[0] for cell in summaries if cell.headline_column}
    if len(of_headlines) == 1 and len({cell.test for cell in summaries}) == 1:
        rates = [cell.headline_column for cell in summaries]
        shown = [cell_summary.ABSENT if one is None else one[1] for one in rates]
        columns = {of_headlines.pop(): shown, **columns}
    if any(cell.unknown not in (cell_summary.ABSENT, "0") for cell in summaries):
        columns[cell_summary.UNKNOWN] = [cell.unknown for cell in summaries]
    if any(cell.has_elapsed_alone for cell in summaries):
        columns = {cell_summary.ELAPSED: [cell.elapsed for cell in summaries], **columns}
    if any(cell.has_device_reads for cell in summaries):
        columns[cell_summary.DEVICE_READS] = [cell.device_reads for cell in summaries]
    if any(cell.durability not in ("-", durability.NONE) for cell in summaries):
        columns[cell_summary.DURABILITY] = [cell.durability for cell in summaries]
    columns[last] = [cell.columns[-1] for cell in summaries]
    for name in _SAID_AROUND:
        if len(set(columns[name])) == 1 and columns[name][0] in _NOTHING_TO_ADD.get(name, ()):
            del columns[name]
    return columns


def _behind(
    columns: dict[str, list[str]], before: str, title: str, shown: list[str]
) -> dict[str, list[str]]:
    made = {}
    for name, values in columns.items():
        made[name] = values
        if name == before:
            made[title] = shown
    return made


_NOTHING_TO_ADD = {"failed": ("0",), "verdict": ("valid", "indicative", "invalid")}
"""Values that are said of all cells together."""


def _by_factor(summaries: Sequence[CellSummary]) -> dict[str, list[str]] | None:
    """A column for each factor that varies; None where they do not tell all cells apart."""
    every = dict.fromkeys(name for cell in summaries for name in cell.levels)
    columns = {}
    for name in every:
        levels = [cell.levels.get(name) for cell in summaries]
        if len(set(levels)) > 1:
            texts = ["" if one is None else cell_names.level_text(one) for one in levels]
            columns[factors.brief_heading(name)] = texts
    rows = list(zip(*columns.values(), strict=True))
    return columns if len(set(rows)) == len(summaries) else None


def _with_bars(
    summaries: Sequence[CellSummary], columns: dict[str, list[str]], room: int
) -> dict[str, list[str]]:
    """With a bar from 0 behind the column by which the cells are compared, if all are compared by
    the same one and there is room."""
    size = min(_MOST_BAR, room)
    titles = {cell.bar[0] for cell in summaries if cell.bar}
    title = titles.pop() if len(titles) == 1 else ""
    values = [cell.bar[1] if cell.bar else 0.0 for cell in summaries]
    if title not in columns or size < _LEAST_BAR or not max(values, default=0) > 0:
        return columns
    shown = [_bar(value / max(values), size) for value in values]
    made = {}
    for name, texts in columns.items():
        made[name] = texts
        if name == title:
            made[_BAR] = shown
    return made


def _bar(share: float, size: int) -> str:
    """Of so many characters at most; what is not nothing has an eighth of one."""
    eighths = math.ceil(share * size * 8 - 1e-9)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def _apart(names: Sequence[str]) -> tuple[str, list[str]]:
    """What all names share, and the rest of each; nothing where their parts do not correspond."""
    parts = [name.split(", ") for name in names]
    if len(set(map(len, parts))) > 1:
        return "", list(names)
    is_shared = [len(set(level)) == 1 for level in zip(*parts, strict=True)]
    shared = [part for part, same in zip(parts[0], is_shared, strict=True) if same]
    own = [
        ", ".join(part for part, same in zip(one, is_shared, strict=True) if not same)
        for one in parts
    ]
    return ", ".join(shared), own


def _of_columns(columns: dict[str, list[str]]) -> int:
    return sum(
        BETWEEN + max(display_width.width(visible(cell)) for cell in (title, *values))
        for title, values in columns.items()
    )


def _aligned(
    labels: dict[str, list[str]], columns: dict[str, list[str]], width: int | None
) -> list[str]:
    """Numbers to the right, texts to the left; a single column of names is cut where a ``width`` is
    given."""
    given = {**{f"{title}\0": values for title, values in labels.items()}, **columns}
    columns_of_cells, widths, is_right = [], [], []
    for key, values in given.items():
        is_label = key.endswith("\0")
        title = "" if key == _BAR else key.removesuffix("\0")
        cells = list(map(visible, (title, *values)))
        size = max(map(display_width.width, cells))
        if is_label and len(labels) == 1 and width is not None:
            size = min(size, max(len("cell"), width - _of_columns(columns)))
            cells = [cut_within(cell, size) for cell in cells]
        is_text = key in (cell_summary.COLUMNS[-1], _BAR) or (is_label and not _are_numbers(values))
        columns_of_cells.append([(cell,) for cell in cells])
        widths.append(size)
        is_right.append(not is_text)
    rows = zip(*columns_of_cells, strict=True)
    return list(terminal_lines.table_lines(rows, widths, is_right))


def _are_numbers(values: Sequence[str]) -> bool:
    return all(value.replace(".", "", 1).isdecimal() for value in values if value)
