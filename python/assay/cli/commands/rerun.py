"""``assay rerun``: does the experiment of a capsule again here, and compares both."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.commands.run import measured, print_result
from assay.cli.options.grouped_help import Grouped
from assay.cli.options.loading_options import loading_options
from assay.cli.options.probing_options import probing_options
from assay.cli.options.setting_options import option
from assay.cli.options.shared_options import (
    detail_option,
    progress_option,
    records_option,
)
from assay.cli.process.outcome import say
from assay.errors import ArgumentError
from assay.experiment.settings.catalogue import SETTINGS, Words
from assay.load.load_options import Loading
from assay.probe.first_use import FirstUse

if TYPE_CHECKING:
    from assay.contracts.experiment import Experiment
    from assay.record import ExperimentRecord
    from assay.record.capsule.verifying import Capsule


@click.command("rerun", cls=Grouped)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@option(SETTINGS["quick"])
@option(SETTINGS["on"])
@option(SETTINGS["storage"])
@option(SETTINGS["erase"])
@option(SETTINGS["input"])
@option(SETTINGS["allow_shell"])
@option(SETTINGS["only"])
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
    erase: bool,
    input: tuple[str, ...],  # noqa: A002  (as the option is called)
    allow_shell: bool,
    only: tuple[str, ...],
    loading: Loading,
    first_use: FirstUse,
    detail: bool | None,
    progress_s: float,
    records: Path,
) -> int:
    """Run the experiment of a capsule again here, and compare.

    FILE is one of `assay pack`. It is verified, and its experiment is run as
    `assay run` would: what is not installed or cannot be had here is said before
    anything is started, and the results are kept in the record. At the end stand
    the comparison of the packed experiment (A) with this one (B), what differs
    between the two, and which claims hold in each.

    A capsule may be anyone's: its servers by URL are reached only if you name
    them with --on, devices are erased only with --erase, and its scripts start
    programs only with --allow-shell. Input files are not in it: --input.

    Exit status: that of `assay run` for the new experiment.

    \b
    Example:
      assay rerun result.assay
      assay rerun result.assay --quick --storage tmpfs
      assay rerun result.assay --on postgresql://me@db/shop
    """
    from assay.experiment.command import patterns
    from assay.lab.continuation import Request
    from assay.record import Store
    from assay.record.capsule import layout
    from assay.record.capsule.verifying import verified

    capsule = verified(file)
    with tempfile.TemporaryDirectory(prefix="assay-rerun-") as name:
        folder = Path(name)
        _unpack(capsule, folder)
        with Store(folder / layout.RECORD, must_exist=True) as store:
            before = store.latest()
        words = Words(
            target=str(folder / layout.EXPERIMENT),
            quick=quick or bool(before.experiment.get("is_quick")),
            on=on,
            storage=storage,
            erase=erase,
            input=input,
            allow_shell=allow_shell,
            only=only,
        )
        _insist_on_what_is_not_in_it(before, words)
        say(f"{file} is as it was packed; experiment {before.id} of it is run again")
        result = measured(
            words,
            loading,
            first_use,
            progress_s,
            records,
            Request(only=patterns(words)),
            insist=lambda experiment: _insist_on_shell(experiment, words),
        )
        kept_in = result.rescue or records
        print_result(result, kept_in, "table", detail)
        with Store(kept_in, must_exist=True) as store:
            after = store.experiment(result.experiment_id)
        _compare(before, after, file, detail=bool(detail))
    return result.exit_code


def _unpack(capsule: Capsule, folder: Path) -> None:
    """The experiment file with what it names, and the record; names were verified."""
    from assay.record.capsule import layout

    for name in capsule.manifest.members:
        if name.startswith(f"{layout.EXPERIMENT_FOLDER}/") or name == layout.RECORD:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(capsule.read(name))


def _insist_on_what_is_not_in_it(before: ExperimentRecord, words: Words) -> None:
    """Raises `ArgumentError` for servers and files that only the user can name."""
    asked = before.experiment
    inputs = asked.get("input_paths", [])
    if inputs and not words.input:
        raise ArgumentError(
            f"its rows were read from {', '.join(Path(one).name for one in inputs)}: a capsule has "
            "the digest of input files, not the files",
            hint="name them: --input PATH",
        )
    servers = [one["url"] for one in asked.get("systems", []) if one.get("url")]
    if servers and not words.on:
        raise ArgumentError(
            f"it was run on a server or file by URL, {', '.join(map(str, servers))}: a capsule "
            "does not say which one you mean here",
            hint=f"name all its systems: --on {','.join(_named(before))}",
        )


def _named(before: ExperimentRecord) -> Iterator[str]:
    for one in before.experiment.get("systems", []):
        yield str(one.get("url") or one["name"])


def _insist_on_shell(experiment: Experiment, words: Words) -> None:
    """Raises `ArgumentError` where the capsule allows its scripts what the user has not."""
    of_tests: list[Any] = [one.get("driving", {}) for one in experiment.of_tests.values()]
    is_allowed = any(one.get("allow_shell") for one in (experiment.driving, *of_tests))
    if is_allowed and not words.allow_shell:
        raise ArgumentError(
            "its scripts may start programs on this machine",
            hint="read the scripts in it; --allow-shell lets them",
        )


def _compare(
    before: ExperimentRecord, after: ExperimentRecord, file: Path, *, detail: bool
) -> None:
    from assay import comparison, registry
    from assay.cli.options import experiment_references
    from assay.report.comparison_tables import comparison as tables

    sides = []
    for name, record, where in (("A", before, f", {file}"), ("B", after, "")):
        title = experiment_references.title([record], record.path) + where
        sides.append(comparison.side(name, title, [record]))
    made = comparison.compare(*sides)
    sys.stdout.write("\n")
    registry.report_form("table")(tables.build(made, []), sys.stdout, detail=detail)
    for line in _claims(before, after):
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
    if not made.cells:
        say(
            "A and B have no cell in common, so nothing is compared: what differs stands above"
            + (" (the quick version is another experiment)" if _is_quicker(before, after) else "")
        )


def _is_quicker(before: ExperimentRecord, after: ExperimentRecord) -> bool:
    return bool(after.experiment.get("is_quick")) > bool(before.experiment.get("is_quick"))


def _claims(before: ExperimentRecord, after: ExperimentRecord) -> Iterator[str]:
    """How many hold in each, and those of which the two say something else."""
    from assay.report.gallery.facts import facts_of, outcomes

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
