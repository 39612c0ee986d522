"""Takes tables and a deployment; creates the tables, counts their rows, drops them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from msgspec import structs

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.dialects.protocol import Dialect, HasViews, Table
from assay.errors import ArgumentError, AssayError, RunFailed, SystemRefused
from assay.provision.engine.engine_calls import Session
from assay.provision.engine.session import session
from assay.provision.machine.signals import is_ending
from assay.workload.in_dialect import DeclaredNames, lineage

_HURRIED_S = 2.0
"""The connect timeout of a session that drops tables after an interruption."""


def schema(dialect: Dialect, tables: Sequence[Table], deployment: Deployment) -> list[str]:
    """Statements that create the tables. On a server by URL each gets a mark
    (`assay.load.mark`)."""
    if deployment.is_private:
        return [
            statement
            for table in tables
            for statement in dialect.create_table(table, deployment.options)
        ]
    from assay.load.mark import mark

    text = mark()
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
        address = replace(address, connect_timeout_s=_HURRIED_S)
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
