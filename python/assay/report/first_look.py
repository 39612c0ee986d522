"""Takes an experiment's record and its `Report`; writes the summary at the end of a run: verdict,
numbers, warnings, and where the details are.

It takes at most `MOST_LINES`, and with more than six cells one more line for each.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TextIO

from assay.judge import Verdict
from assay.judge.kinds import Kind
from assay.judge.verdict import WORDS
from assay.record import ExperimentRecord
from assay.report import (
    cell_runs,
    cell_summary,
    cell_table,
    check_counts,
    conditions,
    durability,
)
from assay.report.cell_summary import CellSummary
from assay.report.for_people import for_people
from assay.report.table import WIDTH
from assay.report.values import Report, WarningNote
from assay.text.cut import cut, cut_within
from assay.text.line_width import line_width
from assay.text.visible import visible

MOST_LINES = 15
_HEAD = 13
"""Width of the names before the text of a line."""
_MOST_OF_A_CELL = ((4, 6), (4, 2), (4, 1), (2, 1))
"""(groups shown, lines of each text): the first that fits."""
_MOST_OF_A_VERDICT = 6
"""Lines, of many cells: reasons and their fixes are read before warnings."""
_LEAST_OF_A_VERDICT = 2
_BESIDE_THE_CELLS = 7
"""Lines below the table of many cells."""
_MOST_OF_THE_RECORD = 2
_ORDER = ("", *WORDS[:1], "refused", *WORDS[1:])
_LIMITING = {kind.id for kind in Kind if kind.value.limits}


def render(
    experiment: ExperimentRecord,
    report: Report,
    stream: TextIO,
    more: str,
    most_lines: int = MOST_LINES,
) -> None:
    """``more``: the command that prints the full report. ``most_lines``: of a single cell."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")  # a terminal may lack a character
    found = line_width(stream)
    shown = lines(
        experiment,
        for_people(report),
        found or WIDTH,
        more,
        is_narrow=found is not None,
        most_lines=most_lines,
    )
    for line in shown:
        stream.write(line + "\n")


def lines(
    experiment: ExperimentRecord,
    report: Report,
    width: int,
    more: str,
    *,
    is_narrow: bool = True,
    most_lines: int = MOST_LINES,
) -> list[str]:
    """In so many columns; where it is not ``is_narrow`` (a pipe, a file), the names of cells stay
    whole in longer lines."""
    found = [
        cell_summary.of_cell(experiment, cell)
        for runs in cell_runs.tests(experiment).values()
        for cell in durability.by_level(cell_runs.cells(experiment, runs))
    ]
    kind = "quick version; " if experiment.experiment.get("is_quick") else ""
    if experiment.is_unfinished:
        kind += f"{conditions.ended_of_planned(experiment)} have ended; "
    named = f"{report.record}, experiment {experiment.id}; details: {more}"
    last = _line("record", kind + named, width)
    if len(last) > _MOST_OF_THE_RECORD:  # a long path is said once
        last = _line("details", kind + more, width)
    spare = min(1, len(report.warnings))
    if len(found) == 1:
        room = most_lines - len(last)
        shown = _one_cell(found[0], width, room - spare, is_narrow)
    else:
        shown = cell_table.lines(found, width, is_narrow)
        beside = max(MOST_LINES - len(shown), _BESIDE_THE_CELLS)
        room = len(shown) + max(beside - len(last), _BESIDE_THE_CELLS - _MOST_OF_THE_RECORD)
        shown += _of_all(found, width, room - len(shown) - spare)
    return [*shown, *_warnings(report.warnings, room - len(shown), width), *last]


def _one_cell(cell: CellSummary, width: int, room: int, is_narrow: bool) -> list[str]:
    """In so many lines."""
    title = f"{cell.test}: {cell.name}{cell_summary.repetitions([cell])}"
    for groups, most in _MOST_OF_A_CELL:
        shown = [
            cut_within(title, width) if is_narrow else visible(title),
            *_line("verdict", _verdict(cell.verdict), width, most=most),
            *(one for name, text in cell.numbers for one in _line(name, text, width, most=most)),
            *_groups(cell, width, groups),
            *_line("durability", "" if cell.durability == "-" else cell.durability, width, most=1),
            *_line("device", cell.device, width, most=most),
            *_line("errors", cell_summary.errors(cell.runs), width, most=most),
            *_line("checks", check_counts.words(cell.runs), width, most=most),
        ]
        if len(shown) <= room:
            break
    return shown


def _of_all(found: Sequence[CellSummary], width: int, room: int) -> list[str]:
    """Lines for all cells together: so many, if the text can be cut to them."""
    runs = [run for cell in found for run in cell.runs]
    for most in (2, 1):
        others = [
            *_line("errors", cell_summary.errors(runs), width, most=most),
            *_line("checks", check_counts.words(runs), width, most=most),
        ]
        if room - len(others) >= _LEAST_OF_A_VERDICT:
            break
    left = max(_LEAST_OF_A_VERDICT, min(_MOST_OF_A_VERDICT, room - len(others)))
    return [*_line("verdict", _verdicts(found), width, most=left), *others]


