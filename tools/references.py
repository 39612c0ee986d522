#!/usr/bin/env python3
"""Writes the pages of docs/reference that others link to, from the program; with --check, names
those that are out of date."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import click

from assay import _engine, env_vars, registry
from assay.cli.options import typed_words
from assay.cli.program import COMMANDS, command_of, group
from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.experiment import SystemChoice
from assay.contracts.metric import ReportColumn
from assay.contracts.systems.abilities import (
    NOT_VERIFIED,
    CompletesUrls,
    HasProfiles,
    Installable,
    SeveralVersions,
    Verified,
)
from assay.judge import warning_kinds
from assay.lab.conformance.requirement import Requirement
from assay.lab.conformance.verify import REQUIREMENTS
from assay.record.metrics.catalogue import METRICS
from assay.record.metrics.clients import OF_SECONDS

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference"
_FEW = 20
"""Options that a command names of those that it shares with `assay run`."""
MARK = "<!-- Written by tools/references.py out of the program; not edited by hand. -->\n\n"


def commands() -> str:
    """Every command with its help, as it is printed."""
    parts = ["# Commands\n", _help("assay", group)]
    for name in COMMANDS:
        parts.append(f"\n##{'#' * name.count(' ')} assay {name}\n")
        command, more = _without_those_of_a_run(command_of(name))
        parts.append(_help(f"assay {name}", command) + more)
    return "\n".join(parts) + "\n"


def _without_those_of_a_run(command: click.Command) -> tuple[click.Command, str]:
    """The command without the options that it has from `assay run`, and a line that names them, or
    says that there are many."""
    run = {tuple(one.opts): getattr(one, "help", "") for one in command_of("run").params}
    shared = [
        one for one in command.params if run.get(tuple(one.opts), "") == getattr(one, "help", None)
    ]
    if command.name == "run" or not shared:
        return command, ""
    shorter = copy.copy(command)
    shorter.params = [one for one in command.params if one not in shared]
    names = ", ".join(f"`{one.opts[0]}`" for one in shared)
    which = f"{names} as" if len(shared) < _FEW else "the options of"
    return shorter, f"\nIt also takes {which} [`assay run`](#assay-run).\n"


def _help(path: str, command: click.Command) -> str:
    with click.Context(
        command,
        info_name=path,
        max_content_width=100,
        terminal_width=100,
        show_default=True,
        help_option_names=[],  # every command has it
    ) as context:
        return f"```text\n{command.get_help(context)}\n```"


def environment() -> str:
    """Every environment variable that is read."""
    rows = [f"| `{one.name}` | {one.help} |" for one in env_vars.every()]
    return "\n".join(
        ["# Environment variables\n", "| variable | meaning |", "|---|---|", *rows, ""]
    )


def systems() -> str:
    """Every system under test with its options."""
    parts = ["# Systems under test\n", *_verified()]
    for name in registry.systems():
        system = registry.system(name)
        parts.append(f"## {name}\n\nDialect `{system.dialect.name}`, driver `{system.driver}`.\n")
        if schemes := registry.url_schemes(name):
            parts.append("By URL: " + ", ".join(f"`{one}://`" for one in schemes) + "\n")
        if isinstance(system, Installable):
            brought = f"{system.installable_version}: {system.install_source}"
            parts.append(f"`assay install {name}` brings version {brought}.\n")
        if isinstance(system, SeveralVersions):
            variable = system.chosen_by
            parts.append(f"The version is chosen by `{variable.name}`: {variable.help}\n")
        if isinstance(system, CompletesUrls) and system.url_variables:
            parts += ["What a URL leaves out:\n", "| variable | meaning |", "|---|---|"]
            parts += [f"| `{one.name}` | {one.help} |" for one in system.url_variables]
            parts.append("")
        if system.option_specs:
            parts += ["| option | default | levels | meaning |", "|---|---|---|---|"]
            parts += [
                f"| `{one.name}` | {one.default or '–'} "
                f"| {', '.join(filter(None, one.levels)) or 'any'} | {one.help} |"
                for one in system.option_specs
            ]
            parts.append("")
        if isinstance(system, HasProfiles) and (profiles := system.profiles()):
            parts += ["| profile of settings | meaning |", "|---|---|"]
            parts += [f"| `{one.name}` | {one.title} |" for one in profiles.values()]
            parts.append("")
    for name in registry.families():
        family = registry.family(name)
        parts.append(f"## {name}:{family.member_word}\n\n{family.help}\n")
        parts += ["| system | dialect | |", "|---|---|---|"]
        for member in family.known_members:
            system = registry.system(f"{name}:{member}")
            verified = system.verified if isinstance(system, Verified) else ""
            parts.append(f"| `{system.name}` | `{system.dialect.name}` | {verified} |")
        parts.append("")
    return "\n".join(parts)


def _verified() -> list[str]:
    """What each system can do, and what is tried on it by ``assay verify``."""
    names = registry.systems()
    had = {name: registry.system(name).capabilities for name in names}
    head = [f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    capabilities = [
        f"| {word} | {' | '.join('yes' if word in had[one] else '–' for one in names)} |"
        for word in CAPABILITIES
    ]
    tried = [
        f"| {one.name} | {' | '.join(_tried(one, name) for name in names)} |"
        for one in REQUIREMENTS
    ]
    return [_CAPABILITIES, *head, *capabilities, _TRIED, *head, *tried, ""]


def _tried(requirement: Requirement, name: str) -> str:
    system = registry.system(name)
    if requirement.why_not_applicable(system, SystemChoice(name)) is not None:
        return "–"
    return "not run" if getattr(system, "verified", NOT_VERIFIED) == NOT_VERIFIED else "yes"


_CAPABILITIES = """## Capabilities

