"""Takes the cells of a test; returns the CPU time, memory and bytes of client and server, side
by side, and what was done to their caches before the measurement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from assay.contracts.metric import ReportColumn
from assay.contracts.observation import Observation
from assay.judge import seconds, storage_checks
from assay.plan.cell_names import CACHE
from assay.record import Run
from assay.record.metrics.catalogue import METRICS
from assay.record.metrics.clients import THROUGHPUT
from assay.record.metrics.resources import CLIENT_CPU, SERVER_CPU, why_unseen
from assay.report import cell_runs, cell_tables
from assay.report.cell_runs import CellRuns
from assay.report.columns import numbers, words
from assay.report.values import (
    Number,
    ReportCell,
    Section,
    absent,
    cell_of,
    number_cell,
    rate,
    section_of,
    share,
    size,
)
from assay.text import units

_UNITS = {"ns": "µs"}
"""Unit of a metric → of its column; of others each number names its own."""


def section(test: str, measured_cells: Sequence[CellRuns]) -> Section | None:
    """None where no clients were driven."""
    measured = list(cell_runs.middle_runs(measured_cells))
    factors = cell_runs.varying(measured_cells, "system", "clients")
    always = (CLIENT_CPU.title, SERVER_CPU.title)
    shown = {
        column.title: column
        for column in _columns()
        if column.title in always or not all(cell_of(column, run).is_absent for _, run in measured)
    }
    notes = ["client: this process with all its threads"]
    if any(run.is_embedded for _, run in measured):
        notes[0] += "; a system embedded in it is included"
    notes += _of_logs([run.measurement for _, run in measured])
    if "client share" in shown:
        notes.append("client share: of the CPU time of client and server together")
    if shown.keys() & {"device read", "device written"}:
        notes.append(
            "device read, device written: by the whole device under the data, for any program"
        )
    has_server = any(run.measurement.server_cost for _, run in measured)
    if has_server and "device written" not in shown:
        notes.append("bytes read and written: not measured; no block device is under the data")
    table = cell_tables.table_by_cell(
        f"{test}_costs",
        "CPU time, context switches and bytes per transaction; memory in total",
        (measured_cells, factors),
        shown.values(),
        measured,
        notes=(*notes, *cell_runs.of_middle(measured_cells)),
    )
    return section_of("CPU and memory", table)


def _of_logs(driven: Sequence[Observation]) -> list[str]:
    """What writing single transactions took of the client's CPU time, at most."""
    shares = [
        one.log.cpu_ns / one.client_cost.cpu_ns
        for one in driven
        if one.log is not None and one.client_cost.cpu_ns
    ]
    if not shares:
        return []
    return [
        "single transactions were written to a file (--log): the thread that wrote took up to "
        f"{units.share(max(shares))} of the client's CPU time"
    ]


NOT_KNOWN = "not known"


def _columns() -> list[ReportColumn]:
    """What the client took, the server, the device under the data and the rest."""
    listed = [metric for metric in METRICS.values() if metric.title]
    of_client = [metric for metric in listed if metric.name.startswith("client_")]
    of_server = [metric for metric in listed if metric.name.startswith("server_")]
    of_others = [metric for metric in listed if metric not in (*of_client, *of_server)]
    return [
        *map(_of_metric, of_client),
        numbers("memory", _memory),
        *map(_of_metric, of_server),
        numbers("client share", _share),
        *map(_of_metric, of_others),
        numbers("buffer hits", lambda run: hits_cell(run.driven, NOT_KNOWN)),
    ]


def _of_metric(metric: ReportColumn) -> ReportColumn:
    cell, unit = partial(metric_cell, metric), _UNITS.get(metric.unit, "")
    return replace(metric, cell=cell, is_number=True, shown_in=unit)


def metric_cell(metric: ReportColumn, run: Run) -> ReportCell:
    value = metric.value(run)
    if value is None:
        return absent(metric.why_null(run))
    made = Number(value, metric.unit)
    if "_per_transaction" in metric.name:
        made = replace(made, n=run.measurement.ended)
    if metric.unit == "ns":
        return ReportCell(shown_time(made), made)
    shown = units.size(value) if metric.unit == "bytes" else units.digits(value)
    return ReportCell(shown, made)


