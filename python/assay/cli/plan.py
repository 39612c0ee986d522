"""``assay plan``: what ``assay run`` would do."""

from __future__ import annotations

import sys

import click

from assay.cli import rows
from assay.cli.options import experiment_options, format_option
from assay.experiment import words as command_line
from assay.plan import plan

COLUMNS = (
    "position",
    "repetition",
    "test",
    "system",
    "storage",
    "clients",
    "parameters",
    "protocol",
)


@click.command("plan")
@experiment_options
@format_option(tuple(rows.FORMS))
def command(words: command_line.Words, form: str) -> None:
    """Print the runs of an experiment in their order, and start none.

    Names, numbers and files are checked as `assay run` checks them; no system is
    brought up and nothing is written.

    \b
    Example:
      assay plan bibsql.parallel --on sqlite,mariadb --repetitions 3
    """
    experiment, workload = command_line.experiment(words)
    found = [
        {
            "position": run.position,
            "repetition": run.repetition,
            "test": f"{workload.name}.{run.cell.test}",
            "system": run.cell.system.label,
            "storage": run.cell.storage.name,
            "clients": run.cell.clients,
            "parameters": " ".join(f"{key}={one}" for key, one in run.cell.parameters.items()),
            "protocol": run.cell.protocol,
            "seed": run.seed,
            "fingerprint": run.cell.fingerprint,
        }
        for run in plan(experiment, workload).runs
    ]
    rows.write(found, COLUMNS, form, sys.stdout)
