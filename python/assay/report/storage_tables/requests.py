"""Takes the cells of a test; returns what storages with an account of their own (modelled disks)
did during the measurement: requests of each kind, their times, and how late they were answered.

They are those of one run, the repetition with the median throughput.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from assay.contracts.storages.abilities import AccountedSecond
from assay.record import RunRecord
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns, DrivenRun
from assay.report.storage_tables import modelled_disks
from assay.report.values import (
    Number,
    ReportCell,
    ReportColumn,
    ReportTable,
    Row,
    Section,
    absent,
    count,
)
from assay.text import units

_OPERATIONS = ("read", "write", "flush")
_LOST = "lost"
_TITLES = ("requests/s", "mean size", "mean time", "longest", "late", "I/O path overhead", "failed")


class _Sums(Struct, frozen=True):
    count: int
    failed: int
    bytes: int
    time_ns: int
    longest_ns: int
    late_ns: int


def section(test: str, measured_cells: Sequence[CellRuns]) -> Section | None:
    """None where no storage keeps an account."""
    accounted = [
        (cell, run)
        for cell, run in cell_runs.middle_runs(measured_cells)
        if run.run.storage_requests
    ]
    if not accounted:
        return None
    factors = cell_runs.varying(measured_cells, "system", "storage", "clients")
    table = ReportTable(
        name=f"{test}_storage_requests",
        title="Requests of each storage, by its own account",
        label_columns=len(factors) + 1,
        columns=(
            *cell_runs.label_columns(measured_cells, factors),
            ReportColumn("operation"),
            *(ReportColumn(title, is_number=True) for title in _TITLES),
        ),
        rows=tuple(
            Row((*cell_runs.label_cells(cell, factors), *cells))
            for cell, run in accounted
            for cells in _rows(run)
        ),
        notes=(*_notes([run for _, run in accounted]), *cell_runs.of_middle(measured_cells)),
    )
    return Section("Requests of modelled disks", (), (table,))


def _rows(run: DrivenRun) -> Iterator[tuple[ReportCell, ...]]:
    elapsed_s = run.driven.elapsed_ns / 1e9
    for operation in _OPERATIONS:
        sums = _sums(one for one in run.run.storage_requests if one.operation == operation)
        if not sums.count or not elapsed_s:
            continue
        per_s, mean_bytes = sums.count / elapsed_s, sums.bytes / sums.count
        yield (
            ReportCell(operation),
            ReportCell(units.digits(per_s), Number(per_s, "per_s", n=sums.count)),
            ReportCell(units.size(mean_bytes), Number(mean_bytes, "bytes"))
            if sums.bytes
            else absent("-"),
            _time(sums.time_ns / sums.count, sums.count),
            _time(sums.longest_ns),
            _time(sums.late_ns / sums.count, sums.count),
            _overhead(run.run, operation),
            count(sums.failed),
        )


def _sums(seconds: Iterable[AccountedSecond]) -> _Sums:
    of = list(seconds)
    return _Sums(
        count=sum(one.count for one in of),
        failed=sum(one.failed for one in of),
        bytes=sum(one.bytes for one in of),
        time_ns=sum(one.time_ns for one in of),
        longest_ns=max((one.longest_ns for one in of), default=0),
        late_ns=sum(one.late_ns for one in of),
    )


def _overhead(run: RunRecord, operation: str) -> ReportCell:
    """Time of such a request that the disk answers at once."""
    cost_ns = modelled_disks.overhead_ns(run, operation)
    return absent("-") if cost_ns is None else _time(cost_ns)


def _time(time_ns: float, n: int = 1) -> ReportCell:
    return ReportCell(units.latency(time_ns), Number(time_ns, "ns", n=n))


def _notes(runs: Sequence[DrivenRun]) -> Iterator[str]:
    yield (
        "time: from the arrival at the disk to its answer; late: how much of it came after the "
        "end by the model, mean; I/O path overhead: time of a request that the modelled disk "
        "answers at once; the model's answers come earlier by it, and no request of a client takes "
        "less"
    )
    lost = sum(
        one.count for run in runs for one in run.run.storage_requests if one.operation == _LOST
    )
    if lost:
        yield (
            f"{units.counted(lost, 'request')} missing in the account: its file was too slow, or "
            "the disk it is on was full"
        )
