"""Takes the cells of a test; returns what the device under the data and the whole machine did
during the measurement: requests, flushes and busy share of the device, processor states, load and
memory of the machine.

They are those of one run, the repetition with the median throughput. The papers read these numbers
off ``iostat`` and ``top``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from assay.contracts.observation import DeviceCost, Observation, ServerCost
from assay.contracts.storage_facts import RAW
from assay.judge.evidence import cache, machine_states
from assay.judge.evidence.durability import HIGHEST, comparable_durability
from assay.judge.statistics.spread import median_of_all
from assay.record.metrics.costs import LESS_THAN_A_TICK, why_unseen
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

_DEVICE = (
    "reads/s", "read/s", "writes/s", "written/s", "flushes/s", "reads", "writes", "flushes",
    "busy", "queue",
)  # fmt: skip
_MACHINE = (
    "user", "system", "iowait", "steal", "idle", "load", "load, 5 min", "load, 15 min",
    "server CPU",
)  # fmt: skip
_MEMORY = (
    "used", "free", "buffers", "cached", "dirty", "shared", "swap", "context switches/s",
    "interrupts/s", "data in memory",
)  # fmt: skip
_OF_LIMIT = "of its CPUs"
_WRITES = "writes: requests that carry data"
_WRITES_WITH_FLUSHES = "writes: as the kernel counts them, with flushes that carry no data"
BUSY_LIMIT = 0.20
"""Share of the time from which a device's work is part of a result's reason."""
READS_LIMIT = 0.01
"""Reads per transaction from which they are part of a result's reason."""


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where neither was sampled."""
    measured = cell_runs.middle_runs(cells)
    is_limited = any(_cpu_limit(run) for _, run in measured)
    is_apart = _flushes_are_apart(run for _, run in measured)
    about = (
        "of the whole device, for any program; busy: share of the time with a request under "
        "way; queue: requests under way, mean; flushes: of its volatile cache, - where it has "
        f"none; {_WRITES if is_apart else _WRITES_WITH_FLUSHES}"
    )
    tables = [
        _table(
            f"{test}_device",
            "Requests of the device under the data: per second, and per transaction",
            _DEVICE,
            [
                (cell, _device(run.driven, run.driven.device_cost, is_apart=is_apart))
                for cell, run in measured
                if _is_counted(run.driven)
            ],
            cells,
            about,
            is_detail=False,
        ),
        _table(
            f"{test}_log_device",
            "Requests of the device under the log, where that is on a storage of its own",
            _DEVICE,
            [
                (cell, _device(run.driven, run.driven.log_device_cost, is_apart=is_apart))
                for cell, run in measured
                if run.driven.log_device_cost
            ],
            cells,
            about,
            is_detail=False,
        ),
        _table(
            f"{test}_machine",
            "Processor states of the whole machine, and its load",
            (*_MACHINE, *([_OF_LIMIT] if is_limited else [])),
            [
                (cell, (*_machine(run), *([_of_limit(run)] if is_limited else [])))
                for cell, run in measured
                if run.driven.machine_cost
            ],
            cells,
            "states and server CPU: share of all processors"
            + (f"; {_OF_LIMIT}: share of what --cpus allows it" if is_limited else "")
            + "; iowait: idle while a thread waited for a device; load (of one minute, 5 and 15): "
            "largest value of any sample",
            is_detail=True,
        ),
        _table(
            f"{test}_memory",
            "Memory of the whole machine, its context switches and interrupts",
            _MEMORY,
            [(cell, _memory(run)) for cell, run in measured if run.driven.machine_cost],
            cells,
            "largest value of any sample, of free the smallest; used: what programs could not "
            "have; buffers: blocks of devices, cached: files in the page cache, dirty: of them not "
            "yet written; shared: by processes, and files in memory; data in memory: of the data "
            "directory in the page cache, at the end",
            is_detail=True,
        ),
    ]
    shown = tuple(table for table in tables if table is not None)
    return Section("Device and machine", (), shown) if shown else None


def _is_counted(driven: Observation) -> bool:
    """Whether requests were counted; older records have only bytes, which stand with the costs."""
    return driven.device_cost is not None and driven.device_cost.reads is not None


def _flushes_are_apart(runs: Iterable[DrivenRun]) -> bool:
    """Whether the writes of all of them are known without requests for a flush."""
    counted = (run.driven.device_cost for run in runs if _is_counted(run.driven))
    return all(device is not None and device.data_writes is not None for device in counted)


def reads_per_transaction(run: DrivenRun) -> float | None:
    """Reads from the device; None where they were not counted, nothing ended, or most of what was
    read may have been for other programs."""
    device, count = run.driven.device_cost, run.driven.ended
    if device is None or device.reads is None or not count:
        return None
    if is_shared(run) and 2 * (cache.own_read_bytes(run.driven) or 0) < device.read_bytes:
        return None
    return device.reads / count


def is_shared(run: DrivenRun) -> bool:
    """Whether other programs may use the device as well."""
    storage = run.run.deployment.storage if run.run.deployment else None
    return storage is None or not (storage.is_own_device or storage.file_system == RAW)


def busy_share(driven: Observation) -> float | None:
    """Share of the measurement in which the device had something to do."""
    return _busy_share(driven, driven.device_cost)


def _busy_share(driven: Observation, device: DeviceCost | None) -> float | None:
    if device is None or device.busy_ns is None or not driven.elapsed_ns:
        return None
    return min(1.0, device.busy_ns / driven.elapsed_ns)


def reads_of_all(runs: Iterable[DrivenRun]) -> float | None:
    """Reads per transaction, the median of the repetitions."""
    return median_of_all(map(reads_per_transaction, runs))


def summary(runs: Sequence[DrivenRun]) -> str:
    """``reads 0.82, writes 2.1, flushes 1 per transaction; 97 % busy``, each the median of the
    repetitions; empty where the device had too little to do to explain a result. That it had little
    to do explains the speed of commits that do not wait for it."""
    if not all(_is_counted(run.driven) and run.driven.ended for run in runs):
        return ""
    reads, busy = reads_of_all(runs), median_of_all(busy_share(run.driven) for run in runs)
    does_little = busy is None or ((reads or 0) < READS_LIMIT and busy < BUSY_LIMIT)
    if busy is None or (does_little and not any(map(_waits_for_no_flush, runs))):
        return ""
    is_apart = _flushes_are_apart(runs)
    writes = _each_of_all(runs, "data_writes" if is_apart else "writes")
    flushes = _each_of_all(runs, "flushes")
    of_writes = "writes" if is_apart else "writes with flushes"
    written = (("reads", reads), (of_writes, writes), ("flushes", flushes))
    each = [f"{name} {units.digits(found, 2)}" for name, found in written if found is not None]
    others = "; shared device" if any(map(is_shared, runs)) else ""
    return f"{', '.join(each)} per transaction; {units.share(busy)} busy{others}"


def _waits_for_no_flush(run: DrivenRun) -> bool:
    """Whether it committed, and was measured or found not to flush each commit."""
    deployment = run.run.deployment
    level = comparable_durability(deployment) if deployment else None
    return bool(run.driven.commits) and level not in (None, HIGHEST)


def _each_of_all(runs: Iterable[DrivenRun], name: str) -> float | None:
    totals = ((getattr(run.driven.device_cost, name), run.driven.ended) for run in runs)
    return median_of_all(None if total is None else total / count for total, count in totals)


def _table(
    name: str,
    title: str,
    titles: Sequence[str],
    rows: Sequence[tuple[CellRuns, tuple[ReportCell, ...]]],
    measured: Sequence[CellRuns],
    note: str,
    *,
    is_detail: bool,
) -> ReportTable | None:
    if not rows:
        return None
    factors = cell_runs.varying(measured, "system", "clients")
    return ReportTable(
        name=name,
        label_columns=len(factors),
        title=title,
        columns=(
            *cell_runs.label_columns(measured, factors),
            *(ReportColumn(one, is_number=True) for one in titles),
        ),
        rows=tuple(Row((*cell_runs.label_cells(cell, factors), *cells)) for cell, cells in rows),
        notes=(note, *cell_runs.of_middle(measured)),
        is_detail=is_detail,
    )


def _device(
    driven: Observation, device: DeviceCost | None, *, is_apart: bool
) -> tuple[ReportCell, ...]:
    elapsed_s, count = driven.elapsed_ns / 1e9, driven.outcomes.ended
    if device is None:
        return ()
    of_writes = device.data_writes if is_apart else device.writes
    requests = (device.reads, of_writes, device.flushes)
    reads, writes, flushes = (_rate(total, elapsed_s) for total in requests)
    busy, queue_ns = _busy_share(driven, device), device.queue_ns
    return (
        reads,
        _bytes_rate(device.read_bytes, elapsed_s),
        writes,
        _bytes_rate(device.written_bytes, elapsed_s),
        flushes,
        *(_each(total, count) for total in requests),
        absent("") if busy is None else _share(busy),
        _ratio(None if queue_ns is None else queue_ns / 1e9, elapsed_s),
    )


def _machine(run: DrivenRun) -> tuple[ReportCell, ...]:
    machine, server = run.driven.machine_cost, run.driven.server_cost
    if machine is None or not machine.capacity_ns:
        return tuple(absent("") for _ in _MACHINE)
    states = (
        machine.user_ns, machine.system_ns, machine.iowait_ns, machine.steal_ns, machine.idle_ns
    )  # fmt: skip
    wrong = machine_states.contradiction(run.run.evidence)
    note = f"the kernel's ticks contradict the states: {wrong}" if wrong else ""
    return (
        *(replace(_share(time_ns / machine.capacity_ns), note=note) for time_ns in states),
        *(
            absent("-")
            if load is None
            else ReportCell(units.digits(load, 3), Number(load, "ratio"))
            for load in (machine.load_1min_peak, machine.load_5min_peak, machine.load_15min_peak)
        ),
        _of_server(server, machine.capacity_ns) if server else absent(why_unseen(run.run)),
    )


def _memory(run: DrivenRun) -> tuple[ReportCell, ...]:
    machine, data = run.driven.machine_cost, run.driven.data_in_memory
    if machine is None:
        return tuple(absent("") for _ in _MEMORY)
    sizes = (
        machine.used_peak_bytes, machine.free_least_bytes, machine.buffers_peak_bytes,
        machine.cached_peak_bytes, machine.dirty_peak_bytes, machine.shared_peak_bytes,
        machine.swap_used_peak_bytes,
    )  # fmt: skip
    elapsed_s = run.driven.elapsed_ns / 1e9
    return (
        *(absent("-") if one is None else size(one) for one in sizes),
        _rate(machine.context_switches, elapsed_s),
        _rate(machine.interrupts, elapsed_s),
        absent("not seen")
        if data is None
        else ReportCell(
            f"{units.size(data.cached_bytes)} of {units.size(data.file_bytes)}",
            Number(data.cached_bytes, "bytes"),
        ),
    )


def _cpu_limit(run: DrivenRun) -> float | None:
    return run.run.deployment.cpu_limit if run.run.deployment else None


def _of_limit(run: DrivenRun) -> ReportCell:
    """CPU time of the server as a share of what its control group allows it."""
    limit, server, elapsed_ns = _cpu_limit(run), run.driven.server_cost, run.driven.elapsed_ns
    if not limit or server is None or not elapsed_ns:
        return absent("-")
    return _of_server(server, limit * elapsed_ns)


def _of_server(server: ServerCost, capacity_ns: float) -> ReportCell:
    cpu_ns = server.known_cpu_ns
    return absent(LESS_THAN_A_TICK) if cpu_ns is None else _share(cpu_ns / capacity_ns)


def _rate(total: int | None, elapsed_s: float) -> ReportCell:
    if total is None or not elapsed_s:
        return absent("-")
    return ReportCell(units.digits(total / elapsed_s), Number(total / elapsed_s, "per_s"))


def _bytes_rate(total: int, elapsed_s: float) -> ReportCell:
    if not elapsed_s:
        return absent("-")
    return ReportCell(units.size(total / elapsed_s), Number(total / elapsed_s, "bytes_per_s"))


def _each(total: int | None, count: int) -> ReportCell:
    return _ratio(total, count, n=count)


def _ratio(total: float | None, of: float, n: int = 1) -> ReportCell:
    if total is None or not of:
        return absent("-")
    return ReportCell(units.digits(total / of), Number(total / of, "ratio", n=n))


def _share(share: float) -> ReportCell:
    return ReportCell(units.share(share), Number(share, "ratio"))
