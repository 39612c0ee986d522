"""Takes an experiment's record and its `Report`; writes the summary at the end of a run: verdict,
numbers, warnings, and where the details are.

Of several cells it begins with a sentence for each factor
(`assay.comparison.conclusions`) and what explains it. It takes at most `MOST_LINES`,
with these sentences `MOST_WITH_ANSWERS`, and the lines that explain them: cells for which there is
no room are counted, and are in the report, whose command is named. Those that a sentence compares
are shown before others, and need up to `MOST_WITH_QUOTED` lines; a sentence for whose cells there
is no room even then is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TextIO

from msgspec.structs import replace

from assay.judge.warning_kinds import WarningKind
from assay.record import ExperimentRecord
from assay.report import cell_runs, durability
from assay.report.for_people import for_people
from assay.report.sections import answers as check_counts
from assay.report.sections import conditions, goals, storages
from assay.report.summaries import cell_summary, several_cells
from assay.report.summaries.cell_summary import CellSummary
from assay.report.summaries.several_cells import HEAD, named_line
from assay.report.values import Report, WarningNote
from assay.text import units
from assay.text.terminal import COLUMNS_ELSEWHERE, cut_within, line_width, visible

if TYPE_CHECKING:
    from assay.comparison.conclusions import Question

# Takes the questions of an experiment; returns the lines that answer them, in several versions,
# each shorter than the one before, so that there is room for the cells that they compare.

_MOST_LINES = 5
_MOST_OF_ONE = 99
_MOST_EXPLAINED = 3
"""Of what the levels of a question do otherwise."""
_PLACES = (3, 2, 1)
"""Combinations of the other factors that a sentence names."""


class AnswerLines(NamedTuple):
    lines: list[str]
    quoted: frozenset[int]
    """Numbers of the runs behind what they compare."""
    is_whole: bool
    """Whether all questions are answered."""
    explained: int
    """How many of the lines say what the levels do otherwise for the same work: the answers have
    room beside them."""


def answers(questions: Sequence[Question], width: int) -> list[AnswerLines]:
    """A sentence for each, with fewer and fewer combinations, as far as there is room for all; then
    fewer and fewer questions, of which the others are counted. The first that has room, or one
    question."""
    if not questions:
        return [AnswerLines([], frozenset(), True, 0)]
    every = (
        _of(questions, number, most_places, width)
        for number in range(len(questions), 0, -1)
        for most_places in (_PLACES if number == len(questions) else _PLACES[-1:])
    )
    fitting = [one for one in every if len(one.lines) - one.explained <= _MOST_LINES]
    return fitting or [_of(questions, 1, _PLACES[-1], width)]


def _of(questions: Sequence[Question], number: int, most_places: int, width: int) -> AnswerLines:
    """The answers to so many of them."""
    from assay.comparison import sentences

    asked = questions[:number]
    lines = []
    explained = 0
    for one in sentences.lines(asked, most_places):
        is_explained = one.factor == sentences.DIFFERS
        most = _MOST_EXPLAINED if is_explained else _MOST_OF_ONE
        text = f"{one.test}: {one.text}" if one.test else one.text
        shown = named_line(one.factor, text, width, most=most)
        explained += len(shown) if is_explained else 0
        lines += shown
    if left_out := len(questions) - number:
        more = units.counted(left_out, "more question")
        lines += named_line("and", f"{more}, in the details", width)
    return AnswerLines(lines, _quoted(asked, most_places), not left_out, explained)


def _quoted(questions: Sequence[Question], most_places: int) -> frozenset[int]:
    from assay.comparison import sentences

    return frozenset(
        run
        for question in questions
        for conclusion in sentences.quoted(question, most_places)
        for runs in conclusion.runs
        for run in runs
    )


MOST_LINES = 15
MOST_WITH_ANSWERS = 16
MOST_WITH_QUOTED = 20
_MOST_OF_EFFECTS = 6
"""Lines of a test."""
_MOST_OF_THE_RECORD = 2
_MOST_OF_A_GOAL = 4
_MOST_OF_GOALS = 8
_MOST_OF_A_FAILURE = 2
"""Lines more for a run that ended a search."""


def render(
    experiment: ExperimentRecord,
    report: Report,
    stream: TextIO,
    more: str,
    most_lines: int = MOST_LINES,
) -> None:
    """``more``: the command that prints the full report. ``most_lines``: of a single cell."""
    found = line_width(stream)
    shown = lines(
        experiment,
        for_people(report),
        found or COLUMNS_ELSEWHERE,
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
    measured = [
        cell
        for runs in cell_runs.tests(experiment).values()
        for cell in durability.grouped(cell_runs.cells(experiment, runs))
    ]
    found = [cell_summary.of_cell(experiment, cell) for cell in measured]
    kind = "quick version; " if experiment.experiment.is_quick else ""
    if left_out := conditions.left_out(experiment):
        kind += f"left out: {left_out}; "
    if experiment.is_unfinished:
        kind += units.ended_runs(experiment.runs_ended, experiment.runs_planned) + "; "
    named = f"{report.record}, experiment {experiment.id}; details: {more}"
    last = named_line("record", kind + named, width)
    if len(last) > _MOST_OF_THE_RECORD:  # a long path is said once
        last = named_line("details", kind + more, width)
    judged = "; ".join(one.lines[0] for one in report.sections if one.answers and one.lines)
    last = [*named_line("claims", judged, width, most=2), *last]
    searched = goals.goal_line(experiment)
    last = [*named_line("goal", searched, width, most=_most_of_goal(experiment)), *last]
    last = [
        *named_line(cell_runs.DISTURBED_RUNS, cell_runs.disturbed_runs(measured), width, most=2),
        *last,
    ]
    last = [*named_line("precision", goals.precision_line(experiment), width), *last]
    # The report has it in any case; the summary where storages are compared.
    is_of_storages = len({run.storage for run in experiment.runs}) > 1
    fits = "" if is_of_storages else WarningKind.FITS_IN_MEMORY.id
    noted = [one for one in report.warnings if one.name != fits]
    spare = min(1, len(noted))
    answered: list[str] = []
    if len(found) == 1:
        room = most_lines - len(last)
        shown = one_cell_lines(found[0], width, room - spare, is_narrow)
    else:
        of_grids = [] if judged else _effects(report, width)
        # What each factor of a grid changes is said of the whole grid.
        in_grids = {grid.test for grid in report.effects}
        questions = [one for one in report.questions if one.test not in in_grids]
        tried = _tried(() if judged or searched else questions, width)
        for most, (answered, quoted, *_) in tried:
            answered = [*of_grids, *answered]
            room = most - len(answered) - len(last)
            shown, cells = several_cells.lines(found, width, room - spare, is_narrow, quoted)
            if quoted <= {run.id for cell in cells for run in cell.runs}:
                break
    left = room - len(shown)
    parameters = [
        *named_line("parameters", conditions.parameters(experiment), width, most=2),
        *named_line("storages", storages.named(experiment), width, most=2),
    ]
    if len(parameters) > left - spare:  # numbers come first
        parameters = []
    warnings = warning_lines(noted, left - len(parameters), width)
    return [*answered, *shown, *warnings, *parameters, *last]


def _most_of_goal(experiment: ExperimentRecord) -> int:
    """Lines of what all searches found."""
    found = goals.of_all_tests(experiment)
    failed = sum(one.so_far.failed is not None for _, one in found)
    most = min(_MOST_OF_GOALS, _MOST_OF_A_GOAL - 2 + 2 * len(found))
    return most + _MOST_OF_A_FAILURE * failed


def _effects(report: Report, width: int) -> list[str]:
    from assay.comparison import sentences

    lines = []
    for one in sentences.effect_lines(report.effects):
        said = f"{one.test}: {one.text}" if one.test else one.text
        lines += named_line(one.factor, said, width, most=_MOST_OF_EFFECTS)
    return lines


def _tried(questions: Sequence[Question], width: int) -> Iterator[tuple[int, AnswerLines]]:
    """The answers, in the order in which they are tried, each with the lines of the whole."""
    found = answers(questions, width)
    for is_whole in (True, False):
        versions = [one for one in found if one.is_whole == is_whole]
        for most in range(MOST_WITH_ANSWERS, MOST_WITH_QUOTED + 1):
            yield from (
                (most + one.explained if one.lines else MOST_LINES, one) for one in versions
            )


# Takes the warnings of a report; returns the lines of as many as there is room for, and the names
# of the others.


def warning_lines(warnings: Sequence[WarningNote], room: int, width: int) -> list[str]:
    """As many as there is room for, in the order of the report: with cause, detail and fix,
    without the cause, or cut to a line; the rest by name."""
    shown: list[str] = []
    left_out: list[str] = []
    for place, warning in enumerate(warnings, 1):
        fix = named_line("", f"fix: {warning.fix}", width) if warning.fix else []
        first = _first(warning)
        texts = [
            f"{warning.name}: {words}"
            for words in (first.sentence, "; ".join(first.details))
            if words
        ]
        forms = [[*named_line("warning", text, width), *fix] for text in texts]
        forms += [named_line("warning", text, width, most=1) for text in texts[:1]]
        # Lines are kept for the names of those left out.
        others = named_line(
            "also", ", ".join([*left_out, *(one.name for one in warnings[place:])]), width
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
        found = named_line(head, ", ".join(names[:number]) + more, width)
        if len(found) <= room:
            return found
    return named_line(head, f"{len(names)} of them" if names else "", width, most=1)


def _first(warning: WarningNote) -> WarningNote:
    """With the first of its details; the report has more of them."""
    more = len(warning.details) - 1
    if more < 1:
        return warning
    return replace(warning, details=(warning.details[0], f"and {more} more"))


# Takes the summary of the only cell of an experiment; returns its lines: verdict, numbers, groups
# of clients, errors and checks.

_MOST_OF_A_CELL = ((4, 6), (4, 4), (4, 2), (4, 1), (2, 1))
"""(groups shown, lines of each text): the first that fits."""


def one_cell_lines(cell: CellSummary, width: int, room: int, is_narrow: bool) -> list[str]:
    """In so many lines."""
    title = f"{cell.test}: {cell.name}{cell_summary.repetitions([cell])}"
    for groups, most in _MOST_OF_A_CELL:
        verdict = several_cells.lines_of_verdict(cell.verdict, width, most)
        errors = cell_summary.errors(cell.counted, " ".join(line.strip() for line in verdict))
        shown = [
            cut_within(title, width) if is_narrow else visible(title),
            *verdict,
            *(
                one
                for name, text in cell.numbers
                for one in named_line(name, text, width, most=most)
            ),
            *named_line("headline", cell.headline, width, most=most),
            *(
                line
                for title, number in cell.derived
                for line in named_line("derived", f"{title} {number}", width, most=most)
            ),
            *named_line("limits", cell.response_limits, width, most=most),
            *named_line(
                several_cells.RATES_TITLE, several_cells.rates_said([cell]), width, most=most
            ),
            *_groups(cell, width, groups),
            *named_line("deferred", cell.deferred, width, most=most),
            *named_line("server", cell.server, width, most=most),
            *named_line(
                "durability", "" if cell.durability == "-" else cell.durability, width, most=1
            ),
            *named_line("device", cell.device, width, most=most),
            *named_line("errors", errors, width, most=most),
            *named_line("checks", check_counts.check_words(cell.runs), width, most=most),
        ]
        if len(shown) <= room:
            break
    return shown


def _groups(cell: CellSummary, width: int, most: int) -> list[str]:
    shown = [
        line
        for name, texts in cell.groups[:most]
        for line in named_line(f"  {name}", _that_fits(texts, width - HEAD), width, most=1)
    ]
    left_out = len(cell.groups) - most
    return [*shown, *([f"  and {left_out} more groups"] if left_out > 0 else [])]


def _that_fits(texts: Sequence[str], width: int) -> str:
    """The first of them; the last one if none fits."""
    return next((text for text in texts if len(text) <= width), texts[-1])
