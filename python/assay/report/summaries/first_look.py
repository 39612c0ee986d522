"""Takes an experiment's record and its `Report`; writes the summary at the end of a run: verdict,
numbers, warnings, and where the details are.

Of several cells it begins with a sentence for each factor (`assay.comparison.conclusions`). It
takes at most `MOST_LINES`, with these sentences `MOST_WITH_ANSWERS`: cells for which there is no
room are counted, and are in the report, whose command is named. Those that a sentence compares are
shown before others.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple, TextIO

from assay.comparison import clauses, sentences
from assay.comparison.conclusions import Question
from assay.judge import Verdict
from assay.judge.kinds import LIMITING, Kind
from assay.judge.verdict import WORDS
from assay.record import ExperimentRecord
from assay.report.cells import cell_runs, durability, in_force
from assay.report.forms.for_people import for_people
from assay.report.forms.table import WIDTH
from assay.report.sections import check_counts, conditions, precision
from assay.report.summaries import cell_summary, cell_table
from assay.report.summaries.cell_summary import CellSummary
from assay.report.values import Report, WarningNote
from assay.text import display_width, units
from assay.text.ascii_forms import with_ascii_forms
from assay.text.cut import cut, cut_within
from assay.text.line_width import line_width
from assay.text.visible import visible

MOST_LINES = 15
MOST_WITH_ANSWERS = 16
_MOST_OF_ANSWERS = 5
_PLACES_OF_ANSWERS = (3, 2, 1)
"""Combinations of the other factors that a sentence names: the first with which all that it
compares is shown."""
_HEAD = 13
"""Width of the names before the text of a line."""
_MOST_OF_A_CELL = ((4, 6), (4, 4), (4, 2), (4, 1), (2, 1))
"""(groups shown, lines of each text): the first that fits."""
_MOST_OF_A_VERDICT = 6
"""Lines, of many cells: reasons and their fixes are read before warnings."""
_LEAST_OF_A_VERDICT = 2
_LEAST_CELLS = 2
_MOST_OF_THE_RECORD = 2
_ORDER = ("", *WORDS[:1], "interrupted", "refused", *WORDS[1:])
_OF_OTHER_WORK = {
    Kind.ANSWERS_DIFFER.id,
    Kind.OFFERED_RATE_NOT_REACHED.id,
    Kind.SKIPPED_BY_LATENCY_LIMIT.id,
}
"""The numbers are of other work than was asked for: said before all others."""


def render(
    experiment: ExperimentRecord,
    report: Report,
    stream: TextIO,
    more: str,
    most_lines: int = MOST_LINES,
) -> None:
    """``more``: the command that prints the full report. ``most_lines``: of a single cell."""
    with_ascii_forms(stream)
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
        for cell in durability.grouped(cell_runs.cells(experiment, runs))
    ]
    kind = "quick version; " if experiment.experiment.get("is_quick") else ""
    if left_out := conditions.left_out(experiment):
        kind += f"left out: {left_out}; "
    if experiment.is_unfinished:
        kind += units.ended_runs(experiment.runs_ended, experiment.runs_planned) + "; "
    named = f"{report.record}, experiment {experiment.id}; details: {more}"
    last = _line("record", kind + named, width)
    if len(last) > _MOST_OF_THE_RECORD:  # a long path is said once
        last = _line("details", kind + more, width)
    judged = "; ".join(one.lines[0] for one in report.sections if one.answers and one.lines)
    last = [*_line("claims", judged, width, most=2), *last]
    last = [*_line("precision", precision.line(experiment), width), *last]
    spare = min(1, len(report.warnings))
    answered: list[str] = []
    if len(found) == 1:
        room = most_lines - len(last)
        shown = _one_cell(found[0], width, room - spare, is_narrow)
    else:
        for answered, quoted in _answers(() if judged else report.questions, width):
            room = (MOST_WITH_ANSWERS if answered else MOST_LINES) - len(answered) - len(last)
            shown, cells = _several(found, width, room - spare, is_narrow, quoted)
            if quoted <= {run.id for cell in cells for run in cell.runs}:
                break
    left = room - len(shown)
    parameters = [
        *_line("parameters", conditions.parameters(experiment), width, most=2),
        *_line("storages", in_force.named(experiment), width, most=2),
    ]
    if len(parameters) > left - spare:  # numbers come first
        parameters = []
    warnings = _warnings(report.warnings, left - len(parameters), width)
    return [*answered, *shown, *warnings, *parameters, *last]


class _Answers(NamedTuple):
    lines: list[str]
    quoted: frozenset[int]
    """Numbers of the runs behind what they compare."""


def _answers(questions: Sequence[Question], width: int) -> list[_Answers]:
    """A sentence for each, with fewer and fewer combinations, as far as there is room for all;
    where there is none, the questions that are left out are counted."""
    fitting = []
    for most_places in _PLACES_OF_ANSWERS:
        answers = [
            _line(one.factor, f"{one.test}: {one.text}" if one.test else one.text, width)
            for one in sentences.lines(questions, most_places)
        ]
        if sum(map(len, answers)) <= _MOST_OF_ANSWERS:
            lines = [line for lines in answers for line in lines]
            fitting.append(_Answers(lines, _quoted(questions, most_places)))
    if fitting:
        return fitting
    shown: list[str] = []
    for place, lines in enumerate(answers):
        if len(shown) + len(lines) >= _MOST_OF_ANSWERS:
            left_out = units.counted(len(answers) - place, "more question")
            more = _line("and", f"{left_out}, in the details", width)
            return [_Answers([*shown, *more], _quoted(questions[:place], most_places))]
        shown += lines
    return [_Answers(shown, _quoted(questions, most_places))]


def _quoted(questions: Sequence[Question], most_places: int) -> frozenset[int]:
    return frozenset(
        run
        for question in questions
        for conclusion in clauses.quoted(question, most_places)
        for runs in conclusion.runs
        for run in runs
    )


def _one_cell(cell: CellSummary, width: int, room: int, is_narrow: bool) -> list[str]:
    """In so many lines."""
    title = f"{cell.test}: {cell.name}{cell_summary.repetitions([cell])}"
    for groups, most in _MOST_OF_A_CELL:
        shown = [
            cut_within(title, width) if is_narrow else visible(title),
            *_verdict(cell.verdict, width, most),
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


def _several(
    found: Sequence[CellSummary],
    width: int,
    room: int,
    is_narrow: bool,
    quoted: Collection[int],
) -> tuple[list[str], Sequence[CellSummary]]:
    """The table of the cells and what is said of all of them, in so many lines; and the cells of
    the table. Where there is no room for all cells, refused ones are left to the verdict, which
    counts them; those with ``quoted`` runs are kept before the others, then those whose number is
    not usable."""
    others = _others(found, width, room)
    asked = [cell for cell in found if not _is_left_out(cell)] or found
    fewer = range(min(len(asked), len(found) - 1), min(_LEAST_CELLS, len(asked)) - 1, -1)
    for number in (len(found), *fewer):
        is_whole = number == len(found)
        cells = found if is_whole else _chosen(asked, number, quoted)
        left_out = 0 if is_whole else len(asked) - number
        table = [*_cells(cells, width, is_narrow), *_rest(left_out)]
        if not is_whole or len(table) + len(others) + _LEAST_OF_A_VERDICT > room:
            others = _others(found, width, 0)
        left = room - len(table) - len(others)
        if left >= (1 if _is_usable(found) else _LEAST_OF_A_VERDICT):
            break
    verdicts = _verdicts(found, width, max(1, min(_MOST_OF_A_VERDICT, left)))
    return [*verdicts, *table, *others], cells


def _cells(cells: Sequence[CellSummary], width: int, is_narrow: bool) -> list[str]:
    """A table of those with transactions; a paragraph for each of a test that has none, with what
    it measures instead."""
    if not any(cell.has_measured_alone for cell in cells):
        return [
            *cell_table.lines(cells, width, is_narrow),
            *_line(*cell_summary.signs(cells), width),
        ]
    driven = [cell for cell in cells if cell.has_transactions]
    lines = _cells(driven, width, is_narrow) if driven else []
    for cell in cells:
        if cell.has_transactions:
            continue
        named = f"{cell.test}: {cell.name}" if driven else cell.name
        text = "; ".join(text for _, text in cell.numbers) or cell.verdict.word or "not measured"
        wrapper = textwrap.TextWrapper(width, subsequent_indent="  ", break_on_hyphens=False)
        lines += display_width.wrapped(wrapper, f"{visible(named)}: {text}")
    return lines


def _chosen(
    found: Sequence[CellSummary], number: int, quoted: Collection[int]
) -> list[CellSummary]:
    """So many, in their order: first those with ``quoted`` runs, then those without a usable
    number, then some of each test."""
    before: Counter[str] = Counter()
    ranks = []
    for place, cell in enumerate(found):
        is_quoted = any(run.id in quoted for run in cell.runs)
        ranks.append((not is_quoted, _is_usable([cell]), before[cell.test], place))
        before[cell.test] += 1
    return [found[place] for place in sorted(place for *_, place in sorted(ranks)[:number])]


def _is_left_out(cell: CellSummary) -> bool:
    """Whether it was refused, or its turn did not come."""
    return cell.verdict.word == "refused" or not (cell.verdict.word or cell.numbers)


def _is_usable(found: Sequence[CellSummary]) -> bool:
    """Whether each has a number that is not invalid."""
    return all(
        cell.verdict.word in ("valid", "indicative") or bool(not cell.verdict.word and cell.numbers)
        for cell in found
    )


def _rest(number: int) -> list[str]:
    """The cells for which there is no room; the last line has the command that shows them."""
    return [f"and {units.counted(number, 'more cell')}, in the details"] if number else []


def _others(found: Sequence[CellSummary], width: int, room: int) -> list[str]:
    """Errors and checks of all cells together, each cut to one line where there is little room, and
    in one line where nothing is wrong."""
    runs = [run for cell in found for run in cell.runs]
    errors, checks = cell_summary.errors(runs), check_counts.words(runs)
    table_and_verdict = len(found) + 2 + _LEAST_OF_A_VERDICT
    for most in (2, 1):
        others = [
            *_line("errors", errors, width, most=most),
            *_line("checks", checks, width, most=most),
        ]
        if table_and_verdict + len(others) <= room:
            return others
    if errors == cell_summary.NO_ERRORS and checks and len(others) > 1:
        joined = _line("checks", f"{checks}; no transaction failed", width)
        others = joined if len(joined) == 1 else others
    return others


def _verdicts(found: Sequence[CellSummary], width: int, room: int) -> list[str]:
    """With as many whole reasons as there is room for."""
    most = max(len(_reasons(found, word)) for word in _ORDER)
    for number in range(most, -1 if _is_usable(found) else 0, -1):
        lines = _line("verdict", _verdicts_with(found, number), width)
        if len(lines) <= room:
            return lines
    return _line("verdict", _verdicts_with(found, 1), width, most=room)


def _some(reasons: Sequence[str], most: int) -> str:
    """So many of them, and the number of the others."""
    left_out = len(reasons) - most
    if left_out <= 0:
        return "; ".join(reasons)
    if most == 0:
        return units.counted(left_out, "reason")
    return "; ".join([*reasons[:most], f"and {units.counted(left_out, 'more reason')}"])


def _verdicts_with(found: Sequence[CellSummary], most: int) -> str:
    """``2 valid, 1 refused: no restart; 1 indicative: one repetition``: the reasons of the worst,
    and of those without a number because they were refused; so many of each."""
    verdicts = [cell.verdict for cell in found]
    counts = cell_summary.verdict_counts(found)
    worst = max(verdicts, key=lambda verdict: _ORDER.index(verdict.word)).word
    plain, explained = [], []
    for word, count in counts.items():
        reasons = _reasons(found, word) if word in (worst, "refused") else []
        if reasons:
            explained.append(f"{count} {word}: {_some(reasons, most)}")
        else:
            plain.append(f"{count} {word}")
    return ", ".join([*plain, *(["; ".join(explained)] if explained else [])])


def _reasons(found: Sequence[CellSummary], word: str) -> list[str]:
    """Each once, those of ``indicative`` with the cell or the number of cells that have them."""
    cells = [cell for cell in found if cell.verdict.word == word and cell.verdict.reason]
    if word != "indicative":
        return list(dict.fromkeys(cell.verdict.reason for cell in cells))
    holders: dict[str, list[str]] = {}
    for cell in cells:
        for reason in cell.verdict.reasons:
            holders.setdefault(reason.text, []).append(cell.name)
    most_first = sorted(holders, key=lambda reason: -len(holders[reason]))
    return [_held(reason, holders[reason], len(cells)) for reason in most_first]


def _held(reason: str, names: Sequence[str], of: int) -> str:
    if len(names) == of:
        return reason
    return f"{reason} ({names[0] if len(names) == 1 else f'{len(names)} of them'})"


def _verdict(verdict: Verdict, width: int, room: int) -> list[str]:
    """With as many whole reasons as there is room for."""
    word = verdict.word or "none"
    if not verdict.reasons:
        return _line("verdict", word, width)
    reasons = [reason.text for reason in verdict.reasons]
    for most in range(len(reasons), -1 if len(reasons) > 1 else 0, -1):
        lines = _line("verdict", f"{word}: {_some(reasons, most)}", width)
        if len(lines) <= room:
            return lines
    cause, _, fix = _some(reasons, 1).partition("; fix: ")
    if not fix or room < _LEAST_OF_A_VERDICT:
        return _line("verdict", f"{word}: {cause}", width, most=room)
    of_fix = room // 2
    return [
        *_line("verdict", f"{word}: {cause}", width, most=room - of_fix),
        *_line("", f"fix: {fix}", width, most=of_fix),
    ]


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
    """As many as there is room for, those that limit the numbers first: with cause, detail and fix,
    or without the cause; the rest by name."""
    shown: list[str] = []
    left_out: list[str] = []
    ordered = sorted(
        warnings,
        key=lambda warning: (warning.name not in LIMITING, warning.name not in _OF_OTHER_WORK),
    )
    for place, warning in enumerate(ordered, 1):
        fix = _line("", f"fix: {warning.fix}", width) if warning.fix else []
        first = _first(warning)
        forms = [
            [*_line("warning", f"{warning.name}: {words}", width), *fix]
            for words in (first.sentence, "; ".join(first.details))
            if words
        ]
        # Lines are kept for the names of those left out.
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
    wrapper = textwrap.TextWrapper(max(20, width - _HEAD), break_on_hyphens=False)
    found = display_width.wrapped(wrapper, visible(" ".join(text.split("\n"))))
    if len(found) > most:
        found = [*found[: most - 1], cut(" ".join(found[most - 1 :]), width - _HEAD)]
    found = [one.replace(cell_summary.TOGETHER, " ") for one in found]
    heads = [name, *[""] * (len(found) - 1)]
    return [
        f"{display_width.left(cut(head, _HEAD - 1), _HEAD)}{tail}".rstrip()
        for head, tail in zip(heads, found, strict=True)
    ]
