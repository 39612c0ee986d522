#!/usr/bin/env python3
"""Writes the man pages, in man(7), made out of the program, into the folder that is named.

One page for each command of ``assay``, one for it, and one for each of ``bibtosql`` and ``bibsql``.
The wheel installs them below ``share/man/man1``.
"""

from __future__ import annotations

import inspect
import io
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from importlib.metadata import version
from pathlib import Path

import click

from assay import env_vars
from assay.cli.bibsql import bibsql, bibtosql
from assay.cli.options.usage_errors import Grouped
from assay.cli.program import COMMANDS, HELP_NAMES, command_of, group, names_in

_MARK = '.\\" Written by tools/man_pages.py out of the program; not edited by hand.\n'


def pages() -> dict[str, str]:
    """Name of the file → text of every page."""
    found = {"assay": _program()}
    for name in COMMANDS:
        found[_file_of(f"assay {name}")] = _command(name)
    for module, name in ((bibtosql, "bibtosql"), (bibsql, "bibsql")):
        found[name] = _own_program(name, module)
    return {f"{name}.1": text for name, text in found.items()}


def _program() -> str:
    more = [
        *_listed(COMMANDS),
        _section("ENVIRONMENT"),
        *_definitions((one.name, one.help) for one in env_vars.every()),
    ]
    also = [_file_of(f"assay {name}") for name in COMMANDS] + ["bibtosql", "bibsql"]
    return _page("assay", group, more, also)


def _command(name: str) -> str:
    """Of a group with its commands."""
    own = names_in(f"{name} ")
    above = f"assay {name}".rpartition(" ")[0]
    also = [_file_of(path) for path in (above, *(f"assay {one}" for one in own))]
    return _page(f"assay {name}", command_of(name), _listed(own), also)


def _file_of(path: str) -> str:
    return path.replace(" ", "-")


def _listed(names: Iterable[str]) -> list[str]:
    """Commands with what they do; empty: there are none."""
    rows = [(f"assay {name}", COMMANDS[name]) for name in names]
    return [_section("COMMANDS"), *_definitions(rows)] if rows else []


def _page(path: str, command: click.Command, more: Iterable[str], also: Iterable[str]) -> str:
    name = _file_of(path)
    first, rest, examples = _help_of(command)
    with _context(command, path) as context:
        pieces = " ".join(command.collect_usage_pieces(context))
        return "".join(
            [
                _title(name, first),
                _section("SYNOPSIS"),
                f".B {_text(path)}\n{_text(pieces)}\n",
                _section("DESCRIPTION"),
                _paragraphs([first, *rest]),
                _section("OPTIONS"),
                *_options(command, context),
                *more,
                *_examples(examples),
                *_see_also(also),
            ]
        )


def _own_program(name: str, module: object) -> str:
    """Of a program with its own reader of options (`assay.cli.bibsql.options`)."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        module.run(["--help"])  # type: ignore[attr-defined]
    usage, _, rest = printed.getvalue().removeprefix("Usage: ").partition("\n\n")
    described, _, _ = rest.partition("\n\nOptions ")
    first, *others = re.split(r"(?<=\.)\s+", described, maxsplit=1)
    options = [
        (f"--{one.name} {one.value}".strip(), one.help)
        for one in module.OPTIONS  # type: ignore[attr-defined]
    ]
    return "".join(
        [
            _title(name, first),
            _section("SYNOPSIS"),
            f".B {name}\n{_text(usage.removeprefix(name).strip())}\n",
            _section("DESCRIPTION"),
            _paragraphs([first, *others]),
            _section("OPTIONS"),
            _paragraphs(["Options have one or two hyphens; names may be abbreviated."]),
            *_definitions(options),
            *_examples([module.EXAMPLES]),  # type: ignore[attr-defined]
            *_see_also(["assay"]),
        ]
    )


def _context(command: click.Command, path: str) -> click.Context:
    return click.Context(command, info_name=path, show_default=True, help_option_names=HELP_NAMES)


def _help_of(command: click.Command) -> tuple[str, list[str], list[str]]:
    """(first sentence, other paragraphs, blocks of examples) of a command's help."""
    parts = [part.strip("\n") for part in inspect.cleandoc(command.help or "").split("\n\n")]
    examples = [part for part in parts if part.startswith("\b")]
    first, *rest = (part for part in parts if not part.startswith("\b"))
    return " ".join(first.split()), rest, [part.partition("\n")[2] for part in examples]


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """The options, below the headings of the command's help where it has some."""
    if isinstance(command, Grouped):
        for heading, records in command.option_groups(context):
            yield f".SS {_text(heading)}\n"
            yield from _definitions(records)
        return
    options = [one for one in command.params if isinstance(one, click.Option)]
    own = command.get_help_option(context)
    records = [one.get_help_record(context) for one in [*options, *([own] if own else [])]]
    yield from _definitions(record for record in records if record)


def _title(name: str, first: str) -> str:
    return (
        f'{_MARK}.TH {name.upper()} 1 "" "Assay {version("assay-db")}" "Assay"\n'
        f"{_section('NAME')}{_text(name)} \\- {_text(first.rstrip('.'))}\n"
    )


def _section(name: str) -> str:
    return f".SH {_text(name)}\n"


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f".PP\n{_text(' '.join(text.split()))}\n" for text in texts)


def _definitions(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, meaning in rows:
        yield f".TP\n.B {_text(term)}\n{_text(' '.join(meaning.split()))}\n"


def _examples(blocks: Iterable[str]) -> Iterator[str]:
    for block in blocks:
        lines = [line for line in block.splitlines() if line.strip() and line != "Example:"]
        shown = "\n".join(_text(line.strip()) for line in lines)
        yield f"{_section('EXAMPLES')}.nf\n{shown}\n.fi\n"


def _see_also(names: Iterable[str]) -> Iterator[str]:
    yield _section("SEE ALSO")
    yield ",\n".join(f".BR {_text(name)} (1)" for name in names) + "\n"


def _text(text: str) -> str:
    """The text as roff reads it back unchanged."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    escaped = escaped.replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return f"\\&{escaped}" if escaped.startswith((".", "\\(aq")) else escaped


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
