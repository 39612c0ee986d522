"""``assay limits``: what tables of each dialect can be, and where those of a workload go beyond."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from assay.cli import completers, rows
from assay.cli.limited_dialects import limited_dialects
from assay.cli.options import format_option
from assay.cli.outcome import say
from assay.dialects.limits import Limited, beyond
from assay.errors import ArgumentError, RunFailed
from assay.workload import reader

_LIMITS = (
    "dialect", "identifier_length", "columns", "varchar_length", "row_bytes", "searches_text",
    "indexes_text", "source",
)  # fmt: skip
_BEYOND = ("dialect", "table", "column", "what", "needed", "limit", "can_be_made")


@click.command("limits")
@click.argument("workload", required=False, shell_complete=completers.workload)
@click.option(
    "--dialect",
    metavar="NAME",
    shell_complete=completers.limited_dialect,
    help="Only this one. [default: all]",
)
@format_option(tuple(rows.FORMS))
def command(workload: str | None, dialect: str | None, form: str) -> None:
    """Show what tables a system can hold and search.

    Without a workload, lists the limits of each dialect and where they are
    documented. With one, lists the tables and columns that exceed them. With
    --dialect, exit status 1 means that some do. No system is started.

    \b
    Example:
      assay limits
      assay limits bibsql --dialect db2
    """
    chosen = _chosen(dialect)
    if workload is None:
        rows.write([_limits(*one) for one in chosen.items()], _LIMITS, form, sys.stdout)
        return
    found = reader.read(workload)
    listed = [
        {"dialect": name, **vars(place)}
        for name, one in chosen.items()
        for place in beyond(found.tables_for({}, one.language), one.limits)
    ]
    rows.write(listed, _BEYOND, form, sys.stdout)
    if not listed:
        say(f"no table of {workload} goes beyond the limits of {', '.join(chosen)}")
    if dialect is not None and listed:
        sys.exit(RunFailed.exit_code)


def _chosen(name: str | None) -> Mapping[str, Limited]:
    known = limited_dialects()
    if name is None:
        return known
    if name not in known:
        raise ArgumentError(
            f"no limits are declared for the dialect {name!r}",
            hint=f"those with limits: {', '.join(known)}",
        )
    return {name: known[name]}


def _limits(name: str, dialect: Limited) -> dict[str, object]:
    return {"dialect": name, **vars(dialect.limits)}
