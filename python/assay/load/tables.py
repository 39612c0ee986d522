"""Takes tables and a deployment; creates the tables, counts their rows, returns their digests,
drops them; refuses to replace those that no Assay has loaded."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from msgspec import structs

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Dialect, HasViews, Table
from assay.errors import ArgumentError, AssayError, RunFailed, SystemRefused
from assay.provision.engine.engine_calls import Session, session
from assay.provision.machine.process_table import ProcessIdentity
from assay.provision.machine.signals import is_ending
from assay.workload.in_dialect import DeclaredNames, lineage

_HURRIED_S = 2.0
"""The connect timeout of a session that drops tables after an interruption."""


def schema(dialect: Dialect, tables: Sequence[Table], deployment: Deployment) -> list[str]:
    """Statements that create the tables. On a server by URL each gets a mark
    (`assay.load.tables`)."""
    if deployment.is_private:
        return [
            statement
            for table in tables
            for statement in dialect.create_table(table, deployment.options)
        ]

    text = mark_of_process()
    return [
        statement
        for table in tables
        for statement in dialect.create_marked_table(table, deployment.options, text)
    ]


def views(dialect: Dialect, tables: Sequence[Table]) -> list[str]:
    """Statements that create the views over the tables, once these are filled."""
    if not isinstance(dialect, HasViews):
        return []
    names = DeclaredNames(tables)
    statements = []
    for view in (view for table in tables for view in table.views):
        own = next(
            (view.overrides[line] for line in lineage(dialect) if line in view.overrides), None
        )
        query = names.written(view.query, dialect) if own is None else own
        statements += dialect.create_view(structs.replace(view, query=query))
    return statements


def drop_abandoned(deployment: Deployment, dialect: Dialect, tables: Sequence[Table]) -> None:
    """Drops the tables of these names that an earlier load left. Raises `ArgumentError` where one
    cannot be dropped; then all of them stay, where the system can undo a drop. Raises
    `SystemRefused` where there is none, and the system refuses how the dialect drops tables."""
    try:
        with session(deployment.address) as opened:
            _execute_drops(opened, dialect, tables)
    except (SystemRefused, RunFailed) as error:
        if not _has_any(deployment, dialect, tables):
            raise SystemRefused(
                f"{deployment.label} refuses how the dialect {dialect.name} drops a table: "
                + error.message,
                hint="choose the dialect of this system: dbapi:MODULE+DIALECT"
                if ":" in deployment.system
                else error.hint,
            ) from error
        raise ArgumentError(
            f"tables that an earlier Assay left in {deployment.label} cannot be dropped: "
            # Their hint to drop everything that depends on a table would lose the user's data.
            + error.message.partition("; hint: ")[0],
            hint="drop what depends on them (a view, a foreign key), or name another database",
        ) from error


def _has_any(deployment: Deployment, dialect: Dialect, tables: Sequence[Table]) -> bool:
    with session(deployment.address) as opened:
        return any(_is_there(opened, dialect, table.name) for table in tables)


def count(deployment: Deployment, dialect: Dialect, tables: Sequence[Table]) -> dict[str, int]:
    with session(deployment.address) as opened:
        return {table.name: _rows_of(opened, dialect, table) for table in tables}


def _rows_of(opened: Session, dialect: Dialect, table: Table) -> int:
    question = dialect.count(table.name)
    if question is not None:
        return int(opened.execute(question).rows[0][0] or 0)
    rows, _ = opened.digest(dialect.read_all(table.name, [table.columns[0].name]))
    return rows


def drop(deployment: Deployment, dialect: Dialect, tables: Sequence[Table]) -> None:
    """Drops ``tables``; ignores errors of a lost system, which are reported elsewhere.

    After an interruption it does not wait for a system that does not answer, and a private server
    is removed as a whole.
    """
    address = deployment.address
    if is_ending():
        if deployment.is_private:
            return
        address = structs.replace(address, connect_timeout_s=_HURRIED_S)
    with suppress(AssayError), session(address) as opened:
        _execute_drops(opened, dialect, tables)


def _execute_drops(opened: Session, dialect: Dialect, tables: Sequence[Table]) -> None:
    if not dialect.has_if_exists:
        tables = [table for table in tables if _is_there(opened, dialect, table.name)]
    for statement in drops(dialect, tables):
        try:
            opened.execute(statement)
        except _engine.EngineError as error:
            # Where the language has no IF EXISTS.
            if error.error_class != "unknown object":
                raise


def _is_there(opened: Session, dialect: Dialect, name: str) -> bool:
    try:
        opened.execute(dialect.exists(name))
    except _engine.EngineError as error:
        # One that the user may not read is there: to drop it says more.
        return error.error_class == "permission"
    return True


def drops(dialect: Dialect, tables: Sequence[Table]) -> list[str]:
    """In one transaction: all tables or none, where the system can undo a drop. In reverse order: a
    table is dropped after those whose foreign keys refer to it, and after the views over it."""
    statements = []
    for table in reversed(tables):
        if isinstance(dialect, HasViews):
            statements += [one for view in reversed(table.views) for one in dialect.drop_view(view)]
        statements += dialect.drop_table(table)
    return [*dialect.begin(), *statements, *dialect.commit()] if statements else []


def table_digest(deployment: Deployment, dialect: Dialect, table: Table) -> tuple[int, str]:
    """(rows, 16 hex digits) over all columns in the table's order."""
    statement = dialect.read_all(table.name, [column.name for column in table.columns])
    types = [column.type for column in table.columns]
    with session(deployment.address) as opened:
        return opened.digest(statement, types)


def table_digests(
    deployment: Deployment, dialect: Dialect, tables: Sequence[Table]
) -> dict[str, tuple[int, str]]:
    """`table_digest` by the name of the table."""
    return {table.name: table_digest(deployment, dialect, table) for table in tables}


def verify_rows(
    deployment: Deployment,
    dialect: Dialect,
    tables: Sequence[Table],
    checksums: Mapping[str, str],
    on_stage: Callable[[str], None] = lambda _: None,
) -> None:
    """Reads every table back; raises `RunFailed` for the first whose rows are not those that were
    made (``checksums``: table → its digest, as the engine made them)."""
    for table in tables:
        on_stage(f"verify {table.name}")
        rows, found = table_digest(deployment, dialect, table)
        if found != checksums[table.name]:
            raise RunFailed(
                f"{deployment.label} holds different rows in {table.name} than it was sent: "
                f"the {rows} rows have the digest {found}, expected {checksums[table.name]}",
                hint="a type of this system may keep less than the declared type",
            )


_MARK = re.compile(r"loaded by Assay: host (\S+), process (\d+) (\d+) (\S+)")


def mark_of_process() -> str:
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
