"""The program ``assay``: finds a command by its name and runs it; each command is one file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import click

from assay.cli.options.typed_words import keep_words, meaning_of_option
from assay.cli.process import outcome_of, refuse_other_encodings
from assay.errors import ArgumentError
from assay.text.phrases import did_you_mean

HELP_NAMES = ["-h", "--help"]
"""Every context of a command gives these: Click keeps the help option that the first one makes."""

GROUPS = {
    "Run": {
        "run": "Run a workload on systems and storages, and print the report.",
        "new": "Write an experiment file by answering five questions.",
        "plan": "Print the runs of an experiment in order, without starting them.",
        "check": "Check a workload, script or experiment file: mistakes with line and fix.",
        "watch": "Follow a running experiment in the browser of this machine.",
    },
    "Results": {
        "report": "Print the report of a recorded experiment, of several as one, or of one run.",
        "compare": "Compare A and B: which is faster, by how much, and how certain that is.",
        "trend": "Show how the numbers of a cell changed from experiment to experiment.",
        "list": "List systems, workloads, experiments, storages, runs, limits or loaded data.",
        "merge": "Add the experiments of another record file to the record.",
    },
    "Share": {
        "capsule": "Share an experiment as one file.",
        "capsule pack": "Make one file of an experiment: a capsule.",
        "capsule verify": "Check the integrity of a capsule.",
        "capsule rerun": "Run the experiment of a capsule again here, and compare.",
        "capsule site": "Make a static site of a folder of capsules.",
    },
    "Systems": {
        "install": "Download the programs of a system or a data set, or remove them again.",
        "verify": "Test a system against the requirements of its capabilities.",
    },
    "Machine": {
        "measure": "Measure what this machine can do.",
        "measure storage": "Measure how many reads, writes and flushes storages do per second.",
        "measure durability": "Measure whether commits are flushed to the device before they are "
        "answered.",
        "measure client": "Measure the highest rate that the client reaches on this machine.",
        "serve": "Run a server or proxy for measurements.",
        "serve null": "Run a server that does no work, to measure the client.",
        "serve delay": "Run a proxy that adds a round-trip time between clients and a server.",
    },
    "Authors": {
        "generate": "Write the rows of a table that a workload generates, or a part of them.",
        "schema": "Print the JSON Schema of a kind of file, or the tables of a record.",
        "completion": "Print the script that makes a shell complete `assay` commands.",
    },
}
"""In the order of `assay --help`, with the first sentence of the help of each, repeated here so
that the list imports no command; ``assay.cli.commands.<name>`` holds ``command`` (a space becomes
``_``). A name with which others begin is a group: it holds these and nothing else."""
COMMANDS = {name: does for group in GROUPS.values() for name, does in group.items()}
RENAMED = {
    "pack": "capsule pack",
    "verify-capsule": "capsule verify",
    "rerun": "capsule rerun",
    "site": "capsule site",
    "probe": "measure storage",
    "durability": "measure durability",
    "calibrate": "measure client",
    "null-server": "serve null",
    "delay-proxy": "serve delay",
    "uninstall": "install --remove",
    "get": "install",
    "show": "report run:RUN",
    "explain": "check --explain",
    "limits": "list limits",
    "parts": "merge --parts",
}
"""An earlier name → what is typed today in its place. RUN stands for its number."""
FIRST_SCREEN = """\
Assay measures databases: which one, on which storage, with which settings, is fast enough
for your work, and whether its answers are right.

  assay run tpcb --on sqlite                               a standard test
  assay run mine.sql --on postgresql://me@db/shop          your script on your server
  assay run tpcb --on postgresql,mariadb --repetitions 5   which one is faster