What a test may need; `assay list systems --detail` shows the same. A test whose needs a system does
not meet is refused with the reason.
"""
_TRIED = """
## What is tried on them

`assay verify NAME` tries these on a system of any name. *yes*: the test suite fails unless this
command finds it met (with settings that flush each commit, where it is about a killed server); *not
run*: the tests have no such system; –: not applicable, for the reason that `assay verify` says.
Passwords are tried on servers by URL.
"""


def metrics() -> str:
    """Every metric, from the list of them."""
    head = (
        "# Metrics\n",
        "Each is a column of the table of runs (`--format csv`, `--format json`), with its unit at "
        "the end of its name, and in Python in `Run.metrics`. `assay compare`, `--fail-if` and "
        "`assay trend` take those that have a better direction.\n",
        "- *of*: what has it: each *run*; each *cell*, over its repetitions; each *group* of "
        "clients; each transaction *type* (`latency_p99_ns[insert]`)",
        "- *repetitions*: how those of a cell make one number in its table; `assay compare` takes "
        "each repetition by itself",
        "- *samples*: how many transactions it needs",
        "- *costs*: its column in the report's table of CPU and memory",
        "- *OpenMetrics*: whether it is a metric of its own there; outcomes and latencies are a "
        "counter and a summary\n",
        "| metric | meaning | unit | better | of | repetitions | samples | costs | OpenMetrics |",
        "|---|---|---|---|---|---|---|---|---|",
    )
    of_seconds = (
        "\n## Of each second\n",
        "Each is a column of the table of intervals, of each second of a measurement and of each "
        "group of clients.\n",
        "| metric | meaning | unit | samples |",
        "|---|---|---|---|",
        *(
            f"| `{metric.name}` | {_meaning(metric)} | {metric.unit} | {metric.least_samples} |"
            for metric in OF_SECONDS
        ),
    )
    return "\n".join([*head, *map(_metric, METRICS.values()), *of_seconds, ""])


def _metric(metric: ReportColumn) -> str:
    better = "" if metric.words is None else "more" if metric.is_more_better else "less"
    over = metric.over.value if metric.over else ""
    exported = "yes" if metric.exported else ""
    return (
        f"| `{metric.name}` | {_meaning(metric)} | {metric.unit} | {better} "
        f"| {', '.join(metric.levels)} | {over} | {metric.least_samples} | {metric.title} "
        f"| {exported} |"
    )


def _meaning(metric: ReportColumn) -> str:
    return metric.meaning + (f"; none: {metric.null}" if metric.null else "")


def warnings() -> str:
    rows = sorted(warning_kinds.texts().items(), key=lambda row: row[0])
    return "\n".join(
        [
            "# Warnings\n",
            "What may mislead a reader of a run, by the names in its summary and report. A warning "
            "that *limits* its run makes the verdict `unreliable`. Where nothing is *decided*, no "
            "comparison ranks the run.\n",
            "| warning | cause | fix | limits | decided |",
            "|---|---|---|---|---|",
            *(
                f"| `{name}` | {text.cause} | {text.fix_of(())} "
                f"| {'yes' if text.limits else ''} | {'nothing' if text.forbids_deciding else ''} |"
                for name, text in rows
            ),
            "",
        ]
    )


def other_tools() -> str:
    """What options and tests of other load generators are called here."""
    by_tool: dict[str, list[str]] = {}
    for other in typed_words.other_options():
        names = ", ".join(f"`{name}`" for name in other.names)
        by_tool.setdefault(other.tool, []).append(f"| {names} | {other.here} |")
    options = [
        line
        for tool, rows in by_tool.items()
        for line in (f"## {tool}\n", "| there | here |", "|---|---|", *rows, "")
    ]
    tests = [f"| `{other}` | `assay run {here}` |" for other, here in registry.known_as().items()]
    return "\n".join(
        [
            "# Words of other tools\n",
            "If you type an option of another tool, Assay refuses it and names its own. These are "
            "all that it knows.\n",
            *options,
            "## Tests\n",
            "| there | here |",
            "|---|---|",
            *tests,
            "",
        ]
    )


PAGES = {
    "commands.md": commands,
    "environment.md": environment,
    "metrics.md": metrics,
    "other-tools.md": other_tools,
    "script-language.md": _engine.script_reference,
    "systems.md": systems,
    "warnings.md": warnings,
}


def main(arguments: list[str]) -> int:
    """Writes all pages, or with ``--check`` compares them; status 1 if one is out of date."""
    is_check = arguments == ["--check"]
    stale = []
    for name, page in PAGES.items():
        file, text = FOLDER / name, MARK + page()
        if not is_check:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(file.relative_to(ROOT))
    for file in stale:
        print(f"{file} is out of date\n\nhint: make docs", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
