"""``assay plan``: prints the runs that ``assay run`` would execute."""

from __future__ import annotations

import sys

import click

from assay.cli import rows
from assay.cli.options import Grouped, experiment_options, format_option
from assay.cli.outcome import say
from assay.drive.prepare import Compiled
from assay.experiment import SystemChoice
from assay.experiment import words as command_line
from assay.load.prepare import check_rows
from assay.plan import plan
from assay.row_sources.protocol import row_source
from assay.steps.refusal import why_refused
from assay.systems.sourced import URL
from assay.text.units import counted, duration

COLUMNS = (
    "position",
    "repetition",
    "test",
    "system",
    "storage",
    "clients",
    "group_clients",
    "parameters",
    "driving",
    "about_s",
)


@click.command("plan", cls=Grouped)
@experiment_options
@format_option(tuple(rows.FORMS))
def command(words: command_line.Words, form: str) -> None:
    """Print the runs of an experiment in order, without starting them.

    Names, numbers, files and scripts are checked as `assay run` checks them; no
    system is started and nothing is written. about_s: ramp-up, warm-up and
    measurement of a run that ends by time, not counting provision and load.

    \b
    Example:
      assay plan bibsql.parallel --on sqlite,mariadb --repetitions 3
      assay plan mine.sql --on sqlite --offered-rate 100,200 --duration 30
    """
    experiment, workload = command_line.experiment(words)
    runs = plan(experiment, workload).runs
    row_source(workload).check_input(experiment.input_paths)
    check_rows(workload, runs)
    expressible = [one for one in runs if why_refused(workload, one) is None]
    for warning in Compiled(workload).check(expressible):
        click.echo(f"warning: {warning}", err=True)
    found = [
        {
            "position": run.position,
            "repetition": run.repetition,
            "test": workload.full_name(run.cell.test),
            "system": run.cell.system.label,
            "storage": run.cell.storage_name,
            "clients": run.cell.clients,
            "group_clients": " ".join(f"{key}={n}" for key, n in run.cell.group_clients.items()),
            "parameters": " ".join(f"{key}={value}" for key, value in run.cell.parameters.items()),
            "protocol": run.cell.protocol,
            "driving": " ".join(
                f"{name}={level}" for name, level in run.cell.driving.described().items()
            ),
            "about_s": run.cell.driving.planned_s,
            "seed": run.seed,
            "fingerprint": run.cell.fingerprint,
            "url": run.cell.system.url_without_password,
            "url_origins": dict(run.cell.system.url_origins),
        }
        for run in runs
    ]
    left_out = () if any(one["group_clients"] for one in found) else ("group_clients",)
    shown = tuple(one for one in COLUMNS if one not in left_out)
    rows.write(found, shown if form == "table" else COLUMNS, form, sys.stdout)
    for system in experiment.systems:
        if elsewhere := _from_elsewhere(system):
            say(f"{system.label}: {system.url_without_password}; {elsewhere}")
    timed = [run.cell.driving.planned_s for run in runs]
    if runs and all(planned_s is not None for planned_s in timed):
        total_s = sum(planned_s or 0.0 for planned_s in timed)
        say(f"{counted(len(runs), 'run')}, about {duration(total_s)} of ramp-up and measurement")


def _from_elsewhere(system: SystemChoice) -> str:
    """``host: PGHOST, port: default``: the origin of each part that is not in the URL."""
    return ", ".join(
        f"{name.removesuffix('_from')}: {origin}"
        for name, origin in system.url_origins.items()
        if origin != URL
    )