def _hit_ratio(observation: Observation) -> float | None:
    """Share of the pages that the system found in its own buffer; None where it counts none."""
    for counted in (observation.server_counters, observation.driver_counters):
        hits, misses = counted.get("buffer_hits"), counted.get("buffer_misses")
        if hits is not None and misses is not None and hits + misses:
            return hits / (hits + misses)
    return None


def shown_time(each: Number) -> str:
    """In microseconds."""
    return units.digits(each.value / 1e3)


def _memory(run: Run) -> ReportCell:
    """Of the client, at the end of its measurement."""
    client = run.measurement.client_cost
    return size(client.resident_bytes or client.resident_peak_bytes)


def _share(run: Run) -> ReportCell:
    """Of the client, of the CPU time of client and server."""
    client, server = run.measurement.client_cost, run.measurement.server_cost
    if server is None:
        return absent(why_unseen(run))
    if server.known_cpu_ns is None:
        return absent(NOT_KNOWN)
    both_ns = client.cpu_ns + server.cpu_ns
    return share(client.cpu_ns / both_ns)


def hits_cell(observation: Observation, why_none: str) -> ReportCell:
    return number_cell(_hit_ratio(observation), "ratio", "{:.2%}".format, why_none)


_COLD_NOTE = (
    "first execution: of each transaction type, summed; warm after: the first seconds, in which "
    "the throughput differed, and TPS in the rest; over all: an average over the warming and the "
    "rest; -: no difference was seen, or fewer than 5 s were measured"
)


def caches_section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where the caches were left as they were."""
    measured = [
        (cell, run) for cell, run in cell_runs.middle_runs(cells) if run.measurement.cache_state
    ]
    has_cold = any(storage_checks.is_to_be_cold(run) for _, run in measured)
    table = cell_tables.table_by_cell(
        f"{test}_caches",
        "Caches before the measurement, and what was read from storage in it",
        (cells, cell_runs.varying(cells, "system", "clients", CACHE)),
        (
            words("before the measurement", lambda run: ", ".join(run.driven.cache_state.done)),
            numbers("files", lambda run: size(run.driven.cache_state.file_bytes)),
            numbers("cached", lambda run: size(run.driven.cache_state.cached_bytes)),
            numbers("read", lambda run: size(storage_checks.read_per_transaction(run))),
            numbers("buffer hits", lambda run: hits_cell(run.driven, "-")),
            *(_FROM_COLD if has_cold else ()),
        ),
        measured,
        notes=(
            *((_COLD_NOTE,) if has_cold else ()),
            "cached: of the files, in the page cache before the measurement; read: per "
            "transaction, from storage, by the system's processes or else by the whole device",
            *cell_runs.of_middle(cells),
        ),
    )
    return section_of("Caches", table)


def _first(run: Run) -> ReportCell:
    first_ns = seconds.first_executions_ns(run.measurement)
    return number_cell(first_ns, "ns", lambda ns: units.short_duration(ns / 1e9), n=1)


def _warm_after(run: Run) -> ReportCell:
    warm = seconds.warm_after(run.measurement)
    return number_cell(None if warm is None else warm.after_s, "s", "{} s".format)


def _cache_then(run: Run) -> ReportCell:
    warm = seconds.warm_after(run.measurement)
    return rate(None if warm is None else warm.per_s)


def _if_cold(title: str, cell: Callable[[Run], ReportCell]) -> ReportColumn:
    return numbers(
        title, lambda run: cell(run) if storage_checks.is_to_be_cold(run) else absent("")
    )


_FROM_COLD = (
    _if_cold(cell_tables.FIRST, _first),
    _if_cold(cell_tables.WARM_AFTER, _warm_after),
    _if_cold("then, TPS", _cache_then),
    _if_cold("over all, TPS", lambda run: rate(THROUGHPUT.value(run))),
)
