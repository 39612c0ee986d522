"""Takes a workload whose tables say how their rows are made, and the parameters of a run; gives the
request for those rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from assay import _engine
from assay.row_sources.request import DataRequest
from assay.workload.parameters import Scalar
from assay.workload.schema import placed
from assay.workload.values import Workload

_SAMPLE_ROWS = 2000
"""About so many rows of each table stand for the way in which rows are made."""

_PLACES = ("file", "line", "column")
"""Of a source document: they say where an expression stands and decide no row."""


def request_of(
    workload: Workload, parameters: Mapping[str, Scalar], *, is_empty: bool = False
) -> DataRequest:
    """The rows of a run; with ``is_empty`` the tables are made and hold none.

    The rows are counted beforehand, exactly. Raises `ExperimentError` where an expression is wrong,
    and where rows that are looked at cannot be made.
    """
    seed = int(parameters.get("data_seed", 1))
    source = workload.source_for(parameters, seed)
    if is_empty:
        source["tables"] = [{**table, "rows": "0", "per": None} for table in source["tables"]]
    measured = measure(source)
    rows = {str(table["name"]): int(table["rows"]) for table in measured}
    total = sum(rows.values())
    return DataRequest(
        source=source,
        origin="generated",
        description=_described(workload, source, total),
        fingerprint=_fingerprint(source, rows),
        entries=total,
        rows_expected=rows,
    )


def measure(source: Mapping[str, Any], *, with_checksums: bool = False) -> list[dict[str, Any]]:
    """Of each table its name, how many rows, about how many bytes; with checksums also the digest
    of its rows, for which all of them are made."""
    try:
        told = json.loads(_engine.measure(json.dumps(source), with_checksums))
    except _engine.EngineError as error:
        raise placed(error) from error
    return list(told["tables"])


def _fingerprint(source: Mapping[str, Any], rows: Mapping[str, int]) -> str:
    """SHA-256 of all that decides the rows. A sample of the rows is part of it, so that an engine
    which makes other rows of the same words makes another data set."""
    most = max(rows.values(), default=0)
    part = [1, max(1, most // _SAMPLE_ROWS)]
    sample = measure({**source, "part": part}, with_checksums=True) if most else []
    decisive = {
        "source": _without_places(source),
        "sample": [[one["name"], one["rows"], one["checksum"]] for one in sample],
    }
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def _without_places(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_places(one) for key, one in value.items() if key not in _PLACES}
    if isinstance(value, list | tuple):
        return [_without_places(one) for one in value]
    return value


def _described(workload: Workload, source: Mapping[str, Any], total: int) -> str:
    tables = len(source["tables"])
    words = ", ".join(f"{name} {value}" for name, value in source["variables"].items())
    counted = f"{tables} tables, {total:,} rows" if tables != 1 else f"{total:,} rows"
    return f"{workload.name}: {counted}" + (f" ({words})" if words else "")
