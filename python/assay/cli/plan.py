"""``assay plan``: prints the runs that ``assay run`` would execute."""

from __future__ import annotations

import sys

import click

from assay.cli import rows
from assay.cli.options import Grouped, experiment_options, format_option
from assay.cli.outcome import say
from assay.drive.prepare import Compiled
from assay.experiment import AS_IS, SystemChoice
from assay.experiment import words as command_line
from assay.load.prepare import check_rows
from assay.plan import plan
from assay.row_sources.protocol import row_source
from assay.steps import cache
from assay.steps.availability import look_for_systems, one_line
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
    "cache",
    "parameters",
    "driving",
    "about_s",
    "state",
)
_ONLY_IF_SAID = ("group_clients", "cache", "state")
"""Columns of the table that are left out where they say nothing."""


@click.command("plan", cls=Grouped)
@experiment_options
@format_option(tuple(rows.FORMS))
def command(words: command_line.Words, form: str) -> None:
    """Print the runs of an experiment in order, without starting them.

    Names, numbers, files and scripts are checked as `assay run` checks them; no
    system is started and nothing is written. about_s: ramp-up, warm-up and
    measurement of a run that ends by time, not counting provision and load.
    state: `refused` (the system lacks what the test needs; the others are run)
    or `not installed` (`assay run` ends before the first run).

    \b
    Example:
      assay plan bibsql.parallel --on sqlite,mariadb --repetitions 3
      assay plan mine.sql --on sqlite --offered-rate 100,200 --duration 30
    """
    experiment, workload = command_line.experiment(words)
    runs = plan(experiment, workload).runs
    row_source(workload).check_input(experiment.input_paths)
    check_rows(workload, runs)
    cache.check(runs)
    refusals = {run.position: why_refused(workload, run) for run in runs}
    expressible = [run for run in runs if refusals[run.position] is None]
    for warning in Compiled(workload).check(expressible):
        click.echo(f"warning: {warning}", err=True)
    available = look_for_systems(workload, expressible)
    missing = {label: one_line(error) for label, error in available.missing.items()}
    runnable = [run for run in expressible if run.cell.system.label not in missing]
    found = [
        {
            "position": run.position,
            "repetition": run.repetition,
            "test": workload.full_name(run.cell.test),
            "system": run.cell.system.label,
            "storage": run.cell.storage_name,
            "clients": run.cell.clients,
            "group_clients": " ".join(f"{key}={n}" for key, n in run.cell.group_clients.items()),
            "cache": "" if run.cell.cache == AS_IS else run.cell.cache,
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
            **_not_run(refusals[run.position], missing.get(run.cell.system.label)),
        }
        for run in runs
    ]
    left_out = [one for one in _ONLY_IF_SAID if not any(row[one] for row in found)]
    shown = tuple(one for one in COLUMNS if one not in left_out)
    rows.write(found, shown if form == "table" else COLUMNS, form, sys.stdout)
    for system in experiment.systems:
        if elsewhere := _from_elsewhere(system):
            say(f"{system.label}: {system.url_without_password}; {elsewhere}")
    for reason in dict.fromkeys(filter(None, refusals.values())):
        say(f"refused: {reason}")
    for label, reason in missing.items():
        say(f"{label} is not installed, so `assay run` would not begin: {reason}")
    timed = [run.cell.driving.planned_s for run in runnable]
    if timed and all(planned_s is not None for planned_s in timed):
        total_s = sum(planned_s or 0.0 for planned_s in timed)
        say(f"{counted(len(timed), 'run')}, about {duration(total_s)} of ramp-up and measurement")


def _not_run(refusal: str | None, missing: str | None) -> rows.Row:
    """The state of a run, which is empty for one that would be executed."""
    if refusal is not None:
        return {"state": "refused", "reason": refusal, "about_s": None}
    if missing is not None:
        return {"state": "not installed", "reason": missing, "about_s": None}
    return {"state": "", "reason": ""}


def _from_elsewhere(system: SystemChoice) -> str:
    """``host: PGHOST, port: default``: the origin of each part that is not in the URL."""
    return ", ".join(
        f"{name.removesuffix('_from')}: {origin}"
        for name, origin in system.url_origins.items()
        if origin != URL
    )
