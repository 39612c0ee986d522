"""``assay capsule rerun``: does the experiment of a capsule again here, and compares both."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import click
from msgspec import structs

from assay import comparison, registry
from assay.cli.commands.run import insist_on_shell, measured, print_result
from assay.cli.options.shared_options import (
    detail_option,
    loading_options,
    probing_options,
    progress_option,
    records_option,
    setting_option,
)
from assay.cli.options.usage_errors import Grouped
from assay.cli.process import say
from assay.comparison import sides as setting_aside
from assay.comparison.sides import Comparison, Direction
from assay.contracts.experiment import Experiment
from assay.errors import ArgumentError
from assay.experiment.settings_catalogue import SETTINGS, Words
from assay.judge import machine_load
from assay.lab.refusal import plan_here
from assay.load.dataset import Loading
from assay.plan.values import Patterns, narrowed_plan
from assay.probe.measure import FirstUse
from assay.record import ExperimentRecord
from assay.report import comparison_report
from assay.report.gallery import facts_of, outcomes
from assay.text import units
from assay.text.secrets import HIDDEN
from assay.text.units import counted
from assay.workload.values import Workload

if TYPE_CHECKING:
    from assay.record.capsule.capsule_file import Capsule


@click.command("rerun", cls=Grouped)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@setting_option(SETTINGS["quick"])
@setting_option(SETTINGS["on"])
@setting_option(SETTINGS["storage"])
@setting_option(SETTINGS["log_storage"])
@setting_option(SETTINGS["erase"])
@setting_option(SETTINGS["input"])
@setting_option(SETTINGS["allow_shell"])
@setting_option(SETTINGS["trust"])
@setting_option(SETTINGS["only"])
@loading_options
@probing_options
@detail_option
@progress_option
@records_option
def command(
    file: Path,
    quick: bool,
    on: tuple[str, ...],
    storage: tuple[str, ...],
    log_storage: tuple[str, ...],
    erase: bool,
    input: tuple[str, ...],  # noqa: A002  (as the option is called)
    allow_shell: bool,
    trust: bool,
    only: tuple[str, ...],
    loading: Loading,
    first_use: FirstUse,
    detail: bool | None,
    progress_s: float,
    records: Path,
) -> int:
    """Run the experiment of a capsule again here, and compare.

    FILE is one of `assay capsule pack`. It is verified, and its experiment is run as
    `assay run` would: what is not installed or cannot be had here is said before
    anything is started, and the results are kept in the record. At the end stand
    the comparison of the packed experiment (A) with this one (B), what differs
    between the two, and which claims hold in each.

    A capsule may be anyone's. Its experiment file must declare the experiment of
    its record, and name no file outside the capsule. Assay reaches its servers by
    URL only if you name them with --on, and writes to its directories and devices
    only if you name them with --storage and --log-storage; devices need --erase,
    too. Its scripts start programs only with --allow-shell. What it runs is
    confined: servers and scripts have no rights on this machine, write in their
    own directories alone, and have no network but loopback (that of your machine
    where you name a server by URL). With --trust it has all your rights. Name
    input files that it was packed without with --input.

    Exit status: that of `assay run` for the new experiment.

    \b
    Example:
      assay capsule rerun result.assay
      assay capsule rerun result.assay --quick --storage tmpfs
      assay capsule rerun result.assay --on postgresql://me@db/shop
    """
    from assay.cli.options import experiment_references
    from assay.lab.continuation import Request
    from assay.record import Store
    from assay.record.capsule import unpacking
    from assay.record.capsule.opening import opened_capsule
    from assay.record.capsule.unpacking import unpacked

    with (
        opened_capsule(file, to_run=True) as (capsule, before),
        tempfile.TemporaryDirectory(prefix="assay-rerun-") as name,
    ):
        words = Words(
            target="",
            quick=quick or before.experiment.is_quick,
            on=on,
            storage=storage,
            log_storage=log_storage,
            erase=erase,
            input=input,
            allow_shell=allow_shell,
            trust=trust,
            only=only,
        )
        _insist_on_what_is_not_in_it(capsule, before, words)
        with unpacked(capsule, records, Path(name)) as experiment_file:
            words = structs.replace(words, target=str(experiment_file))
            request = Request(only=_only(before, words))

            def insist(experiment: Experiment, workload: Workload) -> None:
                unpacking.insist_on_named_places(experiment, words, experiment_file.parent)
                unpacking.insist_on_no_program(experiment, words, experiment_file.parent)
                insist_on_shell(experiment, words)
                say(f"{file} is as it was packed; experiment {before.id} of it is run again")
                _say_only(before, words, request.only)
                say_what_is_not_compared(
                    before,
                    experiment,
                    workload,
                    request.only,
                    is_on_another=bool(words.on or words.storage),
                )

            result = measured(
                words, loading, first_use, progress_s, records, request, insist=insist
            )
        kept_in = result.rescue or records
        print_result(result, kept_in, "table", detail)
        with Store(kept_in, must_exist=True) as store:
            after = store.experiment(result.experiment_id)
        titles = (
            f"{experiment_references.title([before], before.path)}, {file}",
            experiment_references.title([after], after.path),
        )
        print_compared(before, after, titles, detail=bool(detail))
    return result.exit_code


def _only(before: ExperimentRecord, words: Words) -> Patterns:
    """Of the packed experiment, as far as it fits what is run now; or those that were given."""
    from assay.experiment import from_command_line
    from assay.experiment.origin import patterns
    from assay.plan import values

    if words.only or not before.only:
        return patterns(words)
    if not (words.on or words.storage):
        return before.only
    return values.patterns_of_use(plan_here(*from_command_line.experiment(words)), before.only)


def _say_only(before: ExperimentRecord, words: Words, chosen: Patterns) -> None:
    if words.only or not before.only:
        return
    was = " ".join(f"--only {shlex.quote(','.join(one))}" for one in before.only)
    if chosen == before.only:
        say(f"as it was run with {was}; --only '*' runs all of it")
    else:
        say(f"it was run with {was}, which does not fit the systems and storages named here")


def _insist_on_what_is_not_in_it(capsule: Capsule, before: ExperimentRecord, words: Words) -> None:
    """Raises `ArgumentError` for servers and files that only the user can name."""
    from assay.record.capsule import capsule_file, named_files

    asked = before.experiment
    inputs = asked.input_paths
    of_input = f"{capsule_file.EXPERIMENT_FOLDER}/{named_files.INPUT_FOLDER}/"
    is_in_it = any(name.startswith(of_input) for name in capsule.manifest.members)
    if inputs and not words.input and not is_in_it:
        raise ArgumentError(
            f"its rows were read from {', '.join(Path(one).name for one in inputs)}: this capsule "
            "has the digest of input files, not the files",
            hint="name them: --input PATH",
        )
    servers = [one.url for one in asked.systems if one.url]
    if servers and not words.on:
        raise ArgumentError(
            f"it was run on a server or file by URL, {', '.join(map(str, servers))}: a capsule "
            "does not say which one you mean here",
            hint=f"name all its systems: --on {','.join(_named(before))}",
        )


def _named(before: ExperimentRecord) -> Iterator[str]:
    for one in before.experiment.systems:
        # A hint is copied, and a hidden password would be sent as it stands.
        yield (one.url or one.name).replace(f":{HIDDEN}@", "@")


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
    planned = narrowed_plan(plan_here(experiment, workload), patterns)
    cells = {run.cell.fingerprint for run in planned.runs}
    other = cells - {run.cell_fingerprint for run in before.runs}
    if not other:
        return
    why = (
        "; --quick is another experiment than the one that was packed: leave it out to compare both"
        if experiment.is_quick and not before.experiment.is_quick
        else ""
    )
    if other == cells:
        claims = ", only which claims of the paper hold" if before.workload.claims else ""
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
    between = "" if made.cells else setting_aside.factor_to_set_aside(made.a, made.b)
    if between:
        made = comparison.compare(*sides, between=between)
    sys.stdout.write("\n")
    registry.report_form("table")(comparison_report.build(made, []), sys.stdout, detail=detail)
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
    found = Counter(
        cell.primary.verdict.partition(":")[0]
        + (" (unreliable)" if cell.runs_verdict == "unreliable" else "")
        for cell in made.cells
    )
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
    return after.experiment.is_quick > before.experiment.is_quick


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
