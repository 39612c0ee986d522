"""``assay report``: prints the report of a recorded experiment, or of several as one, or writes it
to a file; of one run a summary, or everything recorded."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click
import msgspec
from msgspec.structs import replace

from assay.cli.options.shared_options import detail_option, records_option, report_format_option
from assay.cli.options.usage_errors import DestroyingOption
from assay.cli.output import rows
from assay.cli.process import say
from assay.errors import ArgumentError
from assay.experiment.settings_catalogue import of_records
from assay.text import units
from assay.text.secrets import without_secrets
from assay.text.units import counted

if TYPE_CHECKING:
    from assay.record import ExperimentRecord, Run
    from assay.record.runs.reading import KeptDocuments


_OF_A_STEP = ("dataset", "drive", "scripts", "observation", "samples", "checks")
_OF_PLAN: Mapping[str, tuple[str, ...]] = {
    "experiment_id": ("position",),
    "workload": ("test",),
    "is_ad_hoc": ("system",),
    "storage": ("clients", "parameters", "repetition", "seed"),
    "verdict_reason": ("scripts_given", "driving", "server_machine", "group_clients", "levels"),
    "exit_status": ("in_place_of",),
}
"""Field of a run → what is shown behind it of the planned run."""
LONG = 100
"""Longest value in a table, in characters."""


@click.command("report")
@click.argument("references", metavar="[[NAME=]EXPERIMENT]...", nargs=-1)
@report_format_option
@click.option(
    "--output", "-o", metavar="FILE", help="File to write; -: standard output. [default: -]"
)
@click.option(
    "--charts",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder in which each chart is written as SVG and PNG.",
)
@click.option(
    "--force",
    cls=DestroyingOption,
    is_flag=True,
    help="Replace the --output file and charts if they exist.",
)
@detail_option
@click.option(
    "--raw",
    is_flag=True,
    help="Of one run: each recorded value; in a table, long ones are shortened.",
)
@records_option
def command(
    references: tuple[str, ...],
    form: str,
    output: str | None,
    charts: Path | None,
    force: bool,
    detail: bool | None,
    raw: bool,
    records: Path,
) -> None:
    """Print the report of a recorded experiment, of several as one, or of one run.

    EXPERIMENT is `latest`, `latest-1`, a number, or FILE:3 of another record file.
    A single run is `run:17` (see `assay list runs`), `run:latest`, or `run:latest-1`
    for the run begun before it. Of a run, the table is a summary; --detail prints
    its report, and --raw each recorded value, which --format json has in full.

    Several experiments, of one workload and in one
    record file (`assay merge`), are one report, in which the machine is a factor;
    NAME is what the machine of that experiment is called there, which may be the
    name that a paper has for its machine. Nothing is run again: the report is made
    from the record file. The format html is one page with charts, the settings,
    scripts and raw rows of each run, which needs no network; it is written to a
    file and not to a terminal.

    \b
    Example:
      assay report
      assay report 3 --format markdown
      assay report 3 --format html --output report.html
      assay report 3 --charts pictures/
      assay report big=3 small=5
      assay report run:17
      assay report run:latest --raw --format json
    """
    if force and output is None and charts is None:
        raise ArgumentError("--force needs --output or --charts", hint="--output FILE")
    from assay.cli.options import experiment_references
    from assay.cli.output.report_output import (
        STANDARD_OUTPUT,
        insist_on_readable,
        said_meanwhile,
        without_garbage_collection,
        write,
        write_charts,
    )
    from assay.report.build import build

    one_run = experiment_references.run_of(references, records)
    if raw:
        if one_run is None:
            raise ArgumentError("--raw is about one run", hint="run:17, or run:latest")
        _insist_on_raw_form(form, detail, charts)
        _write_raw(*one_run, form, output, force=force)
        return
    insist_on_readable(form, output)
    with without_garbage_collection():
        with said_meanwhile("reading the record …"):
            experiment = experiment_references.in_one_report(references, records)
        with said_meanwhile("making the report …"):
            report = build(experiment)
        is_on_paper = charts is not None or output not in (None, STANDARD_OUTPUT)
        if one_run is not None and form == "table" and detail is None and not is_on_paper:
            _summarize(experiment)
            return
        if charts is not None:
            say(f"{counted(write_charts(report, charts, force=force), 'chart')} in {charts}")
        write(report, form, detail, output, force=force)
        if output not in (None, STANDARD_OUTPUT):
            say(f"written to {output}")


def _insist_on_raw_form(form: str, detail: bool | None, charts: Path | None) -> None:
    """Raises `ArgumentError` for what is said of a report, which this is not."""
    if form not in rows.FORMS:
        raise ArgumentError(f"--raw has no --format {form}", hint=f"one of {', '.join(rows.FORMS)}")
    for name, is_given in (("--detail", detail is not None), ("--charts", charts is not None)):
        if is_given:
            raise ArgumentError(f"{name} does not apply to --raw", hint=f"leave {name} out")


def _write_raw(records: Path, run: str, form: str, output: str | None, *, force: bool) -> None:
    from assay.cli.output.report_output import STANDARD_OUTPUT, write_file
    from assay.record import Store

    with Store(records, must_exist=True) as store:
        number = store.find(run).runs[0].id
        record = _everything(store.run(number), store.documents(number))
    record = _without_passwords(_without_copies(record))
    text = io.StringIO()
    is_file = output not in (None, STANDARD_OUTPUT)
    stream: TextIO = text if is_file else sys.stdout
    if form == "json":
        rows.write_json(_with_exact_seeds(record), stream)
    else:
        found = [{"what": name, "value": value} for name, value in _flat(record)]
        if form == "table":
            found = [{**row, "value": _cut(row["value"])} for row in found]
        rows.write(found, ("what", "value"), form, stream)
    if output is not None and is_file:
        write_file(output, text.getvalue().encode(), force=force)
        say(f"written to {output}")


def _summarize(experiment: ExperimentRecord) -> None:
    """The first look at the only run that was read, with its own verdict."""
    from assay.judge import CellVerdict
    from assay.report.build import build
    from assay.report.summaries import first_look

    (run,) = experiment.runs
    of_its_own = CellVerdict(run.judged, (), 1, int(run.observation is not None))
    experiment = replace(experiment, cells={run.cell_key: of_its_own})
    began = f", began {rows.local_time(run.begun_unix_ns)}" if run.begun_unix_ns else ""
    took = ""
    if run.begun_unix_ns and run.ended_unix_ns:
        took = f", took {units.duration((run.ended_unix_ns - run.begun_unix_ns) / 1e9)}"
    sys.stdout.write(
        f"run {run.id} of experiment {experiment.id}, repetition {run.repetition}: "
        f"{run.state}{began}{took}\n"
    )
    more = f"assay report run:{run.id} --detail{of_records(experiment.path)}"
    first_look.render(experiment, build(experiment), sys.stdout, more, first_look.MOST_LINES - 1)


def _everything(run: Run, kept: KeptDocuments) -> dict[str, Any]:
    """What is recorded, by its names; documents are shown as they are on record."""
    found: dict[str, Any] = {}
    for name in run.__struct_fields__:
        match name:
            case "planned" | "data":
                continue
            case "deployment":
                found["cell"] = kept.cell
                continue
            case "drive":
                found["deployment_document"] = kept.deployment
                found["dataset"] = [None, *kept.datasets.values()][-1]
        for shown in (name, *_OF_PLAN.get(name, ())):
            found[shown] = msgspec.to_builtins(getattr(run, shown), enc_hook=str)
    for step in found["steps"]:
        step["dataset"] = kept.datasets.get(step["position"])
    return found


def _without_copies(record: dict[str, Any]) -> dict[str, Any]:
    """The record without those values of its steps that equal the run's own."""
    steps = [
        {
            name: value
            for name, value in step.items()
            if name not in _OF_A_STEP or value != record[name]
        }
        for step in record["steps"]
    ]
    # An older Assay knew fewer settings.
    kept = record["cell"].get("driving") or {}
    driving = {name: one for name, one in record["driving"].items() if name in kept}
    return {**record, "driving": driving, "steps": steps}


def _without_passwords(value: Any) -> Any:
    """URLs without those that an earlier Assay has recorded."""
    if isinstance(value, Mapping):
        return {key: _without_passwords(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_passwords(item) for item in value]
    return without_secrets(value) if isinstance(value, str) and "://" in value else value


def _with_exact_seeds(value: Any) -> Any:
    """Seeds as texts, as in a report: a reader of JSON may round a number of 64 bits."""
    if isinstance(value, Mapping):
        return {
            key: str(item) if key == "seed" and item is not None else _with_exact_seeds(item)
            for key, item in value.items()
        }
    return [*map(_with_exact_seeds, value)] if isinstance(value, list | tuple) else value


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf with its dotted name; a list of plain values is one leaf."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flat(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple) and any(isinstance(item, dict | list) for item in value):
        for number, item in enumerate(value):
            yield from _flat(item, f"{name}[{number}]")
    else:
        yield name, value


def _cut(value: Any) -> Any:
    text = str(value)
    return f"{text[:LONG]}…" if len(text) > LONG else value
