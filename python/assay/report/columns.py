"""Takes columns and the sources of rows; returns a table for people, with numbered footnotes, or
rows for programs. A column is declared once for both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeVar

from msgspec.structs import replace

from assay.contracts.metric import ReportColumn
from assay.contracts.observation import Latency
from assay.experiment import Scalar
from assay.judge import verdict
from assay.judge.run import Verdict
from assay.judge.statistics import samples
from assay.record.metrics import clients
from assay.record.metrics.catalogue import METRICS
from assay.record.metrics.clients import Work
from assay.report.values import (
    ReportCell,
    ReportTable,
    Row,
    TidyValue,
    cell_of,
    count,
    run_number,
    text,
)

Value = TidyValue
Found = TypeVar("Found")


def nullable(
    name: str,
    kind: str,
    meaning: str,
    value: Callable[[Any], Value] | None = None,
    *,
    show: Callable[[Any], ReportCell] | None = None,
    **shown: Any,
) -> ReportColumn:
    """``value``: None: the field of that name. ``show``: the value as a cell for people; ``shown``:
    what else they see of it, as `ReportColumn` has it."""
    read = value or path(name)
    if show is not None:
        shown["cell"] = lambda source: show(read(source))
    shown.setdefault("is_number", kind in ("integer", "number"))
    return ReportColumn(name=name, kind=kind, meaning=meaning, value=read, **shown)


def never_null(
    name: str, kind: str, meaning: str, value: Callable[[Any], Value] | None = None, **shown: Any
) -> ReportColumn:
    return nullable(name, kind, meaning, value, is_nullable=False, **shown)


def _of_kind(kind: str, **always: Any) -> Callable[..., ReportColumn]:
    """What makes nullable columns of that kind."""

    def column(
        name: str, meaning: str, value: Callable[[Any], Value] | None = None, **shown: Any
    ) -> ReportColumn:
        return nullable(name, kind, meaning, value, **always | shown)

    return column


integer, number, string = _of_kind("integer", show=count), _of_kind("number"), _of_kind("string")


def words(title: str, read: Callable[[Any], object], **shown: Any) -> ReportColumn:
    """A column of texts for people; where there is none, empty."""

    def cell(source: Any) -> ReportCell:
        found = read(source)
        return text("" if found is None else found)

    return ReportColumn(title, cell=cell, **shown)


def numbers(title: str, cell: Callable[[Any], ReportCell], unit: str = "") -> ReportColumn:
    return ReportColumn(title, is_number=True, shown_in=unit, cell=cell)


def counts(title: str, read: Callable[[Any], int | None], **shown: Any) -> ReportColumn:
    return ReportColumn(title, is_number=True, cell=lambda source: count(read(source)), **shown)


def placed(titles: Sequence[str], unit: str = "") -> list[ReportColumn]:
    """Columns of numbers for people, of sources that have a cell for each, in this order."""
    return [numbers(title, itemgetter(place), unit) for place, title in enumerate(titles)]


def texts(titles: Sequence[str]) -> list[ReportColumn]:
    """Columns of texts for people, of sources that have one for each, in this order."""
    return [words(title, itemgetter(place)) for place, title in enumerate(titles)]


def run_column(read: Callable[[Any], int]) -> ReportColumn:
    """The numbers of runs, which lead to them."""
    return ReportColumn(
        "run", is_number=True, is_label=True, cell=lambda source: run_number(read(source))
    )


def table(
    name: str,
    title: str,
    columns: Iterable[ReportColumn],
    sources: Iterable[Any],
    *,
    block: Callable[[Any], Mapping[str, Scalar]] = lambda _: {},
    **others: Any,
) -> ReportTable:
    """For people: a row for each source. ``block``: what a source shares with its neighbours, as
    `Row` has it. ``others``: notes and the like, as `ReportTable` has them."""
    every = tuple(columns)
    rows = (Row(tuple(cell_of(column, one) for column in every), block(one)) for one in sources)
    labels = sum(column.is_label for column in every)
    return ReportTable(name, title, every, tuple(rows), label_columns=labels or 1, **others)


def row(columns: Sequence[ReportColumn], source: Any) -> dict[str, Value]:
    return {column.name: column.known(source) for column in columns}


def path(*names: str) -> Callable[[Any], Any]:
    """Reads what stands at the end of these fields; None where one on the way is None."""

    def value(source: Any) -> Any:
        for name in names:
            if source is None:
                return None
            is_document = isinstance(source, Mapping)
            source = source.get(name) if is_document else getattr(source, name)
        return source

    return value


def of(read: Callable[[Any], Any], columns: Iterable[ReportColumn]) -> list[ReportColumn]:
    """The same columns, read from a part of the source."""

    return [
        replace(
            column,
            value=_within(column.value, read),
            cell=column.cell and _within(column.cell, read),
        )
        for column in columns
    ]


def behind(
    columns: Iterable[ReportColumn], further: Mapping[str, Sequence[ReportColumn]]
) -> list[ReportColumn]:
    """``further``: name of a column → what explains it, and stands behind it."""
    return [each for column in columns for each in (column, *further.get(column.name, ()))]


def times(prefix: str, key: str, what: str) -> list[ReportColumn]:
    """Of the times that stand under ``key``; null where there are none."""
    return list(clients.latency_metrics(prefix, what, path(key)).values())


SERVICE_TIME = times("service_time", "service_time", "service time")
COUNT = integer("count", "samples", title="n")


def of_work(read: Callable[[Any], Work]) -> list[ReportColumn]:
    """The metrics of what clients did; ``read`` takes that from the source of a row."""
    return [
        replace(metric, value=_within(metric.of_work, read))
        for metric in METRICS.values()
        if metric.of_work
    ]


def _within(value: Callable[[Any], Found], read: Callable[[Any], Any]) -> Callable[[Any], Found]:
    return lambda source: value(read(source))


def why_null(latency: Callable[[Any], Latency | None]) -> ReportColumn:
    """Behind latencies."""

    def why(source: Any) -> Value:
        found = latency(source)
        return None if found is None else samples.why_null(found)

    return nullable("latency_why_null", "string", "why some of these times are null", why)


ALL_VALID = "every number is valid"


def numbered_footnotes(table: ReportTable) -> ReportTable:
    """``26091 [1]`` in a cell, and ``[1] unreliable: one repetition`` below the table."""
    table = _notes_said_once(table)
    numbers: dict[str, int] = {}

    def shown(cell: ReportCell) -> ReportCell:
        if not cell.note:
            return cell
        number = numbers.setdefault(cell.note, len(numbers) + 1)
        return replace(cell, shown=f"{cell.shown} [{number}]".lstrip())

    rows = tuple(
        replace(row, cells=tuple(map(shown, row.cells)))
        if any(one.note for one in row.cells)
        else row
        for row in table.rows
    )
    notes = [f"[{number}] {note}" for note, number in numbers.items()]
    if (
        not notes
        and not table.of_all
        and any(cell.number and cell.number.verdict for row in table.rows for cell in row.cells)
    ):
        notes = [ALL_VALID]
    return replace(table, rows=rows, notes=(*table.notes, *notes))


def _notes_said_once(table: ReportTable) -> ReportTable:
    """What all judged numbers have in common is taken out of their notes."""
    measured = [cell for row in table.rows if not row.is_published for cell in row.cells]
    judged = [cell for cell in measured if cell.number and cell.number.verdict]
    of_all = verdict.shared(cell.number.judged for cell in judged if cell.number)
    if of_all is None or not all(map(_has_it_noted, judged)):
        return table
    rows = tuple(
        replace(row, cells=tuple(_without_notes(cell, of_all) for cell in row.cells))
        for row in table.rows
    )
    return replace(table, rows=rows, of_all=f"all numbers: {of_all.sentence}")


def _has_it_noted(cell: ReportCell) -> bool:
    return cell.number is not None and cell.number.judged.sentence in cell.note


def _without_notes(cell: ReportCell, of_all: Verdict) -> ReportCell:
    if not cell.note or not _has_it_noted(cell) or cell.number is None:
        return cell
    rest = cell.number.judged.without(of_all)
    left = f"also: {rest.reason}" if rest.reasons else ""
    before, _, after = cell.note.partition(cell.number.judged.sentence)
    parts = (before.removesuffix("; "), left, after.removeprefix("; "))
    return replace(cell, note="; ".join(filter(None, parts)))
