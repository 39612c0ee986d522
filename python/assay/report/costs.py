"""Takes the cells of a test; returns the CPU time, memory and bytes of client and server, side by
side.

They are those of one run, the repetition with the median throughput. The work of a system embedded
in the client's process cannot be separated, and is counted as the client's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.provision.deployment import was_embedded
from assay.record import RunRecord
from assay.report import cell_runs
from assay.report.cell_runs import CellRuns
from assay.report.values import Cell, Column, Number, Row, Section, Table, absent
from assay.text import units

_COLUMNS = (
    ("client CPU", True, "µs"), ("user", True, "µs"), ("system", True, "µs"),
    ("context switches", True),
    ("memory", True), ("server CPU", True, "µs"), ("server memory", True), ("client share", True),
    ("device read", True), ("device written", True), ("read", True), ("written", True),
    ("buffer hits", True),
)  # fmt: skip
_ALWAYS = ("client CPU", "server CPU")
"""Columns that are also shown where they only say why there is no number."""


def section(test: str, found: Sequence[CellRuns]) -> Section | None:
    """None where the client's cost was not kept."""
    measured = [
        (cell, run)
        for cell in found
        if (run := cell_runs.middle_run(cell)) is not None
        and (run.observation or {}).get("client_cost")
    ]
    if not measured:
        return None
    factors = cell_runs.varying(found, "system", "clients")
    rows = [(cell, _cells(run)) for cell, run in measured]
    places = [
        place
        for place, (name, *_) in enumerate(_COLUMNS)
        if name in _ALWAYS or not all(cells[place].is_absent for _, cells in rows)
    ]
    shown = {_COLUMNS[place][0] for place in places}
    notes = ["client: this process with all its threads"]
    if any(is_in_process(run) for _, run in measured):
        notes[0] += "; a system embedded in it is included"
    if "client share" in shown:
        notes.append("client share: of the CPU time of client and server together")
    if shown & {"device read", "device written"}:
        notes.append(
            "device read, device written: by the whole device under the data, for any program"
        )
    if shown & {"read", "written"}:
        notes.append(
            "read, written: as the kernel charged the server's processes, by an earlier Assay; "
            "written is too large by far where it counts large folios"
        )
    has_server = any((run.observation or {}).get("server_cost") for _, run in measured)
    if has_server and not shown & {"device written", "written"}:
        notes.append("bytes read and written: not measured; no block device is under the data")
    table = Table(
        name=f"{test}_costs",
        label_columns=len(factors),
        title="CPU time, context switches and bytes per transaction; memory in total",
        columns=(
            *cell_runs.label_columns(found, factors),
            *(Column(*_COLUMNS[place]) for place in places),
        ),
        rows=tuple(
            Row((*cell_runs.label_cells(cell, factors), *(cells[place] for place in places)))
            for cell, cells in rows
        ),
        notes=tuple(notes),
    )
    return Section("CPU and memory", (), (table,))


def is_in_process(run: RunRecord) -> bool:
    """Whether the system is embedded in the client's process."""
    return was_embedded(run.site or {})


def ended(run: RunRecord) -> int:
    """Transactions that began and ended."""
    outcomes = (run.observation or {}).get("outcomes", {})
    return int(outcomes.get("scheduled", 0) - outcomes.get("skipped", 0))


def client_per_transaction(run: RunRecord) -> Cell:
    """CPU time of the client's process."""
    cost = (run.observation or {}).get("client_cost")
    if not cost:
        return absent("")
    return _time(cost["user_ns"] + cost["system_ns"], ended(run))


def server_per_transaction(run: RunRecord) -> Cell:
    """CPU time of the server's processes, or why it is unknown."""
    cost = (run.observation or {}).get("server_cost")
    return _time(cost["cpu_ns"], ended(run)) if cost else absent(_why_unseen(run))


def hit_ratio(observation: Mapping[str, Any]) -> float | None:
    """Share of pages that the system found in its own buffer; None if it does not count them."""
    for key in ("server_counters", "driver_counters"):
        counted = observation.get(key) or {}
        hits, misses = counted.get("buffer_hits"), counted.get("buffer_misses")
        if hits is not None and misses is not None and hits + misses:
            return float(hits / (hits + misses))
    return None


def _cells(run: RunRecord) -> tuple[Cell, ...]:
    observation = run.observation or {}
    client, server = observation["client_cost"], observation.get("server_cost")
    count = ended(run)
    switches = client["voluntary_switches"] + client["involuntary_switches"]
    unseen = absent(_why_unseen(run))
    return (
        client_per_transaction(run),
        _time(client["user_ns"], count),
        _time(client["system_ns"], count),
        _each(switches, count),
        _size(client.get("resident_bytes") or client["resident_peak_bytes"]),
        server_per_transaction(run),
        _size(server["resident_peak_bytes"]) if server else unseen,
        _share(client, server) if server else unseen,
        *_device_bytes(observation, count),
        *_bytes_charged(server, count),
        _hits(observation),
    )


def _why_unseen(run: RunRecord) -> str:
    if is_in_process(run):
        return "in client"
    return "not seen"


def _time(total_ns: int, count: int) -> Cell:
    if not count:
        return absent("")
    each_ns = total_ns / count
    return Cell(units.digits(each_ns / 1e3), Number(each_ns, "ns", n=count))


def _each(total: int, count: int) -> Cell:
    if not count:
        return absent("")
    return Cell(units.digits(total / count), Number(total / count, "ratio", n=count))


def _bytes_each(total: int, count: int) -> Cell:
    if not count:
        return absent("")
    return Cell(units.size(total / count), Number(total / count, "bytes", n=count))


def _device_bytes(observation: Mapping[str, Any], count: int) -> tuple[Cell, Cell]:
    """What the device read and wrote."""
    moved = observation.get("device_cost")
    if not moved:
        return absent("not measured"), absent("not measured")
    return _bytes_each(moved["read_bytes"], count), _bytes_each(moved["written_bytes"], count)


def _bytes_charged(server: Mapping[str, int] | None, count: int) -> tuple[Cell, Cell]:
    """The bytes of older records, which have none of the device."""
    if server is None or "written_bytes" not in server:
        return absent(""), absent("")
    return _bytes_each(server["read_bytes"], count), _bytes_each(server["written_bytes"], count)


def _size(value_bytes: int) -> Cell:
    return Cell(units.size(value_bytes), Number(value_bytes, "bytes"))


def _share(client: Mapping[str, int], server: Mapping[str, int]) -> Cell:
    client_ns = client["user_ns"] + client["system_ns"]
    both_ns = client_ns + server["cpu_ns"]
    if not both_ns:
        return absent("")
    return Cell(units.share(client_ns / both_ns), Number(client_ns / both_ns, "ratio"))


def _hits(observation: Mapping[str, Any]) -> Cell:
    ratio = hit_ratio(observation)
    return absent("not known") if ratio is None else Cell(f"{ratio:.2%}", Number(ratio, "ratio"))
