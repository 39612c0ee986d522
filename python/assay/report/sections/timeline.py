"""Takes the cells of a test; returns the throughput of each second of a run, and its outages and
stalls.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from assay.contracts.metric import ReportColumn
from assay.judge import seconds as per_second
from assay.record import Run
from assay.report import cell_runs, cell_tables, columns
from assay.report.cell_runs import CellRuns
from assay.report.columns import counts, numbers, run_column, words
from assay.report.figures.over_time import LEAST_SECONDS, whole_seconds
from assay.report.values import ReportTable, Section, rate, seconds, section_of

_BARS = "▁▂▃▄▅▆▇█"
_NOTHING = "·"
_SUSPENDED = "x"
_WIDTH = 32
_SHOWN = 10


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where runs were too short for a timeline, and there was no outage."""
    seen = [
        (cell, (ok, per_second.suspended_per_second(run.measurement)))
        for cell, run in cell_runs.middle_runs(cells)
        if len(ok := whole_seconds(run.measurement)) >= LEAST_SECONDS
    ]
    tables = []
    if seen:
        tables.append(_timeline_table(test, cells, seen))
    if any(run.measurement.outages for _, run in cell_runs.driven_runs(cells)):
        tables.append(_outages_table(test, cells))
    tables.append(_standstills_table(test, cells))
    return section_of("Timeline", *tables)


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
    test: str,
    cells: Sequence[CellRuns],
    seen: Sequence[tuple[CellRuns, tuple[list[int], frozenset[int]]]],
) -> ReportTable:
    are_suspended = any(suspended for _, (_, suspended) in seen)
    return cell_tables.table_by_cell(
        f"{test}_timeline",
        "Transactions that ended ok, second by second",
        (cells, cell_runs.varying(cells, "system", "clients")),
        (
            counts("seconds", lambda source: len(source[0])),
            numbers("lowest", lambda source: rate(min(source[0]))),
            numbers("median", lambda source: rate(statistics.median(source[0]))),
            numbers("highest", lambda source: rate(max(source[0]))),
            words("timeline", lambda source: bars(*source), is_number=True),
        ),
        seen,
        notes=(
            f"timeline: from the first second to the last; {_NOTHING} nothing ended ok"
            + (f"; {_SUSPENDED} this program was suspended" if are_suspended else ""),
            *cell_runs.of_middle(cells),
        ),
    )


class _Span(NamedTuple):
    """In which nothing went on; the source of a row."""

    cell: CellRuns
    run: Run
    span: Any
    who: str = ""


_RUN_AND_CELL = (
    run_column(attrgetter("run.id")),
    words("cell", attrgetter("cell.name"), is_label=True),
)


def _time(title: str) -> ReportColumn:
    return numbers(title, lambda source: seconds(getattr(source.span, f"{title}_ns")), "s")


_FROM_TO = tuple(map(_time, ("from", "to", "lasted")))


def _outages_table(test: str, cells: Sequence[CellRuns]) -> ReportTable:
    """The longest of them; a server that flaps has more than anyone reads."""
    outages = sorted(
        (
            _Span(cell, run, one)
            for cell, run in cell_runs.driven_runs(cells)
            for one in run.measurement.outages
        ),
        key=lambda source: -source.span.lasted_ns,
    )
    left_out = len(outages[_SHOWN:])
    more = f"; and {left_out} shorter ones" if left_out else ""
    return columns.table(
        f"{test}_outages",
        "Outages: times in which no client had a session",
        (*_RUN_AND_CELL, *_FROM_TO, counts("reconnects", attrgetter("run.driven.reconnects"))),
        outages[:_SHOWN],
        notes=(
            "from, to: since the beginning of the measurement; reconnects: of all clients in the "
            f"whole run{more}",
        ),
    )


def _standstills_table(test: str, cells: Sequence[CellRuns]) -> ReportTable:
    """The longest ones of all runs."""
    standstills = sorted(
        (
            _Span(cell, run, span, who)
            for cell, run in cell_runs.driven_runs(cells)
            for who, stood_still in (
                ("system stalled", run.measurement.stalls),
                ("client suspended", run.measurement.suspensions),
            )
            for span in stood_still
        ),
        key=lambda source: -source.span.lasted_ns,
    )
    left_out = len(standstills[_SHOWN:])
    return columns.table(
        f"{test}_standstills",
        "Stalls and suspensions",
        (*_RUN_AND_CELL, words("who", attrgetter("who"), is_label=True), *_FROM_TO),
        standstills[:_SHOWN],
        notes=(
            "stalled: no transaction ended while clients waited for an answer; suspended: this "
            "program did not run; from, to: since the beginning of the measurement"
            + (f"; and {left_out} shorter ones" if left_out else ""),
        ),
    )
