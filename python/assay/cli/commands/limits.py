"""``assay limits``: what tables of each dialect can be, and where those of a workload go beyond."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import click
from msgspec import structs

from assay import registry
from assay.cli.options import completers
from assay.cli.options.completers import limited_dialects
from assay.cli.options.shared_options import format_option
from assay.cli.output import rows
from assay.cli.process import say
from assay.dialects.limits import Beyond, Limited, beyond
from assay.errors import ArgumentError, RunFailed
from assay.workload import reader

_LIMITS = (
    "dialect", "identifier_length", "columns", "varchar_length", "row_bytes", "searches_text",
    "indexes_text", "source",
)  # fmt: skip
_FIRST_LOOK = ("dialect", "table", "cannot_be_made", "cannot_be_searched")
_NAMES_SHOWN = 3
_BEYOND = ("dialect", "table", "column", "what", "needed", "limit", "can_be_made")


@click.command("limits")
@click.argument("workload", required=False, shell_complete=completers.workload)
@click.option(
    "--dialect",
    metavar="NAME",
    shell_complete=completers.limited_dialect,
    help="Only this one. [default: all]",
)
@click.option(
    "--detail",
    is_flag=True,
    help="Each column with what it needs and the limit, which other formats always have.",
)
@format_option(tuple(rows.FORMS))
def command(workload: str | None, dialect: str | None, detail: bool, form: str) -> None:
    """Show what tables a system can hold and search.

    Without a workload, lists the limits of each dialect and where they are
    documented. With one, lists the tables that exceed them: what cannot be made,
    and which columns can be made, but not searched or indexed. With --dialect,
    exit status 1 means that some do. No system is started.

    \b
    Example:
      assay limits
      assay limits bibsql --dialect db2 --detail
    """
    chosen = _chosen(dialect)
    if workload is None:
        rows.write([_limits(*one) for one in chosen.items()], _LIMITS, form, sys.stdout)
        return
    if workload in limited_dialects() and workload not in registry.workloads():
        raise ArgumentError(
            f"{workload} is a dialect, and no workload", hint=f"its limits: --dialect {workload}"
        )
    found = reader.read(workload)
    places = {name: beyond(found.tables_for({}, one.language), one) for name, one in chosen.items()}
    listed = [
        {"dialect": name, **structs.asdict(one)} for name, some in places.items() for one in some
    ]
    if form == "table" and not detail:
        rows.write(_first_look(places), _FIRST_LOOK, form, sys.stdout)
    else:
        rows.write(listed, _BEYOND, form, sys.stdout)
    if not listed:
        say(f"no table of {workload} goes beyond the limits of {', '.join(chosen)}")
    if dialect is not None and listed:
        sys.exit(RunFailed.exit_code)


def _first_look(places: Mapping[str, Sequence[Beyond]]) -> list[rows.Row]:
    """A row for each table of each dialect."""
    listed: list[rows.Row] = []
    for name, some in places.items():
        for table in dict.fromkeys(one.table for one in some):
            of_table = [one for one in some if one.table == table]
            made = [one.sentence() for one in of_table if not one.can_be_made]
            unsearched = dict.fromkeys(one.column for one in of_table if one.can_be_made)
            listed.append(
                {
                    "dialect": name,
                    "table": table,
                    "cannot_be_made": _shortened(made, "; "),
                    "cannot_be_searched": _shortened([*unsearched], ", "),
                }
            )
    return listed


def _shortened(words: Sequence[str], between: str) -> str:
    more = len(words) - _NAMES_SHOWN
    return between.join(words[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


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


def _limits(name: str, dialect: Limited) -> rows.Row:
    return {"dialect": name, **structs.asdict(dialect.limits)}
