"""Takes the experiment of a capsule and the one that runs it again; says before that one begins
which cells will not be compared, and prints afterwards how both compare."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from assay import comparison, registry
from assay.cli.process.outcome import say
from assay.comparison.sides import setting_aside
from assay.comparison.sides.values import Comparison, Direction
from assay.contracts.experiment import Experiment
from assay.judge.warnings import machine_load
from assay.lab.preflight.optional_levels import plan_here
from assay.plan.only import Patterns, narrowed
from assay.record import ExperimentRecord
from assay.report.comparison_tables import comparison as tables
from assay.report.gallery.facts import facts_of, outcomes
from assay.text import units
from assay.text.units import counted
from assay.workload.values import Workload


def say_what_is_not_compared(
    before: ExperimentRecord,
    experiment: Experiment,
    workload: Workload,
    patterns: Patterns,
    *,
    is_on_another: bool,
) -> None:
    """Where the experiment that will be run has cells that are not among those of the capsule.
    ``is_on_another``: a system or a storage was named in place of those of the capsule."""
    planned = narrowed(plan_here(experiment, workload), patterns)
    cells = {run.cell.fingerprint for run in planned.runs}
    other = cells - {run.cell_fingerprint for run in before.runs}
    if not other:
        return
    why = (
        "; --quick is another experiment than the one that was packed: leave it out to compare both"
        if experiment.is_quick and not before.experiment.get("is_quick")
        else ""
    )
    if other == cells:
        claims = ", only which claims of the paper hold" if before.workload.get("claims") else ""
        none = f"none of the {len(cells)} cells to be run is"
        if len(cells) == 1:
            none = "the cell to be run is not"
        if is_on_another and not why:
            say(
                f"{none} in the capsule: what is otherwise stands at the end, and numbers are "
                "compared where it is the storage or the system alone"
            )
        else:
            say(f"{none} in the capsule, so no numbers will be compared{claims}{why}")
    else:
        say(
            f"{len(other)} of the {counted(len(cells), 'cell')} to be run are not in the capsule, "
            f"and will not be compared{why}"
        )


def print_compared(
    before: ExperimentRecord, after: ExperimentRecord, titles: Sequence[str], *, detail: bool
) -> None:
    """``titles``: of the packed one, A, and of the other, B."""
    sides = [
        comparison.side(name, title, [record])
        for name, record, title in zip("AB", (before, after), titles, strict=True)
    ]
    made = comparison.compare(*sides)
    # The storage that was named here in place of the packed one, or the system.
    between = "" if made.cells else setting_aside.between(made.a, made.b)
    if between:
        made = comparison.compare(*sides, between=between)
    sys.stdout.write("\n")
    registry.report_form("table")(tables.build(made, []), sys.stdout, detail=detail)
    for line in (*_verdicts(made), *_load(before, after), *_claims(before, after)):
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
    factor, _, two = between.partition("=")
    if two:
        say(f"of several levels of {factor} two are compared: {two.replace(',', ' with ')}")
    if not made.cells:
        say(
            "A and B have no cell in common, so nothing is compared: what differs stands above; "
            "of one factor that differs alone (--on, or --storage) the levels are compared"
            + (" (the quick version is another experiment)" if _is_quicker(before, after) else "")
        )


def _verdicts(made: Comparison) -> Iterator[str]:
    """How many cells have each; and that a difference is the machine's, where nothing else differs
    than when both were measured."""
    if not made.cells:
        return
    found = Counter(cell.primary.verdict.partition(":")[0] for cell in made.cells)
    listed = ", ".join(f"{number} {verdict}" for verdict, number in found.most_common())
    yield f"cells: {listed}"
    differ = any(one.what != "seed" for cell in made.cells for one in cell.differences)
    seen = (Direction.BETTER, Direction.WORSE)
    if (
        not differ
        and not made.between
        and not made.machines
        and any(cell.primary.direction in seen for cell in made.cells)
    ):
        yield (
            "A and B differ in nothing that is recorded, so what is faster or slower is what "
            "changed on the machine between both: its load, its clock rate, places on its disk"
        )


def _load(before: ExperimentRecord, after: ExperimentRecord) -> Iterator[str]:
    """Of the machine by other programs, which repetitions of one session cannot show."""
    shares = []
    for record in (before, after):
        found = (machine_load.other_programs(run) for run in record.runs)
        if not (known := [one for one in found if one is not None]):
            return
        shares.append(f"{units.percent(median(known))} (at most {units.percent(max(known))})")
    yield f"other programs used {shares[0]} of the processors in A, {shares[1]} in B"


def _is_quicker(before: ExperimentRecord, after: ExperimentRecord) -> bool:
    return bool(after.experiment.get("is_quick")) > bool(before.experiment.get("is_quick"))


def _claims(before: ExperimentRecord, after: ExperimentRecord) -> Iterator[str]:
    """How many hold in each, and those of which the two say something else."""
    of_a, of_b = facts_of(before).claims, facts_of(after).claims
    if not of_a and not of_b:
        return
    for side, claims in (("A", of_a), ("B", of_b)):
        listed = ", ".join(f"{number} {word}" for word, number in outcomes(claims).items())
        yield f"claims of {side}: {listed or 'none'}"
    said_by_a = {one.claim: one for one in of_a}
    for one in of_b:
        other = said_by_a.get(one.claim)
        if other is not None and other.outcome != one.outcome:
            why = f" ({one.why})" if one.why else ""
            yield f"  {one.claim}: {other.outcome} in A, {one.outcome} in B{why}"
