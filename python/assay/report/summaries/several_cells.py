"""Takes the summaries of several cells; returns their table, and what is said of all of them:
verdicts, errors and checks. Cells for which there is no room are counted."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Sequence

from assay.report.sections import check_counts
from assay.report.summaries import cell_summary, cell_table, rate_words, verdict_lines
from assay.report.summaries.cell_summary import CellSummary
from assay.report.summaries.named_line import named_line
from assay.text import display_width, units
from assay.text.visible import visible

_MOST_OF_A_VERDICT = 6
"""Lines, of many cells: reasons and their fixes are read before warnings."""
_LEAST_CELLS = 2


def lines(
    summaries: Sequence[CellSummary],
    width: int,
    room: int,
    is_narrow: bool,
    quoted: Collection[int],
) -> tuple[list[str], Sequence[CellSummary]]:
    """The table of the cells and what is said of all of them, in so many lines; and the cells of
    the table. Where there is no room for all cells, refused ones are left to the verdict, which
    counts them; those with ``quoted`` runs are kept before the others, then those whose number is
    not usable."""
    others = _others(summaries, width, room)
    asked = [cell for cell in summaries if not _is_left_out(cell)] or summaries
    fewer = range(min(len(asked), len(summaries) - 1), min(_LEAST_CELLS, len(asked)) - 1, -1)
    for number in (len(summaries), *fewer):
        is_whole = number == len(summaries)
        cells = summaries if is_whole else _chosen(asked, number, quoted)
        left_out = 0 if is_whole else len(asked) - number
        table = [*_cells(cells, width, is_narrow), *_rest(left_out)]
        if not is_whole or len(table) + len(others) + verdict_lines.LEAST > room:
            others = _others(summaries, width, 0)
        left = room - len(table) - len(others)
        if left >= (1 if verdict_lines.are_usable(summaries) else verdict_lines.LEAST):
            break
    verdicts = verdict_lines.of_several(summaries, width, max(1, min(_MOST_OF_A_VERDICT, left)))
    return [*verdicts, *table, *others], cells


def _cells(cells: Sequence[CellSummary], width: int, is_narrow: bool) -> list[str]:
    """A table of those with transactions; a paragraph for each of a test that has none, with what
    it measures instead."""
    if not any(cell.has_measured_alone for cell in cells):
        return [
            *cell_table.lines(cells, width, is_narrow),
            *named_line(*cell_summary.signs(cells), width),
        ]
    driven = [cell for cell in cells if cell.has_transactions]
    shown = _cells(driven, width, is_narrow) if driven else []
    for cell in cells:
        if cell.has_transactions:
            continue
        named = cell.name_among(cells)
        text = "; ".join(text for _, text in cell.numbers) or cell.verdict.word or "not measured"
        wrapper = textwrap.TextWrapper(width, subsequent_indent="  ", break_on_hyphens=False)
        shown += display_width.wrapped(wrapper, f"{visible(named)}: {text}")
    return shown


def _chosen(
    summaries: Sequence[CellSummary], number: int, quoted: Collection[int]
) -> list[CellSummary]:
    """So many, in their order: first those with ``quoted`` runs, then those without a usable
    number, then some of each test."""
    before: Counter[str] = Counter()
    ranks = []
    for place, cell in enumerate(summaries):
        is_quoted = any(run.id in quoted for run in cell.runs)
        ranks.append((not is_quoted, verdict_lines.are_usable([cell]), before[cell.test], place))
        before[cell.test] += 1
    return [summaries[place] for place in sorted(place for *_, place in sorted(ranks)[:number])]


def _is_left_out(cell: CellSummary) -> bool:
    """Whether it was refused, or its turn did not come."""
    return cell.verdict.word == "refused" or not (cell.verdict.word or cell.numbers)


def _rest(number: int) -> list[str]:
    """The cells for which there is no room; the last line has the command that shows them."""
    return [f"and {units.counted(number, 'more cell')}, in the details"] if number else []


def _others(summaries: Sequence[CellSummary], width: int, room: int) -> list[str]:
    """Servers that are no primaries, and offered rates; errors and checks of all cells together,
    each cut to one line where there is little room, and in one line where nothing is wrong."""
    runs = [run for cell in summaries for run in cell.runs]
    errors, checks = cell_summary.errors(runs), check_counts.words(runs)
    rates, limits = rate_words.said(summaries), _limits(summaries)
    derived = _derived(summaries)
    table_and_verdict = len(summaries) + 2 + verdict_lines.LEAST
    for most in (2, 1):
        before = [
            *named_line("server", _servers(summaries), width, most=most),
            *named_line(rate_words.TITLE, rates, width, most=most),
            *(line for one in derived for line in named_line("derived", one, width, most=most)),
            *named_line("limits", limits, width, most=most),
        ]
        others = [
            *named_line("errors", errors, width, most=most),
            *named_line("checks", checks, width, most=most),
        ]
        if table_and_verdict + len(before) + len(others) <= room:
            return [*before, *others]
    if errors == cell_summary.NO_ERRORS and checks and len(others) > 1:
        joined = named_line("checks", f"{checks}; no transaction failed", width)
        others = joined if len(joined) == 1 else others
    return [*before, *others]


def _limits(summaries: Sequence[CellSummary]) -> str:
    """Those of all cells, once where they are alike."""
    said = {
        cell.name_among(summaries): cell.response_limits
        for cell in summaries
        if cell.response_limits
    }
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return "; ".join(f"{name}: {limits}" for name, limits in said.items())


def _derived(summaries: Sequence[CellSummary]) -> list[str]:
    """``Power@Size: CELL 1985, CELL none: why``: a line for each metric that workloads derive."""
    said: dict[str, list[str]] = {}
    for cell in summaries:
        for title, number in cell.derived:
            said.setdefault(title, []).append(f"{cell.name_among(summaries)} {number}")
    return [f"{title}: {', '.join(cells)}" for title, cells in said.items()]


def _servers(summaries: Sequence[CellSummary]) -> str:
    """``SYSTEM at b: standby of a:5432 (…)``: those of which one is not the primary."""
    said: dict[str, list[str]] = {}
    for cell in summaries:
        if cell.server:
            labels = (run.system_on_machine for run in cell.runs)
            said.setdefault(cell.server, []).extend(labels)
    return "; ".join(f"{', '.join(dict.fromkeys(said[one]))}: {one}" for one in said)
