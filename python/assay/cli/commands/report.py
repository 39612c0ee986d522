"""``assay report``: prints the report of a recorded experiment, or of several as one, or writes it
to a file."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options.shared_options import detail_option, records_option, report_format_option
from assay.cli.options.usage_errors import DestroyingOption
from assay.cli.process import say
from assay.errors import ArgumentError
from assay.text.units import counted


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
@records_option
def command(
    references: tuple[str, ...],
    form: str,
    output: str | None,
    charts: Path | None,
    force: bool,
    detail: bool | None,
    records: Path,
) -> None:
    """Print the report of a recorded experiment, or of several as one.

    EXPERIMENT is `latest`, `latest-1`, a number, `run:17` for a single run, or
    FILE:3 of another record file. Several experiments, of one workload and in one
    record file (`assay merge`), are one report, in which the machine is a factor;
    NAME is what the machine of that experiment is called there, which may be the
    name that a paper has for its machine. Nothing is run again: the report is made from
    the record file. The format html is one page with charts, the settings,
    scripts and raw rows of each run, which needs no network; it is written to a
    file and not to a terminal.

    \b
    Example:
      assay report
      assay report 3 --format markdown
      assay report 3 --format html --output report.html
      assay report 3 --charts pictures/
      assay report big=3 small=5
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

    insist_on_readable(form, output)
    with without_garbage_collection():
        with said_meanwhile("reading the record …"):
            experiment = experiment_references.in_one_report(references, records)
        with said_meanwhile("making the report …"):
            report = build(experiment)
        if charts is not None:
            say(f"{counted(write_charts(report, charts, force=force), 'chart')} in {charts}")
        write(report, form, detail, output, force=force)
        if output not in (None, STANDARD_OUTPUT):
            say(f"written to {output}")
