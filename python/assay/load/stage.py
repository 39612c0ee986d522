"""Takes a deployment and a data request; makes the schema, fills it, indexes it, counts it; gives a
`Dataset`.

Nothing stays half loaded: rows travel in one transaction, and where a system has none the tables
are dropped again when anything goes wrong.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from assay import _engine
from assay.dialects.protocol import Dialect, Table
from assay.errors import AssayError, RunFailed
from assay.load.dataset import Dataset
from assay.load.digest import verify
from assay.load.loading import DEFAULT, Loading
from assay.load.mark import mark
from assay.provision.deployment import Deployment
from assay.provision.session import raise_as_ours, session
from assay.provision.signals import is_ending
from assay.row_sources.request import DataRequest, MakesRows
from assay.systems.abilities import Sized
from assay.systems.protocol import System

_HURRIED_S = 2.0
"""For a session that takes away what was left, when somebody waits for the prompt."""

OnProgress = Callable[[dict[str, Any]], None]


def load(
    deployment: Deployment,
    system: System,
    tables: Sequence[Table],
    request: DataRequest,
    progress: OnProgress | None = None,
    loading: Loading = DEFAULT,
) -> Dataset:
    """Fills ``tables`` of ``deployment`` with the rows of ``request``, replacing what they held.

    Raises `InputError` or `ExperimentError` where the data are wrong, `SystemRefused` or
    `SystemDied` where the system is, `RunFailed` where the system counts other rows than it was
    sent, or (where ``loading`` has rows verified) gives other ones back.
    """
    dialect = system.dialect
    sessions = loading.sessions_for(deployment, request)
    try:
        schema_ns = _timed(deployment, _schema(dialect, tables, deployment))
        report = fill(
            deployment,
            dialect,
            tables,
            request.source,
            progress=None if progress is None else _with_total(progress, request),
            sessions=sessions,
            with_checksums=loading.is_verified,
        )
        index_ns = _timed(
            deployment, [one for table in tables for one in dialect.create_indexes(table)]
        )
        foreign_keys_ns = _timed(
            deployment,
            [
                one
                for table in tables
                for one in dialect.add_foreign_keys(table, deployment.options)
            ],
        )
        analyze_ns = _timed(deployment, dialect.after_load(tables))
        sent = {table["name"]: table["rows"] for table in report["tables"]}
        rows = _count(deployment, dialect, tables)
        if rows != {name: sent.get(name, 0) for name in rows}:
            raise RunFailed(f"{deployment.label} was sent the rows {sent} and counts {rows}")
        checksums = {}
        if loading.is_verified:
            checksums = {table["name"]: table["checksum"] for table in report["tables"]}
            verify(deployment, dialect, tables, checksums)
    except (AssayError, KeyboardInterrupt):
        drop(deployment, dialect, tables)
        raise
    return Dataset(
        request=request,
        rows=rows,
        bytes_sent=report["bytes_sent"],
        schema_ns=schema_ns,
        load_ns=report["elapsed_ns"],
        index_ns=index_ns,
        analyze_ns=analyze_ns,
        size_on_disk_bytes=size_on_disk_bytes(system, deployment),
        options=deployment.options,
        foreign_keys_ns=foreign_keys_ns,
        data_bytes=system.data_bytes(deployment) if isinstance(system, Sized) else 0,
        sessions=sessions,
        checksums=checksums,
    )


def size_on_disk_bytes(system: System, deployment: Deployment) -> int | None:
    """None where the system does not say."""
    return system.size_on_disk_bytes(deployment) if isinstance(system, Sized) else None


def fill(
    deployment: Deployment,
    dialect: Dialect,
    tables: Sequence[Table],
    source: MakesRows,
    *,
    before: Sequence[str] = (),
    progress: OnProgress | None = None,
    sessions: int = 1,
    with_checksums: bool = False,
) -> dict[str, Any]:
    """Sends the rows of ``source`` into tables that exist, in one transaction of each session that
    begins with the statements ``before``; gives the engine's `LoadReport`."""
    form = deployment.options.get("bulk_form", dialect.bulk_form)
    document = {
        "site": deployment.address.for_engine(),
        "before": [*dialect.begin(), *before],
        "tables": [
            {
                "name": table.name,
                "bulk": _bulk_statement(dialect, table, form),
                "form": form,
                "types": [column.type for column in table.columns],
            }
            for table in tables
        ],
        "after": dialect.commit(),
        "on_error": dialect.rollback(),
        "sessions": sessions,
        "checksums": with_checksums,
    }

    def told(text: str) -> None:
        if progress is not None:
            progress(json.loads(text))

    try:
        rows = source() if callable(source) else json.dumps(source)
        return dict(json.loads(_engine.load(json.dumps(document), rows, told)))
    except _engine.EngineError as error:
        raise_as_ours(error)


def drop(deployment: Deployment, dialect: Dialect, tables: Sequence[Table]) -> None:
    """Leaves none of ``tables``; silent where the system is gone, whose end is told elsewhere.

    Behind an interruption a system that does not answer is not waited for, and one of ours goes
    with everything in it.
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
    """From the last table to the first: none goes while another's foreign key names it."""
    return [one for table in reversed(tables) for one in dialect.drop_table(table)]


def _with_total(progress: OnProgress, request: DataRequest) -> OnProgress:
    """Tells of the end too, so that a face can say how much time is left."""
    rows = request.rows_expected
    totals = {
        "bytes_total": request.bytes_total or None,
        "rows_total": None if rows is None else sum(rows.values()),
    }
    return lambda report: progress({**report, **totals})


def _bulk_statement(dialect: Dialect, table: Table, form: str) -> str:
    statement = (
        dialect.multi_row_statement(table) if form == "multi-row" else dialect.bulk_statement(table)
    )
    if statement is None:
        raise RunFailed(f"the dialect {dialect.name} has no bulk load of the form {form}")
    return statement


def _schema(dialect: Dialect, tables: Sequence[Table], deployment: Deployment) -> list[str]:
    """On a server that is not ours each table carries our mark (`assay.load.mark`)."""
    if deployment.is_private:
        made = [one for table in tables for one in dialect.create_table(table, deployment.options)]
    else:
        text = mark()
        made = [
            one
            for table in tables
            for one in dialect.create_marked_table(table, deployment.options, text)
        ]
    return _drops(dialect, tables) + made


def _timed(deployment: Deployment, statements: Sequence[str]) -> int:
    """Runs the statements in one session; gives the time they took, connecting left out."""
    if not statements:
        return 0
    with session(deployment.address) as opened:
        began_ns = time.monotonic_ns()
        for statement in statements:
            opened.execute(statement)
        return time.monotonic_ns() - began_ns


def _count(deployment: Deployment, dialect: Dialect, tables: Sequence[Table]) -> dict[str, int]:
    with session(deployment.address) as opened:
        return {
            table.name: int(opened.execute(dialect.count(table.name)).rows[0][0] or 0)
            for table in tables
        }
