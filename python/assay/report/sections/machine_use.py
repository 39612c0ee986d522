"""Takes the cells of a test; returns what the device under the data, the machine and the
processes of the server did during the measurement: requests, busy shares, load, memory, threads,
files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from assay.contracts.metric import ReportColumn
from assay.contracts.observation import DeviceCost, Observation, ServerCost
from assay.contracts.storage_facts import RAW
from assay.drive.sampling import TimedSample
from assay.judge import storage_checks
from assay.judge.statistics.samples import median_of_all
from assay.judge.storage_checks import HIGHEST_DURABILITY, comparable_durability
from assay.record import Run
from assay.record.metrics.resources import LESS_THAN_A_TICK, why_unseen
from assay.report import cell_runs, cell_tables
from assay.report.cell_runs import CellRuns
from assay.report.columns import numbers, path
from assay.report.values import (
    Number,
    ReportCell,
    ReportTable,
    Section,
    absent,
    count,
    number_cell,
    rate,
    section_of,
    share,
    size,
)
from assay.text import units

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
    of_limit = [numbers(_OF_LIMIT, _of_limit)] if is_limited else []
    counted = [(cell, run) for cell, run in measured if _is_counted(run.measurement)]
    of_log = [(cell, run) for cell, run in measured if run.measurement.log_device_cost]
    of_machine = [(cell, run) for cell, run in measured if run.measurement.machine_cost]
    tables = [
        _table(
            f"{test}_device",
            "Requests of the device under the data: per second, and per transaction",
            _device("device_cost", is_apart=is_apart),
            counted,
            cells,
            about,
        ),
        _table(
            f"{test}_log_device",
            "Requests of the device under the log, where that is on a storage of its own",
            _device("log_device_cost", is_apart=is_apart),
            of_log,
            cells,
            about,
        ),
        _table(
            f"{test}_machine",
            "Processor states of the whole machine, and its load",
            (*_MACHINE, *of_limit),
            of_machine,
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
            of_machine,
            cells,
            "largest value of any sample, of free the smallest; used: what programs could not "
            "have; buffers: blocks of devices, cached: files in the page cache, dirty: of them not "
            "yet written; shared: by processes, and files in memory; data in memory: of the data "
            "directory in the page cache, at the end",
            is_detail=True,
        ),
    ]
    return section_of("Device and machine", *tables)


def _is_counted(driven: Observation) -> bool:
    """Whether requests were counted; older records have only bytes, which stand with the costs."""
    return driven.device_cost is not None and driven.device_cost.reads is not None


def _flushes_are_apart(runs: Iterable[Run]) -> bool:
    """Whether the writes of all of them are known without requests for a flush."""
    counted = (run.measurement.device_cost for run in runs if _is_counted(run.measurement))
    return all(device is not None and device.data_writes is not None for device in counted)


def reads_per_transaction(run: Run) -> float | None:
    """Reads from the device; None where they were not counted, nothing ended, or most of what was
    read may have been for other programs."""
    device, count = run.measurement.device_cost, run.measurement.ended
    if device is None or device.reads is None or not count:
        return None
    if (
        is_shared(run)
        and 2 * (storage_checks.own_read_bytes(run.measurement) or 0) < device.read_bytes
    ):
        return None
    return device.reads / count


def is_shared(run: Run) -> bool:
    """Whether other programs may use the device as well."""
    storage = run.deployment.storage if run.deployment else None
    return storage is None or not (storage.is_own_device or storage.file_system == RAW)


def busy_share(driven: Observation) -> float | None:
    """Share of the measurement in which the device had something to do."""
    return _busy_share(driven, driven.device_cost)


def _busy_share(driven: Observation, device: DeviceCost | None) -> float | None:
    if device is None or device.busy_ns is None or not driven.elapsed_ns:
        return None
    return min(1.0, device.busy_ns / driven.elapsed_ns)


def reads_of_all(runs: Iterable[Run]) -> float | None:
    """Reads per transaction, the median of the repetitions."""
    return median_of_all(map(reads_per_transaction, runs))


def summary(runs: Sequence[Run]) -> str:
    """``reads 0.82, writes 2.1, flushes 1 per transaction; 97 % busy``, each the median of the
    repetitions; empty where the device had too little to do to explain a result. That it had little
    to do explains the speed of commits that do not wait for it."""
    if not all(_is_counted(run.measurement) and run.measurement.ended for run in runs):
        return ""
    reads, busy = reads_of_all(runs), median_of_all(busy_share(run.measurement) for run in runs)
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


def _waits_for_no_flush(run: Run) -> bool:
    """Whether it committed, and was measured or found not to flush each commit."""
    deployment = run.deployment
    level = comparable_durability(deployment) if deployment else None
    return bool(run.measurement.commits) and level not in (None, HIGHEST_DURABILITY)


def _each_of_all(runs: Iterable[Run], name: str) -> float | None:
    totals = ((getattr(run.measurement.device_cost, name), run.measurement.ended) for run in runs)
    return median_of_all(None if total is None else total / count for total, count in totals)


def _table(
    name: str,
    title: str,
    shown: Iterable[ReportColumn],
    rows: Sequence[tuple[CellRuns, Run]],
    measured: Sequence[CellRuns],
    note: str,
    *,
    is_detail: bool = False,
) -> ReportTable:
    labels = (measured, cell_runs.varying(measured, "system", "clients"))
    notes = (note, *cell_runs.of_middle(measured))

    return cell_tables.table_by_cell(
        name, title, labels, shown, rows, notes=notes, is_detail=is_detail
    )


def _device(name: str, *, is_apart: bool) -> list[ReportColumn]:
    """``name``: of the field of an observation that has the device's cost."""

    def per_s(title: str, of: str, show: Callable[[int | None, float], ReportCell]) -> ReportColumn:
        total = path("driven", name, of)
        return numbers(title, lambda run: show(total(run), run.driven.elapsed_ns / 1e9))

    def per_transaction(title: str, of: str) -> ReportColumn:
        total = path("driven", name, of)
        return numbers(title, lambda run: _each(total(run), run.driven.outcomes.ended))

    def busy(run: Run) -> ReportCell:
        return share(_busy_share(run.measurement, getattr(run.measurement, name)), "")

    def queue(run: Run) -> ReportCell:
        queue_ns = getattr(run.driven, name).queue_ns
        elapsed_s = run.measurement.elapsed_ns / 1e9
        return _ratio(None if queue_ns is None else queue_ns / 1e9, elapsed_s)

    of_writes = "data_writes" if is_apart else "writes"
    return [
        per_s("reads/s", "reads", _rate),
        per_s("read/s", "read_bytes", _bytes_rate),
        per_s("writes/s", of_writes, _rate),
        per_s("written/s", "written_bytes", _bytes_rate),
        per_s("flushes/s", "flushes", _rate),
        per_transaction("reads", "reads"),
        per_transaction("writes", of_writes),
        per_transaction("flushes", "flushes"),
        numbers("busy", busy),
        numbers("queue", queue),
    ]


