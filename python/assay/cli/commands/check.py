"""``assay check``: everything that can be said of a workload without a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import click

from assay.cli.options import completers
from assay.cli.process import say
from assay.contracts.experiment import SystemChoice
from assay.errors import ArgumentError, AssayError, YouError
from assay.experiment.choices import checked_choices, storage_words
from assay.lab.authoring import (
    ExaminedWorkload,
    examined,
    examined_script,
    never_prepared,
    refused_statements,
    scripts_of,
)
from assay.lab.preflight import availability_of
from assay.provision.install.cache import in_use
from assay.provision.running_system import running_system
from assay.provision.undo.ledger import clear_leftovers
from assay.text.units import counted
from assay.workload import ad_hoc_script
from assay.workload.values import Workload


@click.command("check")
@click.argument("workload", shell_complete=completers.workload)
@click.option(
    "--on",
    "systems",
    metavar="SYSTEM",
    shell_complete=completers.in_a_list(completers.system),
    multiple=True,
    help="Try the tables and statements there, too: NAME, NAME[setting=value,…] or a URL; several "
    "separated by commas.",
)
@click.option(
    "-D",
    "--set",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    help="A variable of a script file, as `assay run` takes it.",
)
def command(workload: str, systems: tuple[str, ...], variables: tuple[str, ...]) -> int:
    """Check a workload or script without running it: mistakes with line and fix.

    Reads the whole folder and compiles every script, check and override. Names all
    mistakes at once; without one, lists tables, tests, scripts, checks and
    parameters. With --on, also starts each system, creates empty tables there and
    has every statement prepared that reads or changes rows or has values; the
    others (SET, CREATE, CALL …) are listed. None is executed. Exit status 2 means
    that something is wrong. A script has no tables of its own: name a server that
    has them by its URL.

    \b
    Example:
      assay check shop
      assay check shop --on sqlite,postgresql
      assay check read.sql --set id=7 --on postgresql://me@db/shop
    """
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
