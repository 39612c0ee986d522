"""Takes an experiment's record and its `Report`; writes the summary at the end of a run: verdict,
numbers, warnings, and where the details are.

Of several cells it begins with a sentence for each factor
(`assay.comparison.conclusions.conclusions`) and what explains it. It takes at most `MOST_LINES`,
with these sentences `MOST_WITH_ANSWERS`, and the lines that explain them: cells for which there is
no room are counted, and are in the report, whose command is named. Those that a sentence compares
are shown before others, and need up to `MOST_WITH_QUOTED` lines; a sentence for whose cells there
is no room even then is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from assay.comparison.conclusions import effect_sentences
from assay.comparison.conclusions.conclusions import Question
from assay.record import ExperimentRecord
from assay.report.cells import cell_runs, disturbed_runs, durability
from assay.report.forms.for_people import for_people
from assay.report.sections import conditions, goals, precision, storages
from assay.report.summaries import (
    answer_lines,
    cell_summary,
    one_cell,
    several_cells,
    warning_lines,
)
from assay.report.summaries.answer_lines import AnswerLines
from assay.report.summaries.named_line import named_line
from assay.report.values import Report
from assay.text import units
from assay.text.line_width import ELSEWHERE, line_width

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
        found or ELSEWHERE,
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
    kind = "quick version; " if experiment.experiment.get("is_quick") else ""
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
    searched = goals.line(experiment)
    last = [*named_line("goal", searched, width, most=_most_of_goal(experiment)), *last]
    last = [*named_line(disturbed_runs.TITLE, disturbed_runs.words(measured), width, most=2), *last]
    last = [*named_line("precision", precision.line(experiment), width), *last]
    spare = min(1, len(report.warnings))
    answered: list[str] = []
    if len(found) == 1:
        room = most_lines - len(last)
        shown = one_cell.lines(found[0], width, room - spare, is_narrow)
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
    warnings = warning_lines.lines(report.warnings, left - len(parameters), width)
    return [*answered, *shown, *warnings, *parameters, *last]


def _most_of_goal(experiment: ExperimentRecord) -> int:
    """Lines of what all searches found."""
    found = goals.of_all_tests(experiment)
    failed = sum(one.so_far.failed is not None for _, one in found)
    most = min(_MOST_OF_GOALS, _MOST_OF_A_GOAL - 2 + 2 * len(found))
    return most + _MOST_OF_A_FAILURE * failed


def _effects(report: Report, width: int) -> list[str]:
    lines = []
    for one in effect_sentences.lines(report.effects):
        said = f"{one.test}: {one.text}" if one.test else one.text
        lines += named_line(one.factor, said, width, most=_MOST_OF_EFFECTS)
    return lines


def _tried(questions: Sequence[Question], width: int) -> Iterator[tuple[int, AnswerLines]]:
    """The answers, in the order in which they are tried, each with the lines of the whole."""
    found = answer_lines.answers(questions, width)
    for is_whole in (True, False):
        versions = [one for one in found if one.is_whole == is_whole]
        for most in range(MOST_WITH_ANSWERS, MOST_WITH_QUOTED + 1):
            yield from (
                (most + one.explained if one.lines else MOST_LINES, one) for one in versions
            )
