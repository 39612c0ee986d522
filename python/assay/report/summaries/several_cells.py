"""Takes the summaries of several cells; returns their table, and what is said of all of them:
verdicts, errors and checks. Cells for which there is no room are counted."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from assay.comparison import ratios
from assay.contracts import factors
from assay.judge import Verdict
from assay.judge.run import EXCEEDED, WORDS, judged_in_words
from assay.judge.service_levels import OfferedAndReached
from assay.plan import cell_names
from assay.plan.cell_names import OFFERED_RATE
from assay.report import cell_tables, durability
from assay.report.sections import answers
from assay.report.summaries import cell_summary
from assay.report.summaries.cell_summary import TOGETHER, CellSummary
from assay.text import table_forms, terminal, units
from assay.text.table_forms import BETWEEN
from assay.text.terminal import cut, cut_within, visible

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
        if not is_whole or len(table) + len(others) + LEAST_WIDTH_OF_VERDICT > room:
            others = _others(summaries, width, 0)
        left = room - len(table) - len(others)
        if left >= (1 if are_usable(summaries) else LEAST_WIDTH_OF_VERDICT):
            break
    verdicts = lines_of_verdicts(summaries, width, max(1, min(_MOST_OF_A_VERDICT, left)))
    return [*verdicts, *table, *others], cells


def _cells(cells: Sequence[CellSummary], width: int, is_narrow: bool) -> list[str]:
    """A table of those with transactions; a paragraph for each of a test that has none, with what
    it measures instead."""
    if not any(cell.has_measured_alone for cell in cells):
        return [
            *cell_table_lines(cells, width, is_narrow),
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
        shown += terminal.wrapped_to_columns(wrapper, f"{visible(named)}: {text}")
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
        ranks.append((not is_quoted, are_usable([cell]), before[cell.test], place))
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
    counted = [run for cell in summaries for run in cell.counted]
    errors, checks = cell_summary.errors(counted), answers.check_words(runs)
    rates, limits = rates_said(summaries), _limits(summaries)
    derived = _derived(summaries)
    table_and_verdict = len(summaries) + 2 + LEAST_WIDTH_OF_VERDICT
    for most in (2, 1):
        before = [
            *named_line("server", _servers(summaries), width, most=most),
            *named_line(RATES_TITLE, rates, width, most=most),
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


# Takes the summaries of several cells; returns a table with a line for each, and a bar beside the
# number by which they are compared.
#
# What all cells share stands once above them. What varies has a column each; where these are too
# wide, a cell has its name instead. Columns with the same value for all cells are left out: the
# lines around the table have it.

_SAID_AROUND = ("failed", "verdict")
"""Columns that are left out where all cells have the same."""
_SAID_BELOW = (cell_summary.DURABILITY, cell_summary.DEVICE_READS)
"""Further ones that may be, where there is little room."""
_LEAST_BAR, _MOST_BAR = 8, 24
"""Characters."""
_BAR = "bar"
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def cell_table_lines(summaries: Sequence[CellSummary], width: int, is_narrow: bool) -> list[str]:
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
            cell_tables.FIRST: [cell.first for cell in summaries],
            cell_tables.WARM_AFTER: [cell.warm_after for cell in summaries],
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
        columns = {cell_summary.ELAPSED_COLUMN: [cell.elapsed for cell in summaries], **columns}
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


_NOTHING_TO_ADD = {"failed": ("0",), "verdict": ("valid", "unreliable", "invalid")}
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
    return _behind(columns, title, _BAR, shown)


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
        BETWEEN + max(terminal.display_width(visible(cell)) for cell in (title, *values))
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
        size = max(map(terminal.display_width, cells))
        if is_label and len(labels) == 1 and width is not None:
            size = min(size, max(len("cell"), width - _of_columns(columns)))
            cells = [cut_within(cell, size) for cell in cells]
        is_text = key in (cell_summary.COLUMNS[-1], _BAR) or (is_label and not _are_numbers(values))
        columns_of_cells.append([(cell,) for cell in cells])
        widths.append(size)
        is_right.append(not is_text)
    rows = zip(*columns_of_cells, strict=True)
    return list(table_forms.table_lines(rows, widths, is_right))


def _are_numbers(values: Sequence[str]) -> bool:
    return all(value.replace(".", "", 1).isdecimal() for value in values if value)


LEAST_WIDTH_OF_VERDICT = 2
"""Lines that a verdict on numbers that are not usable needs at least."""
_ORDER = ("", *WORDS[:1], EXCEEDED, "interrupted", "refused", *WORDS[1:])


def lines_of_verdict(verdict: Verdict, width: int, room: int) -> list[str]:
    """With as many whole reasons as there is room for."""
    word = verdict.word or "none"
    if not verdict.reasons:
        return named_line("verdict", word, width)
    reasons = [reason.text for reason in verdict.reasons]
    for most in range(len(reasons), -1 if len(reasons) > 1 else 0, -1):
        lines = named_line("verdict", judged_in_words(word, _some(reasons, most)), width)
        if len(lines) <= room:
            return lines
    cause, _, fix = _some(reasons, 1).partition("; fix: ")
    if not fix or room < LEAST_WIDTH_OF_VERDICT:
        return named_line("verdict", judged_in_words(word, cause), width, most=room)
    of_fix = room // 2
    return [
        *named_line("verdict", judged_in_words(word, cause), width, most=room - of_fix),
        *named_line("", f"fix: {fix}", width, most=of_fix),
    ]


def lines_of_verdicts(summaries: Sequence[CellSummary], width: int, room: int) -> list[str]:
    """With as many whole reasons as there is room for."""
    most = max(len(_reasons(summaries, word)) for word in _ORDER)
    for number in range(most, -1 if are_usable(summaries) else 0, -1):
        lines = named_line("verdict", _with(summaries, number), width)
        if len(lines) <= room:
            return lines
    return named_line("verdict", _with(summaries, 1), width, most=room)


def _with(summaries: Sequence[CellSummary], most: int) -> str:
    """``2 valid, 1 refused: no restart; 1 unreliable: one repetition``: the reasons of the worst,
    and of those without a number because they were refused; so many of each."""
    verdicts = [cell.verdict for cell in summaries]
    worst = max(verdicts, key=lambda verdict: _ORDER.index(verdict.word)).word
    plain, explained = [], []
    for word, count in counts_of_verdicts(summaries).items():
        reasons = _reasons(summaries, word) if word in (worst, "refused") else []
        if reasons:
            explained.append(judged_in_words(f"{count} {word}", _some(reasons, most)))
        else:
            plain.append(f"{count} {word}")
    return ", ".join([*plain, *(["; ".join(explained)] if explained else [])])


def counts_of_verdicts(summaries: Iterable[CellSummary]) -> Counter[str]:
    """How many cells have each verdict, or why none."""
    without = {True: "without a verdict", False: "without a number"}
    return Counter(one.verdict.word or without[bool(one.numbers)] for one in summaries)


def _some(reasons: Sequence[str], most: int) -> str:
    """So many of them, and the number of the others."""
    left_out = len(reasons) - most
    if left_out <= 0:
        return "; ".join(reasons)
    if most == 0:
        return units.counted(left_out, "reason")
    return "; ".join([*reasons[:most], f"and {units.counted(left_out, 'more reason')}"])


def _reasons(summaries: Sequence[CellSummary], word: str) -> list[str]:
    """Each once, those of ``unreliable`` with the cell or the number of cells that have them."""
    cells = [cell for cell in summaries if cell.verdict.word == word and cell.verdict.reason]
    if word != "unreliable":
        return list(dict.fromkeys(cell.verdict.reason for cell in cells))
    holders: dict[str, list[str]] = {}
    for cell in cells:
        for reason in cell.verdict.reasons:
            holders.setdefault(reason.text, []).append(cell.name_among(summaries))
    most_first = sorted(holders, key=lambda reason: -len(holders[reason]))
    return [_held(reason, holders[reason], len(cells)) for reason in most_first]


def _held(reason: str, names: Sequence[str], of: int) -> str:
    if len(names) == of:
        return reason
    return f"{reason} ({names[0] if len(names) == 1 else f'{len(names)} of them'})"


def are_usable(summaries: Sequence[CellSummary]) -> bool:
    """Whether each has a number that is not invalid."""
    return all(
        cell.verdict.word in ("valid", "unreliable") or bool(not cell.verdict.word and cell.numbers)
        for cell in summaries
    )


RATES_TITLE = "offered rate"
_MOST_PLACES = 4


def rates_said(summaries: Sequence[CellSummary]) -> str:
    """``500/s kept: yes (499.7/s reached)``; of several cells ``SYSTEM: kept up to 1000/s, not at
    2000/s (1230/s reached); OTHER: …``. Empty without an open loop."""
    by_place: dict[str, list[OfferedAndReached]] = {}
    factors = _varying(summaries)
    has_tests = len({cell.test for cell in summaries}) > 1
    for cell in summaries:
        if cell.offered_rate is None:
            continue
        levels = [
            cell_names.level_name(name, cell.levels[name])
            for name in factors
            if name in cell.levels
        ]
        place = ", ".join([cell.test, *levels] if has_tests else levels)
        by_place.setdefault(place, []).append(cell.offered_rate)
    every = [rate for rates in by_place.values() for rate in rates]
    if len(by_place) < 2 or all(rate.is_kept for rate in every):
        return ratios.rates_said(every)
    shown = [
        f"{place}: {ratios.rates_said(rates)}"
        for place, rates in [*by_place.items()][:_MOST_PLACES]
    ]
    if left_out := len(by_place) - len(shown):
        shown.append(f"and {units.counted(left_out, 'more cell')}")
    return "; ".join(shown)


def _varying(summaries: Sequence[CellSummary]) -> list[str]:
    """The factors, apart from the offered rate, that do."""
    names = dict.fromkeys(name for cell in summaries for name in cell.levels)
    return [
        name
        for name in names
        if name != OFFERED_RATE and len({cell.levels.get(name) for cell in summaries}) > 1
    ]


HEAD = 13
"""Width of the names before the text of a line."""


def named_line(name: str, text: str, width: int, *, most: int = 99) -> list[str]:
    """The text beside its name, wrapped in its own column; at most ``most`` lines."""
    if not text:
        return []
    wrapper = textwrap.TextWrapper(max(20, width - HEAD), break_on_hyphens=False)
    found = terminal.wrapped_to_columns(wrapper, visible(" ".join(text.split("\n"))))
    if len(found) > most:
        found = [*found[: most - 1], cut(" ".join(found[most - 1 :]), width - HEAD)]
    found = [one.replace(TOGETHER, " ") for one in found]
    head = cut(name, HEAD - 1)
    return list(table_forms.table_lines([([head], found)], (HEAD, 0), (False, False), 0))
