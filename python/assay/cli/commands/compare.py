"""``assay compare``: says whether two sides differ, by how much, and how sure that is."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options import completers
from assay.cli.options.shared_options import COMPARISON_FORMS, format_option, records_option
from assay.cli.process import say
from assay.comparison.differences import DESPITE
from assay.errors import ArgumentError
from assay.experiment.settings_catalogue import of_records

if TYPE_CHECKING:
    from assay.comparison.conditions import ConditionResult
    from assay.comparison.sides import Comparison

_MET, _NOT_JUDGED, _NOT_DECIDED = 1, 2, 5
_MOST_REASONS = 3
"""Why cells are not comparable, in the error."""


@click.command("compare")
@click.argument("a", metavar="[A]", required=False)
@click.argument("b", metavar="[B]", required=False)
@click.option(
    "--between",
    metavar="FACTOR[=LEVEL,LEVEL]",
    default="",
    shell_complete=completers.factor,
    help="Compare two levels of a factor (system, profile, storage, a parameter …): of A alone, "
    "or one of A with one of B. Cells must be equal in all else.",
)
@click.option(
    "--metric",
    metavar="NAME",
    shell_complete=completers.metric,
    help="Metric on which verdicts are based; 'latency_p99_ns[insert]': of a transaction type. "
    "[default: the primary one of each test]",
)
@click.option(
    "--fail-if",
    "fail_if",
    metavar="CONDITION",
    multiple=True,
    help="End with exit status 1 where a cell meets it: 'throughput_per_s < 0.95x' (a ratio to A, "
    "with its whole interval) or 'p99[insert] > 5ms' (a value of B, here of one "
    "transaction type). May be repeated.",
)
@click.option(
    "--despite",
    multiple=True,
    type=click.Choice(DESPITE),
    help="Give a verdict even if this differs; machine: judge ratios of --fail-if, too. May be "
    "repeated.",
)
@click.option("--detail", is_flag=True, help="All metrics, and all that differs.")
@format_option((*COMPARISON_FORMS, "html"))
@records_option
def command(
    a: str | None,
    b: str | None,
    between: str,
    metric: str | None,
    fail_if: tuple[str, ...],
    despite: tuple[str, ...],
    detail: bool,
    form: str,
    records: Path,
) -> int:
    """Compare A and B: which is faster, by how much, and how certain that is.

    A and B are experiments (`3`, `latest`, `latest-1`), runs (`run:17`), several
    experiments as one side (`3,5,7`) or record files (`FILE`, its latest
    experiment, or `FILE:3`). Cells that both sides have are compared; for the
    others the report lists what differs. With --between, A alone is enough:
    its two levels of a factor are compared, and interleaved repetitions are pairs.
    Without A, the last two experiments of one workload are compared; with
    --between, levels of the last experiment.
    The format html is a page, which is written to a file and not to a terminal.

    Exit status: 0 compared (no condition met), 1 a --fail-if is met, 2 nothing can
    be compared, or a --fail-if cannot be judged, 5 a --fail-if is not decided: the
    repetitions are too few or too noisy to show it.

    \b
    Example:
      assay compare
      assay compare latest --between system
      assay compare 3 latest --fail-if 'throughput_per_s < 0.95x'
      assay compare baseline.sqlite latest --format markdown
      assay compare 3 5 --format html > comparison.html
    """
    from assay import comparison
    from assay.cli.options import experiment_references
    from assay.cli.output.report_output import insist_on_readable
    from assay.comparison import conditions
    from assay.workload.ad_hoc_script import is_script

    if form not in ("json", "csv"):
        insist_on_readable(form, hint=f"assay compare … --format {form} > comparison.{form}")
    asked = [conditions.condition(text) for text in fail_if]
    if a is None:
        a, b = ("latest", None) if between else experiment_references.last_two(records)
    if scripts := [word for word in (a, b) if word is not None and is_script(word)]:
        raise ArgumentError(
            f"expected an experiment or a record file, found the script {scripts[0]}",
            hint="measure both in one experiment, then compare its levels: "
            f"assay run {','.join([*scripts, 'OTHER.sql'][:2])}; assay compare --between script",
        )
    sides = []
    for name, word in (("A", a), ("B", b)):
        if word is not None:
            found = experiment_references.experiments(word, records)
            sides.append(comparison.side(name, experiment_references.title(found, records), found))
    left, right = sides[0], sides[1] if len(sides) > 1 else None
    made = comparison.compare(left, right, between=between, metric=metric, despite=despite)
    judged = conditions.judge_conditions(made, asked, despite=despite)
    _write(made, judged, form, detail=detail)
    two = (a, b) if b is not None and not between else None
    _insist_on_cells(made, two, of_records(records))
    for one in asked:
        if conditions.may_mean_ratio(one, judged):
            say(
                f"warning: {one.text} is about the value of B itself; for its ratio to A write "
                f"'{one.text}x'"
            )
    status = _status(judged)
    if status in (0, _NOT_DECIDED):
        _insist_on_a_verdict(made)
    return status


def _write(made: Comparison, judged: Sequence[ConditionResult], form: str, *, detail: bool) -> None:
    from assay import registry
    from assay.report import comparison_document, comparison_report

    if form == "json":
        comparison_document.write_json(made, judged, sys.stdout)
    elif form == "csv":
        comparison_document.write_csv(made, sys.stdout)
    else:
        registry.report_form(form)(comparison_report.build(made, judged), sys.stdout, detail=detail)
    sys.stdout.flush()


def _insist_on_cells(
    made: Comparison, words: tuple[str, str] | None = None, records: str = ""
) -> None:
    """Raises `ArgumentError` where nothing could be compared. ``words``: the sides as they were
    named, where equal cells of two are compared; ``records``: what names their file."""
    from assay.comparison import sides
    from assay.comparison.factors import factor_of

    if not made.cells:
        if words and (apart := sides.factor_to_set_aside(made.a, made.b)):
            command = shlex.join(["assay", "compare", *words, "--between", apart])
            raise ArgumentError(
                f"A and B have no cell in common: each differs in {apart.partition('=')[0]}",
                hint=f"{command}{records} compares them",
            )
        fields = dict.fromkeys(one.name for cell in made.unequal for one in cell.differences)
        found = list(dict.fromkeys(factor_of(name) or name for name in fields))
        hint = f"they differ in {', '.join(found)}; --between compares levels of one factor"
        if not found:
            hint = "they have no test in common; `assay list runs` shows which have the same"
        elif not all(map(factor_of, fields)):
            hint = f"they differ in {', '.join(found)}: measure both with the same"
        elif len(found) == 1:
            hint = f"they differ in {found[0]} alone: --between {found[0]}"
        raise ArgumentError("A and B have no cell in common", hint=hint)


def _insist_on_a_verdict(made: Comparison) -> None:
    """Raises `ArgumentError` where no cell has one."""
    if not any(cell.is_compared for cell in made.cells):
        reasons = list(dict.fromkeys(cell.primary.reason for cell in made.cells))
        few = reasons[:_MOST_REASONS]
        if left := len(reasons) - len(few):
            few.append(f"{left} more (--detail)")
        raise ArgumentError(f"no cell is comparable: {'; '.join(few)}", hint=_passed_over(made))


def _passed_over(made: Comparison) -> str | None:
    found = {what for cell in made.cells for what in cell.blocked_by}
    words = " ".join(f"--despite {one}" for one in DESPITE if one in found)
    return f"to compare them all the same: {words}" if words else None


def _status(judged: Sequence[ConditionResult]) -> int:
    from assay.comparison.conditions import ConditionAnswer

    met = [one for one in judged if one.answer is ConditionAnswer.MET]
    unknown = [one for one in judged if one.answer is ConditionAnswer.UNKNOWN]
    undecided = [one for one in judged if one.answer is ConditionAnswer.NOT_DECIDED]
    for words, found in (
        ("condition met", met),
        ("condition not decided", undecided),
        ("condition cannot be judged", unknown),
    ):
        for one in found:
            say(f"{words}: {one.condition.text}: {one.cell}: {one.reason}")
    if met:
        return _MET
    return _NOT_JUDGED if unknown else _NOT_DECIDED if undecided else 0
