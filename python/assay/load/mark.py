"""Takes the tables of a server by URL; refuses to replace those that this or another killed Assay
did not load, by the mark that a load leaves on each table.

The tables of a killed Assay may be replaced; no others, and none that a running Assay uses.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping, Sequence

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.dialects.protocol import Dialect, Table
from assay.errors import ArgumentError
from assay.provision.engine.engine_calls import Session
from assay.provision.engine.session import session
from assay.provision.machine.identity import ProcessIdentity

_MARK = re.compile(r"loaded by Assay: host (\S+), process (\d+) (\d+) (\S+)")


def mark() -> str:
    """The mark of this process for a table; none of its characters needs quoting."""
    process = ProcessIdentity.of(os.getpid())
    words = (process.pid, process.start_ticks, process.boot) if process else (os.getpid(), 0, "-")
    return "loaded by Assay: host {}, process {} {} {}".format(_host(), *words)


def refuse_foreign_tables(
    deployment: Deployment, dialect: Dialect, tables: Sequence[Table]
) -> list[str]:
    """Raises `ArgumentError` where a server by URL has a table of one of these names, whose data a
    load would replace. Returns the names of those that a killed Assay left: they may be
    replaced."""
    left = []
    with session(deployment.address) as opened:
        marks = _marks(opened, dialect, deployment.address.database)
        for table in tables:
            try:
                opened.execute(dialect.exists(table.name))
            except _engine.EngineError as error:
                if error.error_class == "permission":
                    raise ArgumentError(
                        f"{deployment.label}: this user may not read the table {table.name}, or "
                        f"not find out whether there is one: {error.message}",
                        hint="log in as a user who may create tables there, and name a database "
                        f"without a table {table.name}",
                    ) from error
                if error.error_class != "unknown object":
                    raise
            else:
                _refuse_unless_abandoned(deployment, table.name, marks.get(table.name.lower(), ""))
                left.append(table.name)
        if not left:  # views carry no mark: those over tables of a killed Assay are its own
            _refuse_views(deployment, opened, dialect, tables)
    return left


def _refuse_views(
    deployment: Deployment, opened: Session, dialect: Dialect, tables: Sequence[Table]
) -> None:
    for view in (view for table in tables for view in table.views):
        try:
            opened.execute(dialect.exists(view.name))
        except _engine.EngineError as error:
            if error.error_class != "unknown object":
                raise
        else:
            raise ArgumentError(
                f"{deployment.label} holds a view or a table {view.name} already, which a load "
                "would replace",
                hint="name a database without it, or drop it yourself",
            )


def _marks(opened: Session, dialect: Dialect, database: str) -> Mapping[str, str]:
    """Name in lower case → mark; empty where the server has no marks."""
    question = dialect.marks_query(database)
    if question is None:
        return {}
    try:
        rows = opened.execute(question).rows
    except _engine.EngineError:
        return {}
    return {str(name).lower(): str(text) for name, text in rows if name and text}


def _refuse_unless_abandoned(deployment: Deployment, name: str, text: str) -> None:
    found = _MARK.search(text)
    if found is None:
        raise ArgumentError(
            f"{deployment.label} holds a table {name} already, and a load would replace it",
            hint="name a database without such a table, or drop it yourself",
        )
    host, pid, start_ticks, boot = found.groups()
    if host != _host():
        raise ArgumentError(
            f"{deployment.label} holds a table {name} that an Assay on {host} has loaded "
            "and may use",
            hint="wait until it has ended, name another database, or drop the table yourself",
        )
    if ProcessIdentity(int(pid), int(start_ticks), boot).is_alive():
        raise ArgumentError(
            f"{deployment.label} holds a table {name} that another Assay, process {pid}, is using",
            hint="wait until it has ended, or name another database",
        )


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9.-]", "-", platform.node()) or "-"