def _of_capacity(title: str, show: Callable[[Run, float], ReportCell]) -> ReportColumn:
    """``show``: takes the time that all processors had, in nanoseconds."""

    def shown(run: Run) -> ReportCell:
        machine = run.measurement.machine_cost
        if machine is None or not machine.capacity_ns:
            return absent("")
        return show(run, machine.capacity_ns)

    return numbers(title, shown)


def _state(title: str) -> ReportColumn:
    """Of the processors."""

    def shown(run: Run, capacity_ns: float) -> ReportCell:
        from assay.judge import machine_load

        wrong = machine_load.processor_contradiction(run)
        note = f"the kernel's ticks contradict the states: {wrong}" if wrong else ""
        time_ns = getattr(run.measurement.machine_cost, f"{title}_ns")
        return replace(share(time_ns / capacity_ns), note=note)

    return _of_capacity(title, shown)


def _load(title: str, name: str) -> ReportColumn:
    def shown(run: Run, _capacity_ns: float) -> ReportCell:
        load = getattr(run.measurement.machine_cost, name)
        return number_cell(load, "ratio", lambda known: units.digits(known, 3))

    return _of_capacity(title, shown)


def _server_cpu(run: Run, capacity_ns: float) -> ReportCell:
    server = run.measurement.server_cost
    return _of_server(server, capacity_ns) if server else absent(why_unseen(run))


_MACHINE = (
    *map(_state, ("user", "system", "iowait", "steal", "idle")),
    _load("load", "load_1min_peak"),
    _load("load, 5 min", "load_5min_peak"),
    _load("load, 15 min", "load_15min_peak"),
    _of_capacity("server CPU", _server_cpu),
)


def _memory(title: str, name: str) -> ReportColumn:
    return numbers(title, lambda run: size(getattr(run.driven.machine_cost, name)))