def _verdicts(found: Sequence[CellSummary]) -> str:
    """``2 valid, 1 refused: no restart; 1 indicative: one repetition``: the reasons of the worst,
    and of those without a number because they were refused."""
    verdicts = [cell.verdict for cell in found]
    counts = Counter(verdict.word or "without a number" for verdict in verdicts)
    worst = max(verdicts, key=lambda verdict: _ORDER.index(verdict.word)).word
    plain, explained = [], []
    for word, count in counts.items():
        reasons = _reasons(found, word) if word in (worst, "refused") else []
        if reasons:
            explained.append(f"{count} {word}: {'; '.join(reasons)}")
        else:
            plain.append(f"{count} {word}")
    return ", ".join([*plain, *(["; ".join(explained)] if explained else [])])


def _reasons(found: Sequence[CellSummary], word: str) -> list[str]:
    """Each once. Those of ``indicative`` are phrases of this program that may be taken apart, with
    the cell or the number of cells that have them; the others may hold messages of a system, with
    semicolons of their own."""
    cells = [cell for cell in found if cell.verdict.word == word and cell.verdict.reason]
    if word != "indicative":
        return list(dict.fromkeys(cell.verdict.reason for cell in cells))
    holders: dict[str, list[str]] = {}
    for cell in cells:
        for reason in cell.verdict.reason.split("; "):
            holders.setdefault(reason, []).append(cell.name)
    most_first = sorted(holders, key=lambda reason: -len(holders[reason]))
    return [_held(reason, holders[reason], len(cells)) for reason in most_first]


def _held(reason: str, names: Sequence[str], of: int) -> str:
    if len(names) == of:
        return reason
    return f"{reason} ({names[0] if len(names) == 1 else f'{len(names)} of them'})"


def _verdict(verdict: Verdict) -> str:
    word = verdict.word or "none"
    return f"{word}: {verdict.reason}" if verdict.reason else word


def _groups(cell: CellSummary, width: int, most: int) -> list[str]:
    shown = [
        line
        for name, texts in cell.groups[:most]
        for line in _line(f"  {name}", _that_fits(texts, width - _HEAD), width, most=1)
    ]
    left_out = len(cell.groups) - most
    return [*shown, *([f"  and {left_out} more groups"] if left_out > 0 else [])]


def _that_fits(texts: Sequence[str], width: int) -> str:
    """The first of them; the last one if none fits."""
    return next((text for text in texts if len(text) <= width), texts[-1])


def _warnings(warnings: Sequence[WarningNote], room: int, width: int) -> list[str]:
    """As many as there is room for, those that limit the numbers first: with cause, detail and fix;
    without the cause; or the fix alone; the rest by name."""
    shown: list[str] = []
    left_out: list[str] = []
    ordered = sorted(warnings, key=lambda warning: warning.name not in _LIMITING)
    for place, warning in enumerate(ordered, 1):
        fix = _line("", f"fix: {warning.fix}", width) if warning.fix else []
        first = _first(warning)
        forms = [
            [*_line("warning", words, width), *fix]
            for words in (
                f"{warning.name}: {first.sentence}",
                f"{warning.name}: {'; '.join(first.details)}",
                warning.name,
            )
        ]
        # FreeSpace is kept for the names of those left out.
        others = _line(
            "also", ", ".join([*left_out, *(one.name for one in ordered[place:])]), width
        )
        most = room - len(shown) - len(others)
        text = next((text for text in forms if len(text) <= most), None)
        if text is None:
            left_out.append(warning.name)
        else:
            shown += text
    named = _named(left_out, "also" if shown else "warnings", width, max(1, room - len(shown)))
    return [*shown, *named]


def _named(names: Sequence[str], head: str, width: int, room: int) -> list[str]:
    """The names, none of them cut; as many as there is room for, and the number of the others."""
    for number in range(len(names), 0, -1):
        more = f" and {len(names) - number} more" if number < len(names) else ""
        found = _line(head, ", ".join(names[:number]) + more, width)
        if len(found) <= room:
            return found
    return _line(head, f"{len(names)} of them" if names else "", width, most=1)


def _first(warning: WarningNote) -> WarningNote:
    """With the first of its details; the report has more of them."""
    more = len(warning.details) - 1
    if more < 1:
        return warning
    return replace(warning, details=(warning.details[0], f"and {more} more"))


def _line(name: str, text: str, width: int, *, most: int = 99) -> list[str]:
    """The text beside its name, wrapped in its own column; at most ``most`` lines."""
    if not text:
        return []
    found = textwrap.wrap(
        visible(" ".join(text.split("\n"))),
        max(20, width - _HEAD),
        break_long_words=True,
        break_on_hyphens=False,
    )
    if len(found) > most:
        found = [*found[: most - 1], cut(" ".join(found[most - 1 :]), width - _HEAD)]
    found = [one.replace(cell_summary.TOGETHER, " ") for one in found]
    heads = [name, *[""] * (len(found) - 1)]
    return [
        f"{cut(head, _HEAD - 1):<{_HEAD}}{tail}".rstrip()
        for head, tail in zip(heads, found, strict=True)
    ]
