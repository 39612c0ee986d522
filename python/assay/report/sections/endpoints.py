"""Takes the cells of a test; returns what each group of clients did at each of several servers
(their roles, counts and latencies), and how stale the replicas were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from assay.contracts.observation import EndpointReport, GroupReport, StalenessReport
from assay.judge.statistics import samples
from assay.record import RunRecord
from assay.record.metrics import replicas
from assay.report.cells import cell_runs, percentiles
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
    text,
)
from assay.text import units

_PERCENTILES = ("p50", "p99")
_STALENESS = (
    "from the primary's answer that a number was written, ten times a second, to the replica's "
    "answer that has it; numbers that were not read count with the time until the end"
)
_OUTCOMES = ("ok", "aborted", "failed", "unknown")


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where every run had one endpoint."""
    tables = [_servers_table(test, cells), _staleness_table(test, cells)]
    shown = tuple(table for table in tables if table is not None)
    return Section("Servers", _why_no_staleness(cells), shown) if shown else None


def _servers_table(test: str, cells: Sequence[CellRuns]) -> ReportTable | None:
    measured = [
        (cell, run, group, endpoint)
        for cell, run in cell_runs.middle_runs(cells)
        for group, endpoint in _endpoints(run)
    ]
    if not measured:
        return None
    factors = cell_runs.varying(cells, "system")
    has_groups = any(group.name for _, _, group, _ in measured)
    unit = percentiles.unit_of(endpoint.all_ok.latency for *_, endpoint in measured)
    return ReportTable(
        name=f"{test}_endpoints",
        title="Each server that clients used, in one measurement",
        label_columns=len(factors) + has_groups + 1,
        columns=(
            *cell_runs.label_columns(cells, factors),
            *([ReportColumn("group")] if has_groups else []),
            ReportColumn("server"),
            ReportColumn("role"),
            ReportColumn("clients", is_number=True),
            ReportColumn("TPS", is_number=True),
            *(ReportColumn(name, is_number=True, unit=unit) for name in _PERCENTILES),
            *(ReportColumn(name, is_number=True) for name in _OUTCOMES),
            ReportColumn("first error"),
        ),
        rows=tuple(
            Row(
                (
                    *cell_runs.label_cells(cell, factors),
                    *([text(group.name)] if has_groups else []),
                    text(endpoint.name),
                    text(_role(run.run, endpoint)),
                    count(endpoint.clients),
                    *_numbers(run, endpoint, unit),
                    text(_first_error(endpoint)),
                )
            )
            for cell, run, group, endpoint in measured
        ),
        notes=cell_runs.of_middle(cells),
    )


def _endpoints(run: DrivenRun) -> Iterator[tuple[GroupReport, EndpointReport]]:
    for group in run.driven.groups:
        for endpoint in group.endpoints:
            yield group, endpoint


def _role(run: RunRecord, endpoint: EndpointReport) -> str:
    """As the server said it; empty: all of them are alike."""
    members = run.deployment.members if run.deployment is not None else ()
    return next((one.role.name for one in members if one.name == endpoint.name), "")


def _numbers(run: DrivenRun, endpoint: EndpointReport, unit: str) -> list[ReportCell]:
    rate, resolution = endpoint.throughput_per_s, run.driven.resolution
    times = endpoint.all_ok.latency
    return [
        ReportCell(units.digits(rate), Number(rate, "per_s")),
        *(percentiles.cell(times, name, unit, resolution) for name in _PERCENTILES),
        *(count(getattr(endpoint, name)) for name in _OUTCOMES),
    ]


def _first_error(endpoint: EndpointReport) -> str:
    first = min(endpoint.errors, key=attrgetter("first_at_ns"), default=None)
    return "" if first is None else f"{first.class_} after {first.first_at_ns / 1e9:.1f} s"


def _staleness_table(test: str, cells: Sequence[CellRuns]) -> ReportTable | None:
    measured = [
        (cell, one) for cell, run in cell_runs.middle_runs(cells) for one in run.driven.staleness
    ]
    if not measured:
        return None
    factors = cell_runs.varying(cells, "system")
    return ReportTable(
        name=f"{test}_staleness",
        title="How stale each replica was, in one measurement",
        label_columns=len(factors) + 1,
        columns=(
            *cell_runs.label_columns(cells, factors),
            ReportColumn("replica"),
            ReportColumn("numbers", is_number=True),
            *(ReportColumn(name, is_number=True, unit="ms") for name in (*_PERCENTILES, "max")),
            ReportColumn("resolution", is_number=True, unit="ms"),
            ReportColumn("not read", is_number=True),
            ReportColumn("lost"),
        ),
        rows=tuple(
            Row(
                (
                    *cell_runs.label_cells(cell, factors),
                    text(one.name),
                    count(one.numbers),
                    *(_age(one, name) for name in _PERCENTILES),
                    _in_ms(one.max_ns, ""),
                    _in_ms(one.resolution_ns, ""),
                    count(one.not_read),
                    text("" if one.lost_after_s is None else f"after {one.lost_after_s:.1f} s"),
                )
            )
            for cell, one in measured
        ),
        notes=(_STALENESS, *cell_runs.of_middle(cells)),
    )


def _age(replica: StalenessReport, name: str) -> ReportCell:
    return _in_ms(replicas.percentile(replica, name), f"n<{samples.needed_for(name)}")


def _in_ms(value_ns: int | None, why_none: str) -> ReportCell:
    if value_ns is None:
        return absent(why_none)
    return ReportCell(units.digits(value_ns / 1e6), Number(value_ns, "ns"))


def _why_no_staleness(cells: Sequence[CellRuns]) -> tuple[str, ...]:
    found = (run.driven.why_no_staleness for _, run in cell_runs.middle_runs(cells))
    return tuple(
        f"How stale the replicas were is not measured: {why}."
        for why in dict.fromkeys(found)
        if why
    )
