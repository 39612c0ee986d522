"""Takes the summaries of several cells; returns a table with a line for each.

On a terminal that is too narrow for their names, what the names share stands once above them, and
columns with the same value for all cells are left out: the lines below the table have it.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.cells import durability
from assay.report.summaries import cell_summary
from assay.report.summaries.cell_summary import CellSummary
from assay.text import display_width
from assay.text.cut import cut, cut_within
from assay.text.visible import visible

_BETWEEN = "  "
_SAID_BELOW = ("failed", "verdict", cell_summary.DURABILITY, cell_summary.DEVICE_READS)
"""Columns that may be left out, in this order."""


def lines(found: Sequence[CellSummary], width: int, is_narrow: bool) -> list[str]:
    """``is_narrow``: none is wider than ``width``; else the names stay whole in longer lines."""
    tests = {cell.test for cell in found}
    repetitions = cell_summary.repetitions(found)
    head = (found[0].test if len(tests) == 1 else "cell") + repetitions
    names = [cell.name if len(tests) == 1 else f"{cell.test}: {cell.name}" for cell in found]
    columns = _columns(found)
    if not is_narrow or _width([head, *names], columns) <= width:
        return _aligned([head, *names], columns, None)
    shared, own = _apart(names)
    if shared:
        title, names = f"{head if len(tests) == 1 else f'cells{repetitions}'}: {shared}", own
    else:
        title = head
    for name in _SAID_BELOW:
        values = columns.get(name, [])
        if _width(names, columns) > width and len(set(values)) == 1:
            del columns[name]
    shown = _aligned(["", *names], columns, width)
    return [cut(title, width), *(cut(line, width) for line in shown)]


def _columns(found: Sequence[CellSummary]) -> dict[str, list[str]]:
    """Title → the value of each cell."""
    *titles, last = cell_summary.COLUMNS
    columns = {title: [cell.columns[place] for cell in found] for place, title in enumerate(titles)}
    if any(cell.unknown not in (cell_summary.ABSENT, "0") for cell in found):
        columns[cell_summary.UNKNOWN] = [cell.unknown for cell in found]
    if any(cell.has_elapsed_alone for cell in found):
        columns = {cell_summary.ELAPSED: [cell.elapsed for cell in found], **columns}
    if any(cell.has_device_reads for cell in found):
        columns[cell_summary.DEVICE_READS] = [cell.device_reads for cell in found]
    if any(cell.durability not in ("-", durability.NONE) for cell in found):
        columns[cell_summary.DURABILITY] = [cell.durability for cell in found]
    columns[last] = [cell.columns[-1] for cell in found]
    return columns


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


def _width(names: Sequence[str], columns: dict[str, list[str]]) -> int:
    return max(display_width.width(visible(name)) for name in names) + _of_columns(columns)


def _of_columns(columns: dict[str, list[str]]) -> int:
    widest = (max(map(display_width.width, (title, *values))) for title, values in columns.items())
    return sum(len(_BETWEEN) + one for one in widest)


def _aligned(names: Sequence[str], columns: dict[str, list[str]], width: int | None) -> list[str]:
    """The first name heads the others; the last column is the only one of text."""
    shown = [visible(name) for name in names]
    size = max(map(display_width.width, shown))
    if width is not None:
        size = min(size, max(len("cell"), width - _of_columns(columns)))
    found = [display_width.left(cut_within(name, size), size) for name in shown]
    for title, values in columns.items():
        cells = list(map(visible, (title, *values)))
        widest = max(map(display_width.width, cells))
        filled = display_width.left if title == cell_summary.COLUMNS[-1] else display_width.right
        found = [
            f"{line}{_BETWEEN}{filled(cell, widest)}"
            for line, cell in zip(found, cells, strict=True)
        ]
    return [line.rstrip() for line in found]
