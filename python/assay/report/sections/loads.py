"""Takes all runs; returns the data of each system, its size on disk and its load times; the
tables that reports of other steps bring, and those that a workload declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from assay.contracts.metric import ReportColumn
from assay.contracts.observation import StepTable, UnreadReport
from assay.judge import RunWarning
from assay.judge.run import StepRecord
from assay.judge.statistics.samples import median_and_spread
from assay.judge.warning_kinds import WarningKind
from assay.load.dataset import Dataset
from assay.record import Run
from assay.report import columns
from assay.report.cell_runs import CellRuns
from assay.report.columns import numbers, run_column, texts, words
from assay.report.declared import published
from assay.report.values import Number, ReportCell, ReportTable, Section, absent, number_cell, text
from assay.text import units
from assay.workload.workload_record import WorkloadRecord

_KEY = ("system", "storage", "data", "replicas")
_EXTRA = ("data", "buffer", "restore")
"""Columns of what is not there where it is 0."""


def section(runs: Iterable[Run]) -> Section | None:
    """One row per system, storage and data set; the median where it was loaded several times."""
    loads: dict[tuple[object, ...], dict[tuple[object, ...], Dataset]] = {}
    for run in runs:
        if (data := run.data) is not None:
            asked = data.request
            key = (run.system_on_machine, run.storage, asked.description, asked.replicas)
            # A data set that is used again is handed in again. What was restored from a copy has
            # the times of the load that was copied.
            loads.setdefault(key, {})[data.one_load] = data
    if not loads:
        return None
    labels = [
        place for place in range(len(_KEY)) if place == 0 or len({key[place] for key in loads}) > 1
    ]
    documents = [document for found in loads.values() for document in found.values()]
    extra = _extra(documents)
    table = columns.table(
        "loads",
        "Size on disk and load time",
        (*map(_label, labels), *columns.of(itemgetter(1), (*_SIZE, *extra, *_TIMES))),
        ((key, list(found.values())) for key, found in loads.items()),
        notes=(
            published.SIZE_ON_DISK,
            "per second of load: rows sent in one transaction, before there are indexes",
        ),
    )
    return Section("Data load", (), (table,))


def _label(place: int) -> ReportColumn:
    """``place``: in `_KEY`, and in the keys of what was loaded."""
    return words(_KEY[place], lambda source: source[0][place], is_label=True)


Loads = Sequence[Dataset]
"""Those of one data set, however often it was loaded; the source of a row."""


def _extra(documents: Iterable[Dataset]) -> list[ReportColumn]:
    """Columns that only some reports need."""
    found = []
    if any(one.buffer_bytes for one in documents):
        found += [
            _median("data", "data_bytes", "bytes"),
            _median("buffer", "buffer_bytes", "bytes"),
            numbers("data : buffer", _data_to_buffer),
        ]
    if any(one.restore_ns for one in documents):
        found.append(_median("restore", "restore_ns", "ns", "s"))
    return found


def _median(title: str, key: str, unit: str, shown_unit: str = "") -> ReportColumn:
    def shown(documents: Loads) -> ReportCell:
        values = [value for one in documents if (value := getattr(one, key)) is not None]
        # What was not done, or is not there, took no time and no room.
        if not values or (title in _EXTRA and not any(values)):
            return absent("")
        over = median_and_spread(
            [value for value in values if value] if title in _EXTRA else values
        )
        made = Number(over.median, unit, over.n, over.low, over.high)
        if key == "buffer_bytes":
            return ReportCell(units.binary(over.median), made)
        return ReportCell(units.shown(over.median, unit), made)

    return numbers(title, shown, shown_unit)


def _data_to_buffer(documents: Loads) -> ReportCell:
    found = [one.data_to_buffer for one in documents if one.data_to_buffer]
    if not found:
        return absent("")
    return number_cell(median_and_spread(found).median, "", "{:.2f}".format)


def _items_per_s(documents: Loads) -> ReportCell:
    """Every entry of the input is loaded as often as there are replicas, in the variant `full`
    only."""
    first = documents[0].request
    if first.replicas != 1 and first.variant != "full":
        return absent(first.variant)
    return _rate(first.items * first.replicas, documents)


def _rate(amount: int, documents: Loads) -> ReportCell:
    load_ns = median_and_spread([one.load_ns for one in documents]).median
    per_s = amount / (load_ns / 1e9) if load_ns else None
    return number_cell(per_s, "per_s", "{:.0f}".format, "")


_SIZE = (_median("size on disk", "size_on_disk_bytes", "bytes"),)
_TIMES = (
    *(_median(step, f"{step}_ns", "ns", "s") for step in ("load", "index", "analyze")),
    numbers("items/s", _items_per_s),
    numbers("rows/s", lambda documents: _rate(sum(documents[0].rows.values()), documents)),
)


StepTableOfRun = tuple[int, StepRecord, StepTable]


def step_reports_section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no step has something to show."""
    steps = [(run.id, step) for cell in cells for run in cell.runs for step in run.steps]
    by_title: dict[str, list[StepTableOfRun]] = {}
    for number, step in steps:
        for table in _step_report_tables(step):
            by_title.setdefault(table.title, []).append((number, step, table))
    if not by_title:
        return None
    tables = (
        _step_report_table(f"{test}_reports_{at}", same)
        for at, same in enumerate(by_title.values(), 1)
    )
    return Section("Reports of steps", (), tuple(tables))


def step_report_warnings(runs: Iterable[Run]) -> Iterator[RunWarning]:
    """Of reports that cannot be read."""
    for run in runs:
        for step in run.steps:
            if isinstance(step.reported, UnreadReport):
                detail = f"step {step.name or step.do}: {step.reported.why}"
                yield RunWarning(WarningKind.REPORT_UNREAD.id, detail)


def _step_report_tables(step: StepRecord) -> Iterator[StepTable]:
    if step.reported is not None:
        yield from step.reported.shown()


def _step_report_table(name: str, same: Sequence[StepTableOfRun]) -> ReportTable:
    first = same[0][2]
    rows = [
        (number, step.name or step.do, row) for number, step, table in same for row in table.rows
    ]

    def column(place: int) -> ReportColumn:
        return ReportColumn(
            first.columns[place],
            is_number=any(isinstance(row[place], int | float) for *_, row in rows),
            cell=lambda source: _step_report_cell(source[2][place]),
        )

    return columns.table(
        name,
        first.title,
        (
            run_column(itemgetter(0)),
            words("step", itemgetter(1), is_label=True),
            *map(column, range(len(first.columns))),
        ),
        rows,
    )


def _step_report_cell(value: str | int | float | None) -> ReportCell:
    return text(value) if isinstance(value, str) else number_cell(value, "count", why_none="")


def sheet_sections(workload: WorkloadRecord) -> Iterator[Section]:
    for place, sheet in enumerate(workload.sheets):
        table = columns.table(
            f"sheet_{place + 1}",
            sheet["title"],
            texts(sheet["columns"]),
            sheet["rows"],
            is_detail=True,
        )
        yield Section(sheet["title"], (), (table,))
