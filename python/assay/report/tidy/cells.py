"""The columns of the tidy table of cells."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from assay.judge import CellVerdict, required_rate
from assay.judge.required_rate import Kept
from assay.judge.samples import UNREACHED
from assay.judge.spread import Spread, median_of_all
from assay.metrics import catalogue
from assay.metrics.catalogue import OF_TYPES
from assay.metrics.metric import Metric
from assay.record import RunRecord
from assay.report.cells.cell_runs import DrivenRun
from assay.report.sections.precision import CellPrecision
from assay.report.tidy.columns import UNANSWERED, TidyColumn, Value, never_null, of
from assay.report.tidy.factors import LATENCY, STORAGE_IN_FORCE, verdict


class CellRow(NamedTuple):
    first: RunRecord
    judged: CellVerdict
    throughput: Spread | None
    elapsed: Spread | None
    driven: Sequence[DrivenRun]
    """Its repetitions."""
    precision: CellPrecision


def _spread_columns(name: str, unit: str, kind: str, meaning: str, at: str) -> list[TidyColumn]:
    def value(which: str) -> Callable[[CellRow], Value]:
        def read(cell: CellRow) -> Value:
            over: Spread | None = getattr(cell, at)
            return None if over is None else getattr(over, which)

        return read

    return [
        TidyColumn(f"{name}{unit}", kind, f"{meaning}; median of the repetitions", value("median")),
        TidyColumn(f"{name}_min{unit}", kind, f"{meaning}; least", value("low")),
        TidyColumn(f"{name}_max{unit}", kind, f"{meaning}; greatest", value("high")),
    ]


_OVER_ALL: Mapping[str, Callable[[Iterable[Any]], Any]] = {
    "min_ns": min,
    "max_ns": max,
    UNANSWERED: sum,
}


def _of_latency(column: TidyColumn) -> TidyColumn:
    """The column of a run, over the repetitions."""
    extreme = _OVER_ALL.get(column.name.removeprefix("latency_"))

    def value(cell: CellRow) -> Value:
        each = [column.value(run.driven.all_ok) for run in cell.driven]
        if column.kind == "string":
            return next((one for one in each if one), None)
        found = [_number(one) for one in each]
        if extreme is not None:
            return extreme(found) if found and None not in found else None
        over = median_of_all(found)
        return round(over) if over is not None and column.kind == "integer" else over

    of_what = "of all repetitions" if extreme else "median of the repetitions"
    if column.kind == "string":
        of_what = "the first repetition of which some are"
    return replace(column, meaning=f"{column.meaning}; {of_what}", value=value)


class TypeRow(NamedTuple):
    """A transaction type of a cell."""

    cell: str
    name: str
    runs: Sequence[RunRecord]


def types_of(cell: CellRow) -> list[TypeRow]:
    runs = [driven.run for driven in cell.driven]
    names = dict.fromkeys(one.name for driven in cell.driven for one in driven.driven.transactions)
    return [TypeRow(cell.first.cell_fingerprint, name, runs) for name in names]


def _type_columns(metric: Metric) -> list[TidyColumn]:
    """Over the repetitions; null where one of them has no number."""

    def of(which: Callable[[Sequence[float]], float]) -> Callable[[TypeRow], Value]:
        def value(row: TypeRow) -> Value:
            read = catalogue.of_type(metric, row.name).result
            found = [read(run) for run in row.runs]
            known = [one for one in found if one is not None and one != UNREACHED]
            return which(known) if known and len(known) == len(found) else None

        return value

    stem = metric.name.removesuffix(f"_{metric.unit}")
    unit = metric.name.removeprefix(stem)
    return [
        TidyColumn(f"{stem}{at}{unit}", "number", f"{metric.meaning}; {what}", of(which))
        for at, what, which in (
            ("", "median of the repetitions", statistics.median),
            ("_min", "least", min),
            ("_max", "greatest", max),
        )
        if not (at and metric.unit == "count")
    ]


TRANSACTION_TYPES = [
    never_null("cell", "string", "fingerprint", lambda row: row.cell),
    never_null("transaction", "string", "type", lambda row: row.name),
    never_null("measured", "integer", "repetitions", lambda row: len(row.runs)),
    *(column for one in OF_TYPES for column in _type_columns(one)),
]


def _keeps_required_rate(cell: CellRow) -> bool | None:
    if (required_per_s := cell.first.required_rate_per_s) is None:
        return None
    runs = [(run.driving, driven) for run, driven in cell.driven]
    answer, _ = required_rate.kept(runs, cell.judged.verdict, required_per_s)
    return {Kept.YES: True, Kept.NO: False}.get(answer)


def _number(value: Value) -> int | float | None:
    return value if isinstance(value, int | float) else None


CELLS = [
    never_null(
        "cell", "string", "fingerprint; equal cells have equal ones",
        lambda cell: cell.first.cell_fingerprint,
    ),
    never_null("repetitions", "integer", "planned", lambda cell: cell.judged.repetitions),
    never_null("measured", "integer", "of them", lambda cell: cell.judged.measured),
    TidyColumn(
        "precision_ratio", "number",
        "half the width of the 95 % interval of the mean, as a share of it; null: not known",
        lambda cell: cell.precision.half_width,
    ),
    TidyColumn(
        "repetitions_ended_by", "string",
        "with a precision or a budget: why there are no more; null: their number was given",
        lambda cell: cell.precision.ended_by,
    ),
    *of(lambda cell: cell.judged.verdict, verdict("over all repetitions")),
    *_spread_columns(
        "throughput", "_per_s", "number", "transactions that ended ok per second", "throughput"
    ),
    TidyColumn(
        "duration_s", "number", "of the measurement, as asked for; null: counts end it",
        lambda cell: cell.first.driving.duration_s if cell.first.driving else None,
    ),
    *_spread_columns("elapsed", "_ns", "number", "measurement, to the last end", "elapsed"),
    *map(_of_latency, LATENCY),
    TidyColumn(
        "keeps_required_rate", "boolean",
        "each repetition had the rate that is required of priced storages; null: none is, or not "
        "decided",
        _keeps_required_rate,
    ),
    *of(lambda cell: cell.first, STORAGE_IN_FORCE),
]  # fmt: skip