def _per_s(title: str, name: str) -> ReportColumn:
    def shown(run: Run) -> ReportCell:
        return _rate(getattr(run.measurement.machine_cost, name), run.measurement.elapsed_ns / 1e9)

    return numbers(title, shown)


def _data_in_memory(run: Run) -> ReportCell:
    data = run.measurement.data_in_memory
    if data is None:
        return absent("not seen")
    shown = f"{units.size(data.cached_bytes)} of {units.size(data.file_bytes)}"
    return ReportCell(shown, Number(data.cached_bytes, "bytes"))


_MEMORY = (
    _memory("used", "used_peak_bytes"),
    _memory("free", "free_least_bytes"),
    _memory("buffers", "buffers_peak_bytes"),
    _memory("cached", "cached_peak_bytes"),
    _memory("dirty", "dirty_peak_bytes"),
    _memory("shared", "shared_peak_bytes"),
    _memory("swap", "swap_used_peak_bytes"),
    _per_s("context switches/s", "context_switches"),
    _per_s("interrupts/s", "interrupts"),
    numbers("data in memory", _data_in_memory),
)


def _cpu_limit(run: Run) -> float | None:
    return run.deployment.cpu_limit if run.deployment else None


def _of_limit(run: Run) -> ReportCell:
    """CPU time of the server as a share of what its control group allows it."""
    limit, server, elapsed_ns = (
        _cpu_limit(run),
        run.measurement.server_cost,
        run.measurement.elapsed_ns,
    )
    if not limit or server is None or not elapsed_ns:
        return absent("-")
    return _of_server(server, limit * elapsed_ns)


def _of_server(server: ServerCost, capacity_ns: float) -> ReportCell:
    cpu_ns = server.known_cpu_ns
    return share(None if cpu_ns is None else cpu_ns / capacity_ns, LESS_THAN_A_TICK)


def _divided(total: float | None, of: float) -> float | None:
    return None if total is None or not of else total / of


def _rate(total: int | None, elapsed_s: float) -> ReportCell:
    return rate(_divided(total, elapsed_s))


def _bytes_rate(total: int | None, elapsed_s: float) -> ReportCell:
    return number_cell(_divided(total, elapsed_s), "bytes_per_s", units.size)


def _ratio(total: float | None, of: float, n: int = 1) -> ReportCell:
    return number_cell(_divided(total, of), "ratio", n=n)


def _each(total: int | None, count: int) -> ReportCell:
    return _ratio(total, count, n=count)


def server_section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no server process was sampled."""
    sampled = [
        (cell, samples)
        for cell in cells
        if (samples := [sample for run in cell.runs for sample in run.samples])
    ]
    # Older records do not have them.
    has_files = any(timed.sample.files is not None for _, samples in sampled for timed in samples)
    notes = ["largest value of any sample; open files: inside the data directory"]
    if has_files:
        notes.append(
            "a file that is open twice counts twice in open files, and once in files; most "
            "handles: the greatest number of open handles on a single file"
        )
    table = cell_tables.table_by_cell(
        f"{test}_server",
        "Threads, memory and open files during the run",
        (cells, cell_runs.varying(cells, "system")),
        (*_PROCESSES, *(_FILES if has_files else ())),
        [(cell, (cell, samples)) for cell, samples in sampled],
        notes=tuple(notes),
    )
    return section_of("Server processes", table)


_Sampled = tuple[CellRuns, Sequence[TimedSample]]


def _most_sampled(
    title: str, name: str, show: Callable[[int], ReportCell], why_none: str = ""
) -> ReportColumn:
    """The largest of any sample."""

    def shown(sampled: _Sampled) -> ReportCell:
        found = [getattr(timed.sample, name) for timed in sampled[1]]
        known = [one for one in found if one is not None]
        return show(max(known)) if known else absent(why_none)

    return numbers(title, shown)


def _most_handles(sampled: _Sampled) -> ReportCell:
    """``249 FILE``."""
    opened = [file for run in sampled[0].runs for file in run.open_files]
    most = max(opened, key=lambda file: file.handles, default=None)
    if most is None:
        return absent("")
    return ReportCell(f"{most.handles} {most.file}", Number(most.handles, "count"))


_PROCESSES = (
    _most_sampled("processes", "processes", count),
    _most_sampled("threads", "threads", count),
    _most_sampled("resident", "resident_bytes", size),
    _most_sampled("virtual", "virtual_bytes", size),
    _most_sampled("open files", "open_files", count, "not known"),
)
_FILES = (_most_sampled("files", "files", count), numbers("most handles", _most_handles))
