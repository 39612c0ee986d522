"""Takes the cells of a test; returns the throughput of each second of a run, and its outages and
stalls.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Sequence

from assay.judge.statistics import per_second
from assay.report.cells import cell_runs
from assay.report.cells.cell_runs import CellRuns
from assay.report.cells.whole_seconds import LEAST_SECONDS, whole_seconds
from assay.report.values import (
    ReportColumn,
    ReportTable,
    Row,
    Section,
    count,
    rate,
    run_number,
    seconds,
    text,
)

_BARS = "▁▂▃▄▅▆▇█"
_NOTHING = "·"
_SUSPENDED = "x"
_WIDTH = 32
_OUTAGES_SHOWN = 10


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where runs were too short for a timeline, and there was no outage."""
    seen = [
        (cell, ok, per_second.suspended(run.driven))
        for cell, run in cell_runs.middle_runs(cells)
        if len(ok := whole_seconds(run.driven)) >= LEAST_SECONDS
    ]
    tables = []
    if seen:
        tables.append(_timeline_table(test, cells, seen))
    if any(run.driven.outages for _, run in cell_runs.driven_runs(cells)):
        tables.append(_outages_table(test, cells))
    if (stood_still := _standstills_table(test, cells)) is not None:
        tables.append(stood_still)
    return Section("Timeline", (), tuple(tables)) if tables else None


def bars(series: Sequence[int], suspended: Collection[int] = ()) -> str:
    """The series as one line of characters, each the mean of the same number of seconds; a second
    in which nothing ended ok, or this program was suspended, has its own sign."""
    size = -(-len(series) // _WIDTH)
    parts = [series[at : at + size] for at in range(0, len(series), size)]
    most = max((statistics.fmean(part) for part in parts), default=0) or 1
    is_suspended = [
        any(second in suspended for second in range(at, at + size))
        for at in range(0, len(series), size)
    ]
    return "".join(
        _SUSPENDED
        if stood_still
        else _NOTHING
        if min(part) == 0
        else _BARS[min(len(_BARS) - 1, int(statistics.fmean(part) / most * len(_BARS)))]
        for part, stood_still in zip(parts, is_suspended, strict=True)
    )


def _timeline_table(
    test: str, cells: Sequence[CellRuns], seen: Sequence[tuple[CellRuns, list[int], frozenset[int]]]
) -> ReportTable:
    factors = cell_runs.varying(cells, "system", "clients")
    rows = []
    for cell, ok, suspended in seen:
        labels = cell_runs.label_cells(cell, factors)
        values = [rate(min(ok)), rate(statistics.median(ok)), rate(max(ok))]
        rows.append(Row((*labels, count(len(ok)), *values, text(bars(ok, suspended)))))
    return ReportTable(
        name=f"{test}_timeline",
        label_columns=len(factors),
        title="Transactions that ended ok, second by second",
        columns=(
            *cell_runs.label_columns(cells, factors),
            ReportColumn("seconds", is_number=True),
            *(ReportColumn(name, is_number=True) for name in ("lowest", "median", "highest")),
            ReportColumn("timeline", is_number=True),
        ),
        rows=tuple(rows),
        notes=(
            f"timeline: from the first second to the last; {_NOTHING} nothing ended ok"
            + (
                f"; {_SUSPENDED} this program was suspended"
                if any(suspended for *_, suspended in seen)
                else ""
            ),
            *cell_runs.of_middle(cells),
        ),
    )


def _outages_table(test: str, cells: Sequence[CellRuns]) -> ReportTable:
    """The longest of them; a server that flaps has more than anyone reads."""
    outages = [
        (one.lasted_ns, one, cell, run)
        for cell, run in cell_runs.driven_runs(cells)
        for one in run.driven.outages
    ]
    outages.sort(key=lambda outage: -outage[0])
    rows = [
        Row(
            (
                run_number(run.run.id),
                text(cell.name),
                *(seconds(value_ns) for value_ns in (one.from_ns, one.to_ns, lasted_ns)),
                count(run.driven.reconnects),
            )
        )
        for lasted_ns, one, cell, run in outages[:_OUTAGES_SHOWN]
    ]
    left_out = outages[_OUTAGES_SHOWN:]
    more = f"; and {len(left_out)} shorter ones" if left_out else ""
    return ReportTable(
        name=f"{test}_outages",
        label_columns=2,
        title="Outages: times in which no client had a session",
        columns=(
            ReportColumn("run", is_number=True),
            ReportColumn("cell"),
            *(ReportColumn(title, is_number=True, unit="s") for title in ("from", "to", "lasted")),
            ReportColumn("reconnects", is_number=True),
        ),
        rows=tuple(rows),
        notes=(
            "from, to: since the beginning of the measurement; reconnects: of all clients in the "
            f"whole run{more}",
        ),
    )


_SHOWN = 10


def _standstills_table(test: str, cells: Sequence[CellRuns]) -> ReportTable | None:
    """The longest ones of all runs; None where there were none."""
    standstills = [
        (span.lasted_ns, who, span, cell, run.run)
        for cell, run in cell_runs.driven_runs(cells)
        for who, stood_still in (
            ("system stalled", run.driven.stalls),
            ("client suspended", run.driven.suspensions),
        )
        for span in stood_still
    ]
    if not standstills:
        return None
    standstills.sort(key=lambda standstill: -standstill[0])
    rows = [
        Row(
            (
                run_number(run.id),
                text(cell.name),
                text(who),
                *(seconds(value_ns) for value_ns in (span.from_ns, span.to_ns, lasted_ns)),
            )
        )
        for lasted_ns, who, span, cell, run in standstills[:_SHOWN]
    ]
    left_out = len(standstills) - len(rows)
    return ReportTable(
        name=f"{test}_standstills",
        label_columns=3,
        title="Stalls and suspensions",
        columns=(
            ReportColumn("run", is_number=True),
            ReportColumn("cell"),
            ReportColumn("who"),
            *(ReportColumn(title, is_number=True, unit="s") for title in ("from", "to", "lasted")),
        ),
        rows=tuple(rows),
        notes=(
            "stalled: no transaction ended while clients waited for an answer; suspended: this "
            "program did not run; from, to: since the beginning of the measurement"
            + (f"; and {left_out} shorter ones" if left_out else ""),
        ),
    )
