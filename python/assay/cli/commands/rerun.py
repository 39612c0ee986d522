"""``assay rerun``: does the experiment of a capsule again here, and compares both."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import structs

from assay.cli.commands.run import insist_on_shell, measured, print_result
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
from assay.text.secrets import HIDDEN

if TYPE_CHECKING:
    from assay.contracts.experiment import Experiment
    from assay.plan.only import Patterns
    from assay.record import ExperimentRecord
    from assay.record.capsule.capsule_file import Capsule
    from assay.workload.values import Workload


@click.command("rerun", cls=Grouped)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@option(SETTINGS["quick"])
@option(SETTINGS["on"])
@option(SETTINGS["storage"])
@option(SETTINGS["log_storage"])
@option(SETTINGS["erase"])
@option(SETTINGS["input"])
@option(SETTINGS["allow_shell"])
@option(SETTINGS["trust"])
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

    FILE is one of `assay pack`. It is verified, and its experiment is run as
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
      assay rerun result.assay
      assay rerun result.assay --quick --storage tmpfs
      assay rerun result.assay --on postgresql://me@db/shop
    """
    from assay.cli.options import experiment_references
    from assay.cli.output import capsule_comparison
    from assay.lab.continuation import Request
    from assay.record import Store
    from assay.record.capsule import named_places
    from assay.record.capsule.opening import opened_capsule
    from assay.record.capsule.unpacking import unpacked

    with (
        opened_capsule(file, to_run=True) as (capsule, before),
        tempfile.TemporaryDirectory(prefix="assay-rerun-") as name,
    ):
        words = Words(
            target="",
            quick=quick or bool(before.experiment.get("is_quick")),
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
                named_places.insist_on_named_places(experiment, words, experiment_file.parent)
                named_places.insist_on_no_program(experiment, words, experiment_file.parent)
                insist_on_shell(experiment, words)
                say(f"{file} is as it was packed; experiment {before.id} of it is run again")
                _say_only(before, words, request.only)
                capsule_comparison.say_what_is_not_compared(
                    before,
                    experiment,
                    workload,
                    request.only,
                    is_on_another=bool(words.on or words.storage),
                )

            result = measured(
                words,
                loading,
                first_use,
                progress_s,
                records,
                request,
                insist=insist,
            )
        kept_in = result.rescue or records
        print_result(result, kept_in, "table", detail)
        with Store(kept_in, must_exist=True) as store:
            after = store.experiment(result.experiment_id)
        titles = (
            f"{experiment_references.title([before], before.path)}, {file}",
            experiment_references.title([after], after.path),
        )
        capsule_comparison.print_compared(before, after, titles, detail=bool(detail))
    return result.exit_code


def _only(before: ExperimentRecord, words: Words) -> Patterns:
    """Of the packed experiment, as far as it fits what is run now; or those that were given."""
    from assay.experiment import from_command_line as command_line
    from assay.experiment.command import patterns
    from assay.lab.preflight.optional_levels import plan_here
    from assay.plan import only

    if words.only or not before.only:
        return patterns(words)
    if not (words.on or words.storage):
        return before.only
    return only.of_use(plan_here(*command_line.experiment(words)), before.only)


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
    from assay.record.capsule import input_files, layout

    asked = before.experiment
    inputs = asked.get("input_paths", [])
    of_input = f"{layout.EXPERIMENT_FOLDER}/{input_files.FOLDER}/"
    is_in_it = any(name.startswith(of_input) for name in capsule.manifest.members)
    if inputs and not words.input and not is_in_it:
        raise ArgumentError(
            f"its rows were read from {', '.join(Path(one).name for one in inputs)}: this capsule "
            "has the digest of input files, not the files",
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
        # A hint is copied, and a hidden password would be sent as it stands.
        yield str(one.get("url") or one["name"]).replace(f":{HIDDEN}@", "@")