"""


def command_of(name: str) -> click.Command:
    """Of a group it imports nothing."""
    if names_in(f"{name} "):
        return _group_of(name)
    module = import_module(f"assay.cli.commands.{name.replace(' ', '_')}")
    found: click.Command = module.command
    return found


def names_in(path: str) -> list[str]:
    """The commands of a group, whose name with a space is ``path``; empty: those that are typed
    behind ``assay``."""
    return [
        name for name in COMMANDS if name.startswith(path) and " " not in name.removeprefix(path)
    ]


class Commands(click.Group):
    """Imports a command only when it is used, so that a misspelt command fails at once."""

    def __init__(self, *given: Any, path: str = "", **further: Any) -> None:
        super().__init__(*given, **further)
        self.path = path

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return [name.removeprefix(self.path) for name in names_in(self.path)]

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = f"{self.path}{cmd_name}"
        return command_of(name) if name in names_in(self.path) else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """As Click does, but no command is imported for its help."""
        from click.shell_completion import CompletionItem

        listed = (click.Command(name, help=COMMANDS[name]) for name in names_in(self.path))
        return [
            *(
                CompletionItem(name, help=one.get_short_help_str())
                for one in listed
                if (name := str(one.name).removeprefix(self.path)).startswith(incomplete)
            ),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, commands in ({"Commands": COMMANDS} if self.path else GROUPS).items():
            with formatter.section(heading):
                shown = [name for name in names_in(self.path) if name in commands]
                # Padded, so that the texts of all groups begin in the same column.
                formatter.write_dl(
                    [(f"{name.removeprefix(self.path):<12}", _what_it_does(name)) for name in shown]
                )

    def invoke(self, ctx: click.Context) -> Any:
        """Names the command in an error that does not say where it was found."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            name = ctx.invoked_subcommand
            if error.ctx is None and name is not None:
                error.ctx = _context_of(ctx, name, self.get_command(ctx, name))
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-"):
            self._insist_on_a_command(ctx, *args)
        found = super().resolve_command(ctx, args)
        if isinstance(found[1], Commands):
            return found  # which looks at the words itself
        keep_words(ctx, found[2])
        if found[1] is not None:
            within = _context_of(ctx, str(found[0]), found[1])
            _refuse_empty_words(within, found[1], found[2])
            _refuse_a_host(within, found[1], found[2])
            if within is not None:
                _refuse_repeated(within, found[1], found[2])
        return found

    def _insist_on_a_command(self, ctx: click.Context, word: str, *words: str) -> None:
        known, name = names_in(self.path), f"{self.path}{word}"
        if name in known:
            return
        if word in RENAMED or (" " in word and word in COMMANDS):
            raise ArgumentError(f"there is no command {name!r}; it is: {_today(word, words)}")
        others = {} if self.path else {**{name: name for name in COMMANDS}, **RENAMED}
        raise click.UsageError(
            f"there is no command {name!r}; {did_you_mean(name, known, others)}", ctx
        )


def _today(old: str, words: Sequence[str]) -> str:
    """What is typed in place of an earlier name, or of two words as one, and what is behind it."""
    new, rest = RENAMED.get(old, old), words
    if new.endswith("RUN"):
        # The first word that may be the number of a run; a name of several words is none.
        number = next((one for one in words if one.removeprefix("run:").isdecimal()), "latest")
        new = new.replace("RUN", number.removeprefix("run:"))
        rest = [one for one in words if one not in (number, "--")]
    return " ".join(["assay", new, *map(shlex.quote, rest)])


def _what_it_does(name: str) -> str:
    own = ", ".join(_own(name))
    return f"{COMMANDS[name].removesuffix('.')}: {own}." if own else COMMANDS[name]


def _group_of(name: str) -> Commands:
    """Alone it says what its commands do."""
    names = names_in(f"{name} ")

    def alone() -> None:
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            formatter = context.make_formatter()
            formatter.write_dl([(f"assay {one}", COMMANDS[one]) for one in names])
            click.echo(formatter.getvalue(), nl=False)

    return Commands(
        name,
        path=f"{name} ",
        callback=alone,
        invoke_without_command=True,
        help=f"{COMMANDS[name]}\n\n\b\nExample:\n  assay {name}\n  assay {names[0]} --help",
    )


def _context_of(
    ctx: click.Context, name: str, command: click.Command | None
) -> click.Context | None:
    """Of an error in the words of a command, whose help the hint names."""
    return click.Context(command, parent=ctx, info_name=name) if command else None


