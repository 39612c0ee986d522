"""``assay capsule pack``: makes one file of an experiment, which others verify and run again."""

from __future__ import annotations

import shlex
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.options.shared_options import records_option
from assay.cli.options.usage_errors import DestroyingOption
from assay.cli.process import say
from assay.errors import ArgumentError, YouError
from assay.experiment.settings_catalogue import of_records
from assay.text.units import size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.record import ExperimentRecord
    from assay.record.capsule.named_files import NamedFiles
    from assay.text.toml_file import TomlData


@click.command("pack")
@click.argument("reference", metavar="EXPERIMENT")
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write. [default: experiment-N.assay]",
)
@click.option(
    "--force", cls=DestroyingOption, is_flag=True, help="Replace the --output file if it exists."
)
@click.option(
    "--without-input",
    is_flag=True,
    help="Leave out the files of --input: the capsule has their digest alone.",
)
@records_option
def command(
    reference: str, output: Path | None, force: bool, without_input: bool, records: Path
) -> None:
    """Make one file of an experiment: a capsule.

    EXPERIMENT is a number, `latest`, `latest-1` or FILE:3 of another record file.
    The capsule holds a record file with this experiment alone, the experiment as a
    file, the workload, scripts and input files that Assay does not bring, the
    settings as asked and in effect, versions, machine, seeds, digests of the data,
    and the report as one page. Passwords and keys are not in it. Packed twice, it
    is the same bytes.

    `assay capsule verify` says whether it was changed; `assay capsule rerun` runs it again.

    \b
    Example:
      assay capsule pack latest -o result.assay
      assay capsule pack 12
    """
    from assay.cli.options import experiment_references
    from assay.cli.output import report_output
    from assay.cli.output.report_output import said_meanwhile, without_garbage_collection
    from assay.record.capsule import capsule_file, packing

    if reference.endswith(capsule_file.ENDING):
        raise ArgumentError(
            f"expected an experiment, found the capsule {reference}",
            hint=f"a file to write is named with -o: assay capsule pack latest -o {reference}",
        )
    with without_garbage_collection():
        with said_meanwhile("reading the record …"):
            found = experiment_references.experiments(reference, records)
            is_run = experiment_references.run_of([reference], records) is not None
        record = _insist_on_one(found, reference, is_run=is_run)
        target = output or Path(f"experiment-{record.id}{capsule_file.ENDING}")
        with said_meanwhile("packing …"), packing.temporary_folder() as folder:
            members = _members(record, folder, with_input=not without_input)
            with (
                packing.packed(members, version("assay-db")) as packed,
                report_output.file_written(target, force=force) as descriptor,
            ):
                packed.copy(descriptor)
    say(
        f"experiment {record.id} is packed in {target}, {size(packed.size_bytes)}; "
        f"`assay capsule rerun {shlex.quote(str(target))}` runs it again"
    )


def _insist_on_one(
    experiments: list[ExperimentRecord], reference: str, *, is_run: bool
) -> ExperimentRecord:
    if len(experiments) > 1:
        raise ArgumentError(
            f"expected one experiment, found {len(experiments)}: {reference!r}",
            hint="a capsule holds one; pack each into a file of its own",
        )
    (record,) = experiments
    if is_run:
        raise ArgumentError(
            f"expected an experiment, found a single run: {reference!r}",
            hint=f"pack its experiment: assay capsule pack {record.id}{of_records(record.path)}",
        )
    if record.is_under_way:
        raise ArgumentError(
            f"experiment {record.id} is under way: expected one that has ended",
            hint="wait until it has ended",
        )
    if not any(run.is_measured for run in record.runs):
        raise ArgumentError(
            f"experiment {record.id} has no run that was measured: there is no result to pack",
            hint="`assay list runs` shows the runs of others",
        )
    return record


def _members(record: ExperimentRecord, folder: Path, *, with_input: bool) -> Mapping[str, Path]:
    """By their names, files in ``folder``."""
    from assay.record.capsule import capsule_file, packing
    from assay.report import gallery

    own = [capsule_file.RECORD, capsule_file.REPORT, capsule_file.FACTS]
    packing.record_of(record.path, record.id, folder / capsule_file.RECORD)
    (folder / capsule_file.REPORT).write_bytes(gallery.report_page(record))
    (folder / capsule_file.FACTS).write_bytes(gallery.text_of(gallery.facts_of(record)))
    names = [*own, *_experiment(record, folder, with_input=with_input)]
    members = {name: folder / name for name in names}
    packing.insist_on_no_secrets(members)
    return members


def _experiment(record: ExperimentRecord, folder: Path, *, with_input: bool) -> list[str]:
    """The experiment file and what it names, which are read back to see that they plan the same
    runs."""
    from assay.record.capsule import capsule_file, named_files

    found = named_files.named_files(record, with_input=with_input)
    for name in (*found.texts, *found.inputs):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    for name, text in found.texts.items():
        (folder / name).write_bytes(text.encode())
    for name, file in found.inputs.items():
        named_files.copy_input(file, folder / name)
    (folder / capsule_file.EXPERIMENT_FOLDER).mkdir(exist_ok=True)
    names = [*found.texts, *found.inputs, capsule_file.EXPERIMENT]
    try:
        _read_back(record, found, found.quick, folder)
    except YouError:
        if not found.quick:
            raise
    else:
        return names
    # [quick] of the file may be about systems that an option of the command line has replaced.
    _read_back(record, found, {}, folder)
    return names


def _read_back(record: ExperimentRecord, files: NamedFiles, quick: TomlData, folder: Path) -> None:
    from assay.experiment import as_file
    from assay.record.capsule import capsule_file
    from assay.text.output_file import toml_text

    tables = as_file.tables_of(record.experiment, files.places, quick)
    text = (
        f"# Experiment {record.id}, as it was run. Again: `assay capsule rerun` of the capsule.\n"
    )
    (folder / capsule_file.EXPERIMENT).write_bytes((text + toml_text(tables)).encode())
    _insist_on_the_same_runs(folder / capsule_file.EXPERIMENT, record)


def _insist_on_the_same_runs(file: Path, record: ExperimentRecord) -> None:
    """Raises `ArgumentError` where the file plans others than these: other cells, repetitions or
    seeds. It is planned and not looked for on this machine, since it may have been run on
    another, whose optional levels were left out."""
    from assay.experiment import from_command_line
    from assay.lab import refusal
    from assay.plan import plan
    from assay.record.capsule import named_files
    from assay.text.units import counted

    asked = record.experiment
    words = from_command_line.Words(target=str(file), quick=asked.is_quick)
    experiment, workload = from_command_line.asked(words)
    if experiment.input_paths:
        named_files.insist_on_the_same_input(record, experiment, workload)
    experiment = replace(refusal.spelled_experiment(experiment), left_out=asked.left_out)
    planned = plan(experiment, workload).runs
    known = {(run.cell.fingerprint, run.repetition, run.seed) for run in planned}
    lost = [
        run
        for run in record.runs
        # One that Assay measured again was in no plan, and is in none now.
        if run.in_place_of is None and (run.cell_fingerprint, run.repetition, run.seed) not in known
    ]
    if lost:
        first = lost[0]
        raise ArgumentError(
            f"{counted(len(lost), 'run')} of this experiment would be others if it were run again "
            f"from what the record has of it, the first one {first.full_test_name} on "
            f"{first.system_label}, {first.storage}, {counted(first.clients, 'client')}: a plugin, "
            "a workload or Assay itself has changed since",
            hint="run it again with this Assay, and pack that experiment",
        )
