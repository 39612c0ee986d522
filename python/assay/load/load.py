"""Takes a deployment and a data request; makes the schema, fills it, indexes it, counts it;
returns a `Dataset`; and deletes all rows and inserts them again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec import Struct

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Dialect, Reclaims, Table
from assay.contracts.engine import LoadDocument, LoadProgress, LoadReport, TableDocument
from assay.contracts.events import RowsSent, Sink, ignored
from assay.contracts.systems.abilities import HasTableFiles, Sized, SpreadsSchema
from assay.contracts.systems.protocol import System
from assay.errors import Bug, InputError, RunFailed, SystemRefused
from assay.load.dataset import DEFAULT_LOADING, Dataset, Loading
from assay.load.row_sources.protocol import DataRequest, MakesRows, Rows
from assay.load.tables import count, drop, drop_abandoned, schema, table_digests, verify_rows, views
from assay.provision.engine import engine_calls
from assay.provision.engine.engine_calls import Session, raise_as_ours, session
from assay.text.terminal import shortened

_SHOWN = 60
"""Characters of a statement."""


def load(
    deployment: Deployment,
    system: System,
    tables: Sequence[Table],
    request: DataRequest,
    emit: Sink = ignored,
    loading: Loading = DEFAULT_LOADING,
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
            verify_rows(deployment, dialect, tables, checksums)
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
            f"{shortened(statement, _SHOWN)}",
            error_class=error.error_class,
            code=error.code,
            hint="grant this user the right, or name a database or a user who has it: "
            "USER:PASSWORD@HOST:PORT/DATABASE",
        ) from error


OnProgress = Callable[[LoadProgress], None]


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
) -> LoadReport:
    """Sends the rows of ``source`` into tables that exist, in one transaction of each session that
    begins with the statements ``before``."""
    form = deployment.options.get("bulk_form", dialect.bulk_form)
    documents = (
        TableDocument(
            name=table.name,
            bulk=_bulk_statement(dialect, table, form),
            form=form,
            types=tuple(column.type for column in table.columns),
        )
        for table in tables
    )
    document = LoadDocument(
        deployment=deployment.address.for_engine(),
        before=(*dialect.begin(), *before),
        tables=tuple(documents),
        after=tuple(dialect.commit()),
        on_error=tuple(dialect.rollback()),
        sessions=sessions,
        checksums=with_checksums,
    )

    def report(text: str) -> None:
        if progress is not None:
            progress(msgspec.json.decode(text, type=LoadProgress))

    try:
        rows = _made_in_python(source()) if callable(source) else source.json
        return engine_calls.load(document, rows, report)
    except _engine.EngineError as error:
        raise_as_ours(error)


def _made_in_python(rows: Rows) -> Rows:
    """Raises `InputError` for what is no mapping; the engine examines the rows themselves."""
    if not isinstance(rows, Mapping):
        raise InputError(
            f"expected a mapping from table to rows, found {type(rows).__name__}", file=""
        )
    return rows


def _bulk_statement(dialect: Dialect, table: Table, form: str) -> str:
    statement = (
        dialect.multi_row_statement(table) if form == "multi-row" else dialect.bulk_statement(table)
    )
    if statement is None:
        raise RunFailed(f"the dialect {dialect.name} has no bulk load of the form {form}")
    return statement


class Sizes(Struct, frozen=True):
    """Bytes of the files of the tables, in one cycle: of all files where a system keeps logs and
    catalogue in the same ones."""

    deleted_bytes: int
    reinserted_bytes: int


class Reused(Struct, frozen=True):
    loaded_bytes: int
    cycles: tuple[Sizes, ...]
    equals_load: bool
    """Whether the tables hold the same rows as after the load."""


def observe_reuse(
    deployment: Deployment,
    system: System,
    tables: Sequence[Table],
    request: DataRequest,
    cycles: int,
    *,
    reclaims: bool,
    on_stage: Callable[[str], None],
) -> Reused:
    """``reclaims``: the system's own statements give the space of deleted rows back, after each
    deletion. Raises `SystemRefused` and `RunFailed` where a statement fails."""
    size_bytes = table_files_bytes(system)
    if size_bytes is None:
        raise Bug(f"{system.name} does not report the size of its data")
    dialect = system.dialect
    loaded_bytes = size_bytes(deployment)
    source = table_digests(deployment, dialect, tables)
    found = []
    for cycle in range(1, cycles + 1):
        on_stage(f"delete all rows, and insert them again ({cycle} of {cycles})")
        deletes = [one for table in tables for one in dialect.delete_all(table.name)]
        _execute_all(deployment, [*dialect.begin(), *deletes, *dialect.commit()])
        if reclaims and isinstance(dialect, Reclaims):
            _execute_all(deployment, dialect.reclaim(tables))
        deleted_bytes = size_bytes(deployment)
        fill(deployment, dialect, tables, request.source)
        found.append(Sizes(deleted_bytes, size_bytes(deployment)))
    on_stage("compare")
    is_equal = table_digests(deployment, dialect, tables) == source
    return Reused(loaded_bytes, tuple(found), is_equal)


def table_files_bytes(system: System) -> Callable[[Deployment], int] | None:
    """What returns the bytes of the files of the tables, of all files where a system keeps logs and
    catalogue in the same ones; None where it does not report the size of its data."""
    if isinstance(system, HasTableFiles):
        return system.table_files_bytes
    return system.size_on_disk_bytes if isinstance(system, Sized) else None


def _execute_all(deployment: Deployment, statements: Sequence[str]) -> None:
    with session(deployment.address) as opened:
        for statement in statements:
            opened.execute(statement)
