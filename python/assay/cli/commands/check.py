"""``assay check``: everything that can be said of a workload without a run, and with ``--explain``
the instruction list of a test, and the exact text sent to each system."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TypedDict

import click

from assay import registry
from assay.cli.options.shared_options import experiment_options, format_option, is_typed
from assay.cli.options.usage_errors import Grouped, Headed
from assay.cli.output import rows
from assay.cli.process import say
from assay.contracts.experiment import SystemChoice
from assay.contracts.factors import PROTOCOL
from assay.contracts.setting import Heading
from assay.drive.prepare import explained, scripts_of_all, sent_statements
from assay.errors import ArgumentError, AssayError, YouError
from assay.experiment import from_command_line
from assay.experiment.choices import checked_choices, storage_words
from assay.experiment.settings_catalogue import Words
from assay.lab.authoring import (
    ExaminedWorkload,
    examined,
    examined_script,
    never_prepared,
    refused_statements,
    scripts_of,
)
from assay.lab.preflight import availability_of
from assay.lab.refusal import why_lacking
from assay.plan import Plan, PlannedRun, plan
from assay.provision.install.cache import in_use
from assay.provision.running_system import running_system
from assay.provision.undo.ledger import clear_leftovers
from assay.text.terminal import for_terminal, visible, visible_lines
from assay.text.units import counted
from assay.workload import ad_hoc_script
from assay.workload.scripts import as_file
from assay.workload.values import Script, Workload

_OF_A_CHECK = ("target", "on", "set", "explain")
_COLUMNS = ("system", "script", "path", "text")


@click.command("check", cls=Grouped)
@experiment_options
@click.option(
    "--explain",
    cls=Headed,
    heading=Heading.OUTPUT,
    is_flag=True,
    help="Print the instructions and statements of each client. No system is started.",
)
@format_option((*rows.FORMS, "sql"))
def command(words: Words, explain: bool, form: str) -> int:
    """Check a workload, script or experiment file: mistakes with line and fix.

    Nothing is measured. For an experiment file, prints its tests and systems. For a
    workload, reads the whole folder and compiles every script, check and override. Names all
    mistakes at once; without one, lists tables, tests, scripts, checks and
    parameters. With --on, also starts each system, creates empty tables there and
    has every statement prepared that reads or changes rows or has values; the
    others (SET, CREATE, CALL …) are listed. None is executed. Exit status 2 means
    that something is wrong. A script has no tables of its own: name a server that
    has them by its URL. Of the options below, a check takes --on and, for a script,
    --set.

    With --explain, prints the instruction list that the engine compiles from each
    script, followed by every statement as the system would receive it. Nothing is
    started, and all options of `assay run` hold. With --format sql, only the
    statements are printed, as a file for the system's own client; the reason why a
    test is refused goes to standard error.

    \b
    Example:
      assay check shop
      assay check shop --on sqlite,postgresql
      assay check read.sql --set id=7 --on postgresql://me@db/shop
      assay check bibsql --explain --on mariadb
      assay check bibsql --explain --on postgresql --format sql > checks.sql
    """
    if explain:
        _explain(words, form)
        return 0
    _refuse_what_only_explains()
    path = Path(words.target)
    if path.suffix == ".toml" and path.name != registry.WORKLOAD_FILE:
        return _check_experiment(words)
    target = str(path.parent) if path.name == registry.WORKLOAD_FILE else words.target
    scripts = target.split(",")
    if len(scripts) > 1 and all(map(ad_hoc_script.is_script, scripts)) and not path.exists():
        return max(_check(one, words.on, words.set) for one in scripts)
    return _check(target, words.on, words.set)


def _refuse_what_only_explains() -> None:
    """Raises `ArgumentError` for the first option that a check by itself does not obey."""
    for one in click.get_current_context().command.params:
        if one.name not in _OF_A_CHECK and is_typed(str(one.name)):
            name = max(one.opts, key=len)
            raise ArgumentError(
                f"{name} does not apply to a check",
                hint=f"add --explain to print the statements with it, or leave {name} out",
            )


def _check_experiment(words: Words) -> int:
    experiment, workload = from_command_line.experiment(words)
    planned = plan(experiment, workload)
    for run in _first_runs(planned):
        _instructions(workload, run)  # compiles its scripts: a mistake in one is an error here
    lines = {
        "tests": dict.fromkeys(workload.full_name(run.cell.test) for run in planned.runs),
        "systems": dict.fromkeys(run.cell.system.label for run in planned.runs),
    }
    if not experiment.goal:  # a search takes as many runs as it needs
        lines["runs"] = {str(len(planned.runs)): None}
    for name, found in lines.items():
        click.echo(f"{name:<10}  {', '.join(found)}")
    say(f"{words.target}: no mistake found")
    return 0


def _check(workload: str, systems: tuple[str, ...], variables: tuple[str, ...]) -> int:
    choices = checked_choices.system_choices(systems) if systems else ()
    available = availability_of(choices)
    available.refuse_missing()
    with _examined(workload, variables) as found:
        if found.workload is not None and not found.problems and choices:
            for cleared in clear_leftovers():
                say(f"warning: {cleared.sentence()}")
            with in_use(available.places):
                for choice in choices:
                    _try(found, found.workload, choice, workload)
        if found.problems:
            for problem in found.problems:
                click.echo(_shown(problem))
            more = "" if found.is_whole else "; there may be more once these are corrected"
            say(f"{workload}: {counted(len(found.problems), 'mistake')}{more}")
            return YouError.exit_code
        if found.workload is not None:
            for line in () if found.workload.is_ad_hoc else _summary(found.workload):
                click.echo(line)
    say(f"{workload}: no mistake found")
    return 0


def _examined(word: str, variables: tuple[str, ...]) -> AbstractContextManager[ExaminedWorkload]:
    if ad_hoc_script.is_script(word):
        given = dict(map(checked_choices.key_and_values, variables))
        levels = {name: ad_hoc_script.inferred(values) for name, values in given.items()}
        return nullcontext(examined_script(word, levels))
    if variables:
        raise ArgumentError(
            "--set is for a script file: a workload is checked with the defaults of its parameters",
            hint="leave --set out",
        )
    return examined(word)


def _try(examined: ExaminedWorkload, workload: Workload, choice: SystemChoice, folder: str) -> None:
    """Adds what the system refuses."""
    say(f"prepare the statements on {choice.label}")
    (place,) = storage_words.storage_choices(("here",))
    with running_system(choice, place, connections=None) as running:
        not_tried: list[str] = []
        refused = list(refused_statements(workload, running, not_tried))
        for error in refused:
            if not workload.is_ad_hoc:
                error.message = error.message.replace(str(workload.folder), folder)
        examined.problems += refused
        for line in not_tried:
            say(line if workload.is_ad_hoc else line.replace(str(workload.folder), folder))
        scripts = scripts_of(workload, running)
        if "prepared statements" in running.system.capabilities:
            say(f"{choice.label}: prepared the statements of {counted(len(scripts), 'file')}")
            for places in never_prepared(workload, running):
                shown = (
                    places if workload.is_ad_hoc else places.replace(str(workload.folder), folder)
                )
                say(f"{shown}: not tried, as only statements with rows or values are prepared")
        else:
            say(f"{choice.label} cannot prepare statements: only its tables were created")


def _shown(problem: AssayError) -> str:
    return f"{problem.message}\n  fix: {problem.hint}" if problem.hint else problem.message


def _summary(workload: Workload) -> Iterator[str]:
    """A line for each kind of thing that the workload declares."""
    lines = {
        "tables": [one.name for one in workload.schema.declared],
        "views": [one.name for one in workload.schema.views],
        "tests": [f"{name} ({_does(workload, name)})" for name in workload.tests],
        "scripts": list(workload.scripts),
        "checks": list(workload.checks),
        "parameters": [f"{name} = {one.default}" for name, one in workload.parameters.items()],
    }
    for name, words in lines.items():
        if name == "views" and not words:
            continue
        yield f"{name:<10}  {', '.join(words) or 'none'}"


def _does(workload: Workload, name: str) -> str:
    test = workload.test(name)
    if test.mix:
        return ", ".join(f"{script} {weight}" for script, weight in test.mix.items())
    return ", ".join(test.scripts) or ", ".join(step.do for step in test.steps)


def _explain(words: Words, form: str) -> None:
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
        rows.write(listed, _COLUMNS, form, sys.stdout)


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
