"""The row source ``generated``: the workload's tables say how their rows are made, and a run's
parameters decide the rest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from assay import _engine
from assay.contracts.documents import read_answer
from assay.contracts.engine import GeneratedDocument, Measure, TableMeasure
from assay.contracts.experiment import Experiment
from assay.contracts.stop import look
from assay.load.row_sources.protocol import (
    Asked,
    DataRequest,
    ProgressReceiver,
    RowSource,
    RowsSize,
)
from assay.workload.parameters import Scalar
from assay.workload.schema import placed
from assay.workload.values import Workload

_SAMPLE_ROWS = 2000
"""About so many rows of each table stand for the way in which rows are made."""

_PLACES = ("file", "line", "column")
"""Of a source document: they say where an expression stands and decide no row."""


class Generated(RowSource):
    name = "generated"
    reads_parameters = ("data_seed",)
    has_expressions = True

    def check(self, workload: Workload, levels: Iterable[Mapping[str, Scalar]]) -> None:
        seen = set()
        for given in levels:
            parameters = workload.with_defaults(given)
            used = tuple(parameters[name] for name in workload.schema.used(parameters))
            if used not in seen:
                seen.add(used)
                workload.schema.check(parameters)

    def rows_size(
        self,
        workload: Workload,
        paths: Sequence[str],
        parameters: Mapping[str, Scalar],
        language: str,
    ) -> RowsSize | None:
        del paths
        source = workload.source_for(parameters, int(parameters.get("data_seed", 1)), language)
        measured = measure(source)
        return RowsSize(
            sum(table.rows for table in measured), sum(table.bytes for table in measured)
        )

    def open(
        self, workload: Workload, experiment: Experiment, listener: ProgressReceiver
    ) -> GeneratedRows:
        del experiment, listener
        return GeneratedRows(workload)


class GeneratedRows(Struct, frozen=True):
    """Nothing is read for them."""

    workload: Workload

    def request(self, asked: Asked) -> DataRequest:
        language = asked.system.dialect.language
        return request_of(self.workload, asked.parameters, language, is_empty=asked.is_empty)


def request_of(
    workload: Workload,
    parameters: Mapping[str, Scalar],
    language: str | None = None,
    *,
    is_empty: bool = False,
) -> DataRequest:
    """The rows of a run whose statements are in this language (None: of all tables); with
    ``is_empty`` the tables are created without rows.

    The rows are counted beforehand, exactly. Raises `ExperimentError` where an expression is wrong,
    and where rows that are looked at cannot be made.
    """
    seed = int(parameters.get("data_seed", 1))
    source, whole = (
        _emptied(one) if is_empty else one
        for one in (
            workload.source_for(parameters, seed, language),
            workload.source_for(parameters, seed),
        )
    )
    rows = _rows(source)
    fingerprint = _fingerprint(source, rows)
    total = sum(rows.values())
    return DataRequest(
        source=source,
        origin="generated",
        description=_described(workload, source, total),
        fingerprint=fingerprint,
        items=total,
        declared_fingerprint=fingerprint if whole == source else _fingerprint(whole, _rows(whole)),
        is_divisible=True,
        rows_expected=rows,
        checksums=lambda: _checksums(source),
    )


def _emptied(source: GeneratedDocument) -> GeneratedDocument:
    tables = (structs.replace(table, rows="0", per=None) for table in source.tables)
    return structs.replace(source, tables=tuple(tables))


def _rows(source: GeneratedDocument) -> dict[str, int]:
    return {table.name: table.rows for table in measure(source)}


def measure(source: GeneratedDocument, *, with_checksums: bool = False) -> tuple[TableMeasure, ...]:
    """Of each table its name, how many rows, about how many bytes; with checksums also the digest
    of its rows, for which all of them are made."""
    try:
        measured = _engine.measure(source.json, with_checksums, look)
    except _engine.EngineError as error:
        raise placed(error) from error
    return read_answer(measured, Measure).tables


def _checksums(source: GeneratedDocument) -> dict[str, str]:
    measured = measure(source, with_checksums=True)
    return {table.name: str(table.checksum) for table in measured}


def _fingerprint(source: GeneratedDocument, rows: Mapping[str, int]) -> str:
    """SHA-256 of all that decides the rows. A sample of the rows is part of it, so that an engine
    which makes other rows of the same words makes another data set."""
    most = max(rows.values(), default=0)
    part = structs.replace(source, part=(1, max(1, most // _SAMPLE_ROWS)))
    sample = measure(part, with_checksums=True) if most else ()
    decisive = {
        "source": _without_places(source.plain),
        "sample": [[table.name, table.rows, table.checksum] for table in sample],
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def _without_places(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_places(item) for key, item in value.items() if key not in _PLACES}
    if isinstance(value, list | tuple):
        return [_without_places(item) for item in value]
    return value


def _described(workload: Workload, source: GeneratedDocument, total: int) -> str:
    tables = sum(table.is_loaded is not False for table in source.tables)
    given = {name: one for name, one in source.variables.items() if name in workload.parameters}
    words = ", ".join(f"{name} {value}" for name, value in given.items())
    counted = f"{tables} tables, {total:,} rows" if tables != 1 else f"{total:,} rows"
    return f"{workload.name}: {counted}" + (f" ({words})" if words else "")


GENERATED = Generated()
