"""Takes the cells of a test; returns a table that shows whether every client was served:
transactions per client, transactions in flight at the end, and Little's law.

`assay.judge.evidence.service` says what they show that a histogram does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.judge.evidence import service
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns, DrivenRun
from assay.report.values import (
    Number,
    ReportCell,
    ReportColumn,
    ReportTable,
    Row,
    Section,
    absent,
    count,
    run_number,
)


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no clients were driven."""
    runs = list(cell_runs.driven_runs(cells))
    if not runs:
        return None
    factors = cell_runs.varying(cells, "system", "clients")
    has_carried = any(run.driven.carried_over.count for _, run in runs)
    table = ReportTable(
        name=f"{test}_service",
        label_columns=len(factors) + 2,
        is_detail=not any(service.is_unequal(run.driven) for _, run in runs),
        title="Transactions per client, and in flight at the end",
        columns=(
            ReportColumn("run", is_number=True),
            *cell_runs.label_columns(cells, factors),
            ReportColumn("rep.", is_number=True),
            *(
                ReportColumn(name, is_number=True)
                for name in ("least", "median", "most", "in flight")
            ),
            ReportColumn("oldest", is_number=True, unit="s"),
            *([ReportColumn("carried over", is_number=True)] if has_carried else []),
            ReportColumn("at work", is_number=True),
            ReportColumn("by Little's law", is_number=True),
        ),
        rows=tuple(
            Row(
                (
                    run_number(run.run.id),
                    *cell_runs.label_cells(cell, factors, run.run),
                    count(run.run.repetition),
                    *_cells(run, has_carried),
                )
            )
            for cell, run in runs
        ),
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


def _why_no_law(run: DrivenRun) -> str:
    is_open = run.run.driving is not None and run.run.driving.offered_rate_per_s
    return "open loop" if is_open else "nothing measured"


def _cells(run: DrivenRun, has_carried: bool) -> list[ReportCell]:
    driven = run.driven
    each, in_flight, law = driven.transactions_per_client, driven.in_flight, driven.littles_law
    oldest_s = f"{in_flight.oldest_ns / 1e9:.2f}"
    return [
        *(count(number) for number in (each.least, each.median, each.most)),
        count(in_flight.count),
        ReportCell(oldest_s, Number(in_flight.oldest_ns, "ns")) if in_flight.count else absent(""),
        *([count(driven.carried_over.count)] if has_carried else []),
        *(
            [_clients(law.clients), _clients(law.clients_by_law)]
            if law
            else [absent(_why_no_law(run))] * 2
        ),
    ]


def _clients(number: float) -> ReportCell:
    return ReportCell(f"{number:.2f}", Number(number, "ratio"))
