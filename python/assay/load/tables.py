"""Takes tables and a deployment; creates the tables, counts their rows, drops them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from assay.dialects.protocol import Dialect, Table
from assay.errors import AssayError
from assay.load.mark import mark
from assay.provision.deployment import Deployment
from assay.provision.session import session
from assay.provision.signals import is_ending

_HURRIED_S = 2.0
"""The connect timeout of a session that drops tables after an interruption."""


def schema(dialect: Dialect, tables: Sequence[Table], deployment: Deployment) -> list[str]:
    """Statements that drop and create the tables. On a server by URL each gets a mark
    (`assay.load.mark`)."""
    if deployment.is_private:
        made = [
            statement
            for table in tables
            for statement in dialect.create_table(table, deployment.options)
        ]
    else:
        text = mark()
        made = [
            statement
            for table in tables
            for statement in dialect.create_marked_table(table, deployment.options, text)
        ]
    return _drops(dialect, tables) + made


def count(deployment: Deployment, dialect: Dialect, tables: Sequence[Table]) -> dict[str, int]:
    with session(deployment.address) as opened:
        return {
            table.name: int(opened.execute(dialect.count(table.name)).rows[0][0] or 0)
            for table in tables
        }


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
        for statement in _drops(dialect, tables):
            opened.execute(statement)


def _drops(dialect: Dialect, tables: Sequence[Table]) -> list[str]:
    """In reverse order: a table is dropped after those whose foreign keys refer to it."""
    return [statement for table in reversed(tables) for statement in dialect.drop_table(table)]