def _refuse_a_host(ctx: click.Context | None, command: click.Command, args: list[str]) -> None:
    """Refuses ``-h HOST``, which would print the help and succeed."""
    options = [option for param in command.params for option in param.opts]
    for before, word in pairwise(args):
        if before != "-h" or word.startswith("-"):
            continue
        if meant := meaning_of_option("-h", options):
            raise click.UsageError(f"-h is --help and takes no value, found {word!r}; {meant}", ctx)


def _refuse_repeated(ctx: click.Context, command: click.Command, args: list[str]) -> None:
    """Refuses an option with one value that is given twice: the first would be lost silently."""
    try:
        _, _, params = command.make_parser(ctx).parse_args(list(args))
    except click.UsageError:
        return  # of which the command itself says more
    for place, param in enumerate(params):
        has_value = isinstance(param, click.Option) and not param.is_flag and not param.count
        if has_value and not param.multiple and param in params[:place]:
            name = max(param.opts, key=len)
            raise click.UsageError(f"{name} is given twice: expected one value", ctx)


def _refuse_empty_words(ctx: click.Context | None, command: click.Command, args: list[str]) -> None:
    """Refuses an empty argument, list or path: an unset variable of a shell script makes one. Other
    options check their own values."""
    refusing = {
        name
        for parameter in command.params
        if parameter.multiple or isinstance(parameter.type, click.Path)
        for name in parameter.opts
    }
    for before, word in pairwise(["", *args]):
        name = before if word == "" else word.removesuffix("=")
        if word == "" and not before.startswith("-"):
            raise click.UsageError("an argument is empty", ctx)
        if name in refusing and (word == "" or word.endswith("=")):
            raise click.UsageError(f"{name} has an empty value", ctx)


@click.command(
    cls=Commands,
    invoke_without_command=True,
    context_settings={
        "help_option_names": HELP_NAMES,
        "max_content_width": 100,
        "show_default": True,
    },
)
@click.version_option(package_name="assay-db", message="assay %(version)s")
@click.pass_context
def group(context: click.Context) -> None:
    """Find out which database, on which storage, with which settings is fast
    enough for your work.

    Assay starts each database system, loads tables, lets clients send the
    transactions of a workload, checks the answers, stops the system and prints a
    report. A workload comes with Assay, or is your own SQL. All results are kept in
    a record file, from which `assay report` and `assay compare` read them.

    Reports and lists go to standard output, progress and errors to standard error.

    Exit status: 0 done; 1 a measured run failed, or a condition of `assay compare`
    is met; 2 your mistake: it cannot be done as written (an option, a file, a value
    in a URL), or every run is refused; 3 the system under test or the machine: a
    program or Python module is missing, or a server is not there, is another
    product, or refuses (a wrong password, an unknown database); 4 an internal
    error; 5 a condition of `assay compare` is not decided; 129 ended by SIGHUP (the
    terminal was closed), 130 by Ctrl-C, 131 by SIGQUIT, 143 by SIGTERM.

    \b
    Example:
      assay list workloads
      assay run tpcb --on sqlite
      assay run mine.sql --on postgresql://me@db/shop --clients 8 --duration 30
      assay report
    """
    if context.invoked_subcommand is None:
        click.echo(FIRST_SCREEN)
        for heading, commands in GROUPS.items():
            shown = ", ".join(_with_its_own(name) for name in names_in("") if name in commands)
            click.echo(f"{heading:<9}{shown}")
        click.echo("\n`assay --help` says what each does, `assay run --help` lists the options.")


def _with_its_own(name: str) -> str:
    """``capsule pack|verify``: a group with its commands."""
    return f"{name} {'|'.join(own)}" if (own := _own(name)) else name


def _own(name: str) -> list[str]:
    """The commands of a group, as they are typed behind it; none of another command."""
    return [one.removeprefix(f"{name} ") for one in names_in(f"{name} ")]


def run_program(arguments: list[str]) -> int:
    """Runs ``assay`` with these arguments; returns its exit status."""

    def work() -> int | None:
        refuse_other_encodings(arguments)
        # Shells ask `assay completion`, in place of Click's own variable (``_ASSAY_COMPLETE``).
        status = group.main(arguments, prog_name="assay", complete_var="", standalone_mode=False)
        return status if isinstance(status, int) else None

    return outcome_of("assay", work)
