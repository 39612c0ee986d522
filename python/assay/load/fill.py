"""Takes tables that exist and a source of rows; sends the rows, each session in one transaction
where the system has transactions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from assay import _engine
from assay.contracts.deployment import Deployment
from assay.contracts.dialects.protocol import Dialect, Table
from assay.contracts.engine.load import LoadDocument, LoadProgress, LoadReport, TableDocument
from assay.errors import InputError, RunFailed
from assay.load.row_sources.request import MakesRows, Rows
from assay.provision.engine import engine_calls
from assay.provision.engine.session import raise_as_ours

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
