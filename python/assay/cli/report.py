"""``assay report``: prints the report of a recorded experiment."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assay import registry
from assay.cli.options import detail_option, records_option, report_format_option


@click.command("report")
@click.argument("reference", metavar="[EXPERIMENT]", nargs=-1)
@report_format_option
@detail_option
@records_option
def command(reference: tuple[str, ...], form: str, detail: bool | None, records: Path) -> None:
    """Print the report of a recorded experiment.

    EXPERIMENT is `latest`, a number, or `run N` for a single run. Nothing is run
    again: the report is made from the record file.

    \b
    Example:
      assay report
      assay report 3 --format markdown
    """
    from assay.record import Store
    from assay.report.build import build

    with Store(records, must_exist=True) as store:
        report = build(store.find(" ".join(reference) or "latest"))
    registry.report_form(form)(report, sys.stdout, detail=detail)
