"""Takes the cells of a test; returns a table that shows whether every client was served:
transactions per client, transactions in flight at the end, and Little's law.

`assay.judge.evidence.service` says what they show that a histogram does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from assay.judge.evidence import service
from assay.record import Run
from assay.report.cells import by_cell, cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.columns import counts, numbers, path, run_column
from assay.report.values import Number, ReportCell, ReportColumn, Section, absent, seconds


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no clients were driven."""
    runs = list(cell_runs.driven_runs(cells))
    if not runs:
        return None
    carried_over = counts("carried over", path("driven", "carried_over", "count"))
    has_carried = any(run.measurement.carried_over.count for _, run in runs)
    table = by_cell.table(
        f"{test}_service",
        "Transactions per client, and in flight at the end",
        (cells, cell_runs.varying(cells, "system", "clients")),
        (
            counts("rep.", path("repetition"), is_label=True),
            *(
                counts(name, path("driven", "transactions_per_client", name))
                for name in ("least", "median", "most")
            ),
            counts("in flight", path("driven", "in_flight", "count")),
            numbers("oldest", _oldest, "s"),
            *([carried_over] if has_carried else []),
            _clients("at work", "clients"),
            _clients("by Little's law", "clients_by_law"),
        ),
        runs,
        run=lambda run: run,
        before=[run_column(attrgetter("id"))],
        is_detail=not any(service.is_unequal(run.measurement) for _, run in runs),
        notes=(
            "least, median, most: measured transactions that ended, by client; in flight: still "
            "running when the last transaction had begun; oldest: for how long",
            *(
                ["carried over: had begun in the warm-up, and are in no other figure"]
                if has_carried
                else []
            ),
            "at work: clients, on average; by Little's law: clients = throughput x (latency "
            "+ pause), the same number if no transaction is missing",
        ),
    )
    return Section("Service of each client", (), (table,))


def _oldest(run: Run) -> ReportCell:
    in_flight = run.measurement.in_flight
    return seconds(in_flight.oldest_ns) if in_flight.count else absent("")


def _clients(title: str, name: str) -> ReportColumn:
    def shown(run: Run) -> ReportCell:
        if (law := run.measurement.littles_law) is None:
            return absent(_why_no_law(run))
        number = getattr(law, name)
        return ReportCell(f"{number:.2f}", Number(number, "ratio"))

    return numbers(title, shown)


def _why_no_law(run: Run) -> str:
    is_open = run.driving.offered_rate_per_s
    return "open loop" if is_open else "nothing measured"
