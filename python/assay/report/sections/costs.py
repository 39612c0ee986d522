"""Takes the cells of a test; returns the CPU time, memory and bytes of client and server, side by
side.

They are those of one run, the repetition with the median throughput. The work of a system embedded
in the client's process cannot be separated, and is counted as the client's.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.contracts.metric import Metric
from assay.contracts.observation import ClientCost, Observation, ServerCost
from assay.record import RunRecord
from assay.record.metrics.costs import CLIENT_CPU, SERVER_CPU
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
    size,
)
from assay.text import units

_COLUMNS = {
    "client CPU": "µs", "user": "µs", "system": "µs", "context switches": "", "memory": "",
    "server CPU": "µs", "server memory": "", "client share": "", "device read": "",
    "device written": "", "read": "", "written": "", "buffer hits": "",
}  # fmt: skip
"""Title → unit, if the cells do not name theirs."""
_ALWAYS = ("client CPU", "server CPU")
"""Columns that are also shown where they only say why there is no number."""


def section(test: str, found: Sequence[CellRuns]) -> Section | None:
    """None where the client's cost was not kept."""
    measured = [
        (cell, run) for cell, run in cell_runs.middle_runs(found) if run.driven.has("client_cost")
    ]
    if not measured:
        return None
    factors = cell_runs.varying(found, "system", "clients")
    rows = [(cell, _cells(run)) for cell, run in measured]
    places = [
        place
        for place, name in enumerate(_COLUMNS)
        if name in _ALWAYS or not all(cells[place].is_absent for _, cells in rows)
    ]
    titles = list(_COLUMNS)
    shown = {titles[place]: _COLUMNS[titles[place]] for place in places}
    notes = ["client: this process with all its threads"]
    if any(run.run.evidence.is_embedded for _, run in measured):
        notes[0] += "; a system embedded in it is included"
    notes += _of_logs([run.driven for _, run in measured])
    if "client share" in shown:
        notes.append("client share: of the CPU time of client and server together")
    if shown.keys() & {"device read", "device written"}:
        notes.append(
            "device read, device written: by the whole device under the data, for any program"
        )
    if shown.keys() & {"read", "written"}:
        notes.append(
            "read, written: as the kernel charged the server's processes, by an earlier Assay; "
            "written is too large by far where it counts large folios"
        )
    has_server = any(run.driven.server_cost for _, run in measured)
    if has_server and not shown.keys() & {"device written", "written"}:
        notes.append("bytes read and written: not measured; no block device is under the data")
    table = ReportTable(
        name=f"{test}_costs",
        label_columns=len(factors),
        title="CPU time, context switches and bytes per transaction; memory in total",
        columns=(
            *cell_runs.label_columns(found, factors),
            *(ReportColumn(title, is_number=True, unit=unit) for title, unit in shown.items()),
        ),
        rows=tuple(
            Row((*cell_runs.label_cells(cell, factors), *(cells[place] for place in places)))
            for cell, cells in rows
        ),
        notes=(*notes, *cell_runs.of_middle(found)),
    )
    return Section("CPU and memory", (), (table,))


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


LESS_THAN_A_TICK = "< 1 tick"
"""In place of a CPU time that the kernel's counting does not resolve."""
NOT_KNOWN = "not known"


def client_per_transaction(run: DrivenRun) -> ReportCell:
    """CPU time of the client's process."""
    return _measured(CLIENT_CPU, run) or absent("")


def server_per_transaction(run: DrivenRun) -> ReportCell:
    """CPU time of the server's processes, or why it is unknown."""
    cost = run.driven.server_cost
    if cost is None:
        return absent(why_unseen(run.run))
    if cost.known_cpu_ns is None:
        return absent(LESS_THAN_A_TICK)
    return _measured(SERVER_CPU, run) or absent("")


def _measured(metric: Metric, run: DrivenRun) -> ReportCell | None:
    """A time for each transaction."""
    value = metric.value(run.run)
    if value is None:
        return None
    each = Number(value, metric.unit, n=run.driven.outcomes.ended)
    return ReportCell(shown_time(each), each)


def hit_ratio(observation: Observation) -> float | None:
    """Share of the pages that the system found in its own buffer; None where it counts none."""
    for counted in (observation.server_counters, observation.driver_counters):
        hits, misses = counted.get("buffer_hits"), counted.get("buffer_misses")
        if hits is not None and misses is not None and hits + misses:
            return hits / (hits + misses)
    return None


def _cells(run: DrivenRun) -> tuple[ReportCell, ...]:
    driven = run.driven
    client, server = driven.client_cost, driven.server_cost
    count = driven.outcomes.ended
    switches = client.voluntary_switches + client.involuntary_switches
    unseen = absent(why_unseen(run.run))
    return (
        client_per_transaction(run),
        _time(client.user_ns, count),
        _time(client.system_ns, count),
        _each(switches, count),
        size(client.resident_bytes or client.resident_peak_bytes),
        server_per_transaction(run),
        size(server.resident_peak_bytes) if server else unseen,
        _share(client, server) if server else unseen,
        *_device_bytes(driven, count),
        *_bytes_charged(server, count),
        _hits(driven),
    )


def why_unseen(run: RunRecord) -> str:
    """Why there are no numbers of the server's processes."""
    return "in client" if run.evidence.is_embedded else "not seen"


def shown_time(each: Number) -> str:
    """In microseconds."""
    return units.digits(each.value / 1e3)


def _time(total_ns: int, count: int) -> ReportCell:
    if not count:
        return absent("")
    each = Number(total_ns / count, "ns", n=count)
    return ReportCell(shown_time(each), each)


def _each(total: int, count: int) -> ReportCell:
    if not count:
        return absent("")
    return ReportCell(units.digits(total / count), Number(total / count, "ratio", n=count))


def _bytes_each(total: int, count: int) -> ReportCell:
    if not count:
        return absent("")
    return ReportCell(units.size(total / count), Number(total / count, "bytes", n=count))


def _device_bytes(observation: Observation, count: int) -> tuple[ReportCell, ReportCell]:
    """What the device read and wrote."""
    moved = observation.device_cost
    if moved is None:
        return absent("not measured"), absent("not measured")
    return _bytes_each(moved.read_bytes, count), _bytes_each(moved.written_bytes, count)


def _bytes_charged(server: ServerCost | None, count: int) -> tuple[ReportCell, ReportCell]:
    """What older records hold in place of the device's bytes."""
    if server is None or server.written_bytes is None:
        return absent(""), absent("")
    return _bytes_each(server.read_bytes or 0, count), _bytes_each(server.written_bytes, count)


def _share(client: ClientCost, server: ServerCost) -> ReportCell:
    if server.known_cpu_ns is None:
        return absent(NOT_KNOWN)
    both_ns = client.cpu_ns + server.cpu_ns
    return ReportCell(
        units.share(client.cpu_ns / both_ns), Number(client.cpu_ns / both_ns, "ratio")
    )


def _hits(observation: Observation) -> ReportCell:
    ratio = hit_ratio(observation)
    return (
        absent(NOT_KNOWN) if ratio is None else ReportCell(f"{ratio:.2%}", Number(ratio, "ratio"))
    )
