"""``assay limits``: what tables of each dialect can be, and where those of a workload go beyond."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from assay import registry
from assay.cli import rows
from assay.cli.options import format_option
from assay.dialects.limits import Limited, beyond
from assay.dialects.protocol import Dialect
from assay.errors import RunFailed
from assay.systems.dbapi.dialects import DIALECTS
from assay.workload import reader

_LIMITS = (
    "dialect", "name_length", "columns", "varchar_length", "row_bytes", "searches_text",
    "indexes_text", "source",
)  # fmt: skip
_BEYOND = ("dialect", "table", "column", "what", "needed", "limit", "can_be_made")


@click.command("limits")
@click.argument("workload", required=False)
@click.option("--dialect", metavar="NAME", help="Only this one. [default: all]")
@format_option(tuple(rows.FORMS))
def command(workload: str | None, dialect: str | None, form: str) -> None:
    """Show what tables a system can hold and search.

    Without a workload, lists the limits of each dialect and where they are
    written down. With one, lists the tables and columns that go beyond them.
    With --dialect, exit status 1 means that there are some. No system is started.

    \b
    Example:
      assay limits
      assay limits bibsql --dialect db2
    """
    chosen = _chosen(dialect)
    if workload is None:
        rows.write([_limits(one) for one in chosen], _LIMITS, form, sys.stdout)
        return
    found = reader.read(workload)
    listed = []
    for one in chosen:
        if isinstance(one, Limited):
            tables = found.tables_for({}, one.language)
            listed += [
                {"dialect": one.name, **vars(place), "can_be_made": not place.is_fatal}
                for place in beyond(tables, one.limits)
            ]
    rows.write(listed, _BEYOND, form, sys.stdout)
    if dialect is not None and listed:
        sys.exit(RunFailed.exit_code)


def _chosen(name: str | None) -> list[Dialect]:
    known = _dialects()
    if name is None:
        return [one for one in known.values() if isinstance(one, Limited)]
    if name not in known:
        raise registry.unknown("dialect", name, known)
    return [known[name]]


def _dialects() -> Mapping[str, Dialect]:
    """Those of systems, and those that a DB-API module can speak."""
    of_systems = {one.dialect.name: one.dialect for _, one in registry.usable_systems()}
    return dict(sorted({**DIALECTS, **of_systems}.items()))


def _limits(dialect: Dialect) -> dict[str, object]:
    assert isinstance(dialect, Limited)
    found = vars(dialect.limits)
    return {"dialect": dialect.name, "name_length": found["identifier_length"], **found}
