"""``assay explain``: prints the instruction list of a test, and the exact text sent to each
system."""

from __future__ import annotations

import sys
from typing import TypedDict

import click

from assay import registry
from assay.cli.options.shared_options import experiment_options, format_option
from assay.cli.options.usage_errors import Grouped
from assay.cli.output import rows
from assay.cli.process import say
from assay.contracts.factors import PROTOCOL
from assay.drive.prepare import explained, scripts_of_all, sent_statements
from assay.experiment import from_command_line
from assay.lab.refusal import why_lacking
from assay.plan import Plan, PlannedRun, plan
from assay.text.terminal import for_terminal, visible, visible_lines
from assay.workload.scripts import as_file
from assay.workload.values import Script, Workload

COLUMNS = ("system", "script", "path", "text")


@click.command("explain", cls=Grouped)
@experiment_options
@format_option((*rows.FORMS, "sql"))
def command(words: from_command_line.Words, form: str) -> None:
    """Print the instructions and statements of each client, without running them.

    Shows the instruction list that the engine compiles from each script, followed
    by every statement as the system would receive it. No system is started. With
    --format sql, only the statements are printed, as a file for the system's own
    client; the reason why a test is refused goes to standard error.

    \b
    Example:
      assay explain bibsql --on mariadb
      assay explain bibsql --on postgresql --format sql > sanity-checks.sql
    """
    experiment, workload = from_command_line.experiment(words)
    first_runs = _first_runs(plan(experiment, workload))
    if form == "sql":
        for run in first_runs:
            if (reason := why_lacking(workload, run)) is not None:
                say(f"{workload.full_name(run.cell.test)} is refused: {reason}")
            scripts = _scripts(workload, run)
            sent = sent_statements(workload, run) if scripts else ()
            for_terminal(sys.stdout).write(as_file(scripts, sent))
        return
    found = [_explained(workload, run) for run in first_runs]
    if form == "json":
        rows.write_json(found, sys.stdout)
    elif form == "table":
        for explanation in found:
            _write_text(explanation)
    else:
        listed: list[rows.Row] = [
            {
                "system": explanation["system"],
                "script": script["script"],
                "path": script["path"],
                "text": script["text"],
            }
            for explanation in found
            for script in explanation["scripts"]
        ]
        rows.write(listed, COLUMNS, form, sys.stdout)


class _SentText(TypedDict):
    script: str
    path: str
    text: str


class _Explanation(TypedDict):
    """What one dialect is sent in a test."""

    test: str
    system: str
    dialect: str
    protocol: str
    instructions: str
    scripts: list[_SentText]


def _first_runs(planned: Plan) -> list[PlannedRun]:
    """One run of each dialect and test; the others send the same statements."""
    first: dict[tuple[str, str], PlannedRun] = {}
    for run in planned.runs:
        dialect = registry.system(run.cell.system.name).dialect.name
        first.setdefault((dialect, run.cell.test), run)
    return list(first.values())


def _scripts(workload: Workload, run: PlannedRun) -> tuple[Script, ...]:
    """None where the run is refused: its system is sent nothing."""
    if why_lacking(workload, run) is not None:
        return ()
    return scripts_of_all(workload, run, registry.system(run.cell.system.name).dialect)


def _explained(workload: Workload, run: PlannedRun) -> _Explanation:
    scripts = _scripts(workload, run)
    return {
        "test": workload.full_name(run.cell.test),
        "system": run.cell.system.label,
        "dialect": registry.system(run.cell.system.name).dialect.name,
        "protocol": run.cell.level(PROTOCOL),
        "instructions": _instructions(workload, run),
        "scripts": [
            {"script": script.name, "path": script.path, "text": script.text} for script in scripts
        ],
    }


def _instructions(workload: Workload, run: PlannedRun) -> str:
    if (reason := why_lacking(workload, run)) is not None:
        return f"refused: {reason}"
    test = workload.test(run.cell.test)
    return explained(workload, run) or f"{test.name} runs no scripts: {test.help}"


def _write_text(explanation: _Explanation) -> None:
    title = f"{explanation['test']} on {explanation['system']}, dialect {explanation['dialect']}"
    instructions = visible_lines(explanation["instructions"].rstrip())
    sys.stdout.write(f"{visible(title)}\n\n{instructions}\n\n")
