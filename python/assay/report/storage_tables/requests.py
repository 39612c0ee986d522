"""Takes the cells of a test; returns what storages with an account of their own (modelled disks)
did during the measurement: requests of each kind, their times, and how late they were answered.

They are those of one run, the repetition with the median throughput.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple

from assay.contracts.storages.abilities import AccountedSecond
from assay.record import Run
from assay.report.cells import by_cell, cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import counts, numbers, words
from assay.report.storage_tables import modelled_disks
from assay.report.values import Number, ReportCell, Section, absent, size
from assay.text import units

_OPERATIONS: tuple[Literal["read", "write", "flush"], ...] = ("read", "write", "flush")
_LOST = "lost"


class _Sums(NamedTuple):
    of: AccountedSecond
    """All seconds together, of one operation."""
    elapsed_s: float
    overhead_ns: int | None
    """Time of such a request that the disk answers at once."""


def section(test: str, measured_cells: Sequence[CellRuns]) -> Section | None:
    """None where no storage keeps an account."""
    accounted = [
        (cell, run) for cell, run in cell_runs.middle_runs(measured_cells) if run.storage_requests
    ]
    if not accounted:
        return None
    table = by_cell.table(
        f"{test}_storage_requests",
        "Requests of each storage, by its own account",
        (measured_cells, cell_runs.varying(measured_cells, "system", "storage", "clients")),
        _COLUMNS,
        [(cell, sums) for cell, run in accounted for sums in _each_operation(run)],
        notes=(*_notes([run for _, run in accounted]), *cell_runs.of_middle(measured_cells)),
    )
    return Section("Requests of modelled disks", (), (table,))


def _each_operation(run: Run) -> Iterator[_Sums]:
    for operation in _OPERATIONS:
        of = [one for one in run.storage_requests if one.operation == operation]
        sums = _Sums(
            AccountedSecond(
                second=0,
                operation=operation,
                count=sum(one.count for one in of),
                failed=sum(one.failed for one in of),
                bytes=sum(one.bytes for one in of),
                time_ns=sum(one.time_ns for one in of),
                longest_ns=max((one.longest_ns for one in of), default=0),
                late_ns=sum(one.late_ns for one in of),
            ),
            run.measurement.elapsed_ns / 1e9,
            modelled_disks.overhead_ns(run, operation),
        )
        if sums.of.count and sums.elapsed_s:
            yield sums


def _per_s(sums: _Sums) -> ReportCell:
    per_s = sums.of.count / sums.elapsed_s
    return ReportCell(units.digits(per_s), Number(per_s, "per_s", n=sums.of.count))


def _time(time_ns: float, n: int = 1) -> ReportCell:
    return ReportCell(units.latency(time_ns), Number(time_ns, "ns", n=n))


_COLUMNS = (
    words("operation", attrgetter("of.operation"), is_label=True),
    numbers("requests/s", _per_s),
    numbers(
        "mean size", lambda sums: size(sums.of.bytes / sums.of.count if sums.of.bytes else None)
    ),
    numbers("mean time", lambda sums: _time(sums.of.time_ns / sums.of.count, sums.of.count)),
    numbers("longest", lambda sums: _time(sums.of.longest_ns)),
    numbers("late", lambda sums: _time(sums.of.late_ns / sums.of.count, sums.of.count)),
    numbers(
        "I/O path overhead",
        lambda sums: absent("-") if sums.overhead_ns is None else _time(sums.overhead_ns),
    ),
    counts("failed", attrgetter("of.failed")),
)


def _notes(runs: Sequence[Run]) -> Iterator[str]:
    yield (
        "time: from the arrival at the disk to its answer; late: how much of it came after the "
        "end by the model, mean; I/O path overhead: time of a request that the modelled disk "
        "answers at once; the model's answers come earlier by it, and no request of a client takes "
        "less"
    )
    lost = sum(one.count for run in runs for one in run.storage_requests if one.operation == _LOST)
    if lost:
        yield (
            f"{units.counted(lost, 'request')} missing in the account: its file was too slow, or "
            "the disk it is on was full"
        )
