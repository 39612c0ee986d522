"""Takes a deployment and a data request; makes the schema, fills it, indexes it, counts it; returns
a `Dataset`.

No table stays partly loaded: rows are sent in one transaction per session, and after an error the
tables are dropped.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.dialects.protocol import Dialect, Table
from assay.contracts.engine.load import LoadProgress, LoadReport
from assay.contracts.events import RowsSent, Sink, ignored
from assay.contracts.systems.abilities import Sized, SpreadsSchema
from assay.contracts.systems.protocol import System
from assay.errors import InputError, RunFailed, SystemRefused
from assay.load.dataset import Dataset
from assay.load.digest import verify
from assay.load.fill import fill
from assay.load.load_options import DEFAULT, Loading
from assay.load.row_sources.request import DataRequest
from assay.load.tables import count, drop, drop_abandoned, schema, views
from assay.provision.engine.engine_calls import Session
from assay.provision.engine.session import session
from assay.text.cut import beginning

_SHOWN = 60
"""Characters of a statement."""


def load(
    deployment: Deployment,
    system: System,
    tables: Sequence[Table],
    request: DataRequest,
    emit: Sink = ignored,
    loading: Loading = DEFAULT,
) -> Dataset:
    """Fills ``tables`` of ``deployment`` with the rows of ``request``, replacing their content.

    Raises `InputError` or `ExperimentError` for invalid data, `SystemRefused` or `SystemDied` where
    the system fails, `RunFailed` where the system counts a different number of rows than it was
    sent or, with verification, returns different rows.
    """
    dialect = system.dialect
    sessions = loading.sessions_for(deployment, request)
    drop_abandoned(deployment, dialect, tables)
    try:
        schema_ns = _timed(system, deployment, schema(dialect, tables, deployment))
        report = fill(
            deployment,
            dialect,
            tables,
            request.source,
            progress=lambda report: emit(_loading(report, request)),
            sessions=sessions,
            with_checksums=loading.is_verified,
        )
        indexes = [one for table in tables for one in dialect.create_indexes(table)]
        index_ns = _timed(system, deployment, indexes)
        foreign_keys = [
            one for table in tables for one in dialect.add_foreign_keys(table, deployment.options)
        ]
        foreign_keys_ns = _timed(system, deployment, foreign_keys)
        analyze_ns = _timed(system, deployment, dialect.after_load(tables))
        _timed(system, deployment, views(dialect, tables))
        rows = _counted(deployment, dialect, tables, request, report)
        checksums = {}
        if loading.is_verified:
            checksums = {table.name: table.checksum or "" for table in report.tables}
            verify(deployment, dialect, tables, checksums)
    except BaseException:
        drop(deployment, dialect, tables)
        raise
    return Dataset(
        request=request,
        rows=rows,
        bytes_sent=report.bytes_sent,
        schema_ns=schema_ns,
        load_ns=report.elapsed_ns,
        index_ns=index_ns,
        analyze_ns=analyze_ns,
        size_on_disk_bytes=size_on_disk_bytes(system, deployment),
        options=deployment.options,
        foreign_keys_ns=foreign_keys_ns,
        data_bytes=system.data_bytes(deployment) if isinstance(system, Sized) else 0,
        sessions=sessions,
        checksums=checksums,
        files_on_disk=files_on_disk(deployment),
    )


def _counted(
    deployment: Deployment,
    dialect: Dialect,
    tables: Sequence[Table],
    request: DataRequest,
    report: LoadReport,
) -> dict[str, int]:
    """The rows of each table as the system counts them, which must be as many as were expected and
    as were sent. ``report``: of `fill`."""
    sent = {table.name: table.rows for table in report.tables}
    for name, expected in (request.rows_expected or {}).items():
        if sent.get(name, 0) != expected:
            raise InputError(
                f"rows of the table {name}: rows_expected says {expected}, "
                f"the source made {sent.get(name, 0)}",
                file="",
            )
    rows = count(deployment, dialect, tables)
    if rows != {name: sent.get(name, 0) for name in rows}:
        raise RunFailed(f"{deployment.label} was sent the rows {sent} and counts {rows}")
    return rows


def size_on_disk_bytes(system: System, deployment: Deployment) -> int | None:
    """None where the system does not report it."""
    return system.size_on_disk_bytes(deployment) if isinstance(system, Sized) else None


def files_on_disk(deployment: Deployment) -> int | None:
    """The number of files in its data directories; None of a server by URL."""
    directories = [
        node.directory
        for node in deployment.nodes
        if node.directory is not None and node.storage.kind != "url"
    ]
    if not directories:
        return None
    return sum(len(files) for place in directories for _, _, files in os.walk(place))


def _loading(report: LoadProgress, request: DataRequest) -> RowsSent:
    """With the totals, so that the remaining time can be shown."""
    rows = request.rows_expected
    return RowsSent(
        report,
        bytes_total=request.bytes_total or None,
        rows_total=None if rows is None else sum(rows.values()),
    )


def _timed(system: System, deployment: Deployment, statements: Sequence[str]) -> int:
    """Runs the statements in one session, until all nodes know of them; returns their time in
    nanoseconds, without connecting."""
    if not statements:
        return 0
    with session(deployment.address) as opened:
        began_ns = time.monotonic_ns()
        for statement in statements:
            _execute(opened, statement, deployment)
        if isinstance(system, SpreadsSchema):
            system.wait_for_schema(deployment)
        return time.monotonic_ns() - began_ns


def _execute(opened: Session, statement: str, deployment: Deployment) -> None:
    """Raises `SystemRefused` with statement, user and fix where the user may not do this."""
    try:
        opened.execute(statement)
    except _engine.EngineError as error:
        if error.error_class != "permission":
            raise
        address = deployment.address
        raise SystemRefused(
            f"{deployment.label}: expected a user who may create and fill tables, found "
            f"{address.user!r} in {address.database!r}: {error.message}; statement: "
            f"{beginning(statement, _SHOWN)}",
            error_class=error.error_class,
            code=error.code,
            hint="grant this user the right, or name a database or a user who has it: "
            "USER:PASSWORD@HOST:PORT/DATABASE",
        ) from error
