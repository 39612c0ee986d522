"""The metrics of what a measurement cost (CPU time, memory, the device, flushes for each
commit), and of the data: loaded, kept in memory, committed, checked."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from assay.contracts.metric import COUNT, SIZE, SPEED, USE, DifferenceWords, ReportColumn
from assay.contracts.observation import ClientCost, DeviceCost, Observation, ServerCost
from assay.contracts.storage_facts import IN_MEMORY, RAW
from assay.judge.run import Run
from assay.judge.run_warnings import why_not_steady
from assay.judge.statistics.samples import Spread
from assay.probe.measure import FLUSH_PARTS, Flushes
from assay.record.metrics.clients import kept, read_driven, read_kept
from assay.text import units

LESS_THAN_A_TICK = "< 1 tick"
"""In place of a CPU time that the kernel's counting does not resolve."""


def why_unseen(run: Run) -> str:
    """Why there are no numbers of the server's processes."""
    return "in client" if run.is_embedded else "not seen"


def _per_transaction(
    name: str,
    unit: str,
    meaning: str,
    total: Callable[[Observation], int | None],
    of: Callable[[Observation], int] = lambda whole: whole.ended,
    **more: Any,
) -> ReportColumn:
    """Of each that ended."""

    def value(whole: Observation) -> float | None:
        ended, counted = of(whole), total(whole)
        return counted / ended if ended and counted is not None else None

    return ReportColumn(
        name=name, unit=unit, meaning=meaning, value=read_driven(value), kind="number", **more
    )


def _observed(whole: Observation) -> int:
    """What a lost generator cost is not known."""
    return whole.observed_outcomes.ended


def _of_client(read: Callable[[ClientCost], int]) -> Callable[[Observation], int | None]:
    return lambda whole: read(whole.client_cost)


def _of_server(read: Callable[[ServerCost], int | None]) -> Callable[[Observation], int | None]:
    return lambda whole: read(whole.server_cost) if whole.server_cost else None


def _of_device(read: Callable[[DeviceCost], int]) -> Callable[[Observation], int | None]:
    return lambda whole: read(whole.device_cost) if whole.device_cost else None


def _why_no_server(run: Run) -> str:
    return "" if run.driven and run.driven.server_cost else why_unseen(run)


def _why_no_server_cpu(run: Run) -> str:
    cost = run.driven.server_cost if run.driven else None
    if cost is not None and cost.known_cpu_ns is None:
        return LESS_THAN_A_TICK
    return _why_no_server(run)


def _why_no_device(run: Run) -> str:
    return "" if run.driven and run.driven.device_cost else "not measured"


CLIENT_CPU = _per_transaction(
    "client_cpu_per_transaction_ns",
    "ns",
    "CPU time of the client",
    _of_client(lambda cost: cost.cpu_ns),
    of=_observed,
    title="client CPU",
    exported="CPU time of clients.",
)
SERVER_CPU = _per_transaction(
    "server_cpu_per_transaction_ns",
    "ns",
    "CPU time of the server",
    _of_server(lambda cost: cost.known_cpu_ns),
    null="not seen, or embedded in the client",
    words=USE,
    title="server CPU",
    why_null=_why_no_server_cpu,
    exported="CPU time of servers.",
)


def _of_kernel(name: str, meaning: str, exported: str) -> ReportColumn:
    """What the kernel counted of the server's processes."""
    return _per_transaction(
        f"server_{name}_per_transaction",
        "ratio",
        meaning,
        _of_server(lambda cost: cost.counts.get(name)),
        null="not known, or embedded in the client",
        words=COUNT,
        title=f"server {name.replace('_', ' ')}",
        why_null=_why_no_server,
        exported=exported,
    )


_OF_LOG = "by the whole device under the log, where that is on a storage of its own"

OF_COSTS = (
    CLIENT_CPU,
    _per_transaction(
        "client_user_per_transaction_ns", "ns", "of it, in the client's own code",
        _of_client(lambda cost: cost.user_ns), of=_observed, title="user",
    ),
    _per_transaction(
        "client_system_per_transaction_ns", "ns", "of it, in the kernel",
        _of_client(lambda cost: cost.system_ns), of=_observed, title="system",
    ),
    _per_transaction(
        "client_context_switches_per_transaction", "ratio", "of the client's threads",
        _of_client(lambda cost: cost.voluntary_switches + cost.involuntary_switches), of=_observed,
        title="context switches",
    ),
    SERVER_CPU,
    _of_kernel("context_switches", "of all threads of the server", "Context switches of servers."),
    _of_kernel(
        "page_faults", "of the server, with those that read from storage",
        "Page faults of servers.",
    ),
    _of_kernel(
        "major_page_faults", "of the server, that read from storage",
        "Page faults of servers that read from storage.",
    ),
    *kept(
        "client_cost", "", {"waited_for_processor_ns": "client threads, ready to run; summed"}
    ),
    ReportColumn(
        name="client_memory_bytes", unit="bytes", meaning="resident, at most",
        value=read_kept("client_cost", "resident_peak_bytes"),
    ),
    ReportColumn(
        name="server_memory_bytes", unit="bytes", meaning="resident, at most",
        value=read_kept("server_cost", "resident_peak_bytes"), words=SIZE,
        is_result=lambda _run, value: bool(value), title="server memory",
        why_null=_why_no_server,
    ),
    *kept(
        "log", "log_",
        {
            "rows": ("transactions that --log wrote", "it was not asked for"),
            "bytes": "of them in the file, as CSV",
            "cpu_ns": "of the thread that wrote them, part of the client's",
        },
    ),
    *kept(
        "device_cost", "device_",
        {
            "read_bytes": "by the whole device under the data",
            "written_bytes": "by the whole device under the data",
            "reads": "requests, by the whole device",
            "writes": "requests, by the whole device, with flushes that carry no data",
            "empty_writes": ("of these writes, flushes that carry no data", "not counted"),
            "flushes": ("of the device's cache", "not counted, or it has none"),
            "busy_ns": "with a request under way",
            "queue_ns": "of all requests under way, summed",
        },
    ),
    *kept(
        "log_device_cost", "log_device_",
        {
            "read_bytes": _OF_LOG,
            "written_bytes": _OF_LOG,
            "reads": f"requests, {_OF_LOG}",
            "writes": f"requests, {_OF_LOG}, with flushes that carry no data",
            "flushes": (f"of its cache, {_OF_LOG}", "not counted, or it has none"),
            "busy_ns": f"with a request under way, {_OF_LOG}",
        },
    ),
    _per_transaction(
        "device_read_per_transaction_bytes", "bytes", "by the whole device under the data",
        _of_device(lambda cost: cost.read_bytes), title="device read", why_null=_why_no_device,
    ),
    _per_transaction(
        "device_written_per_transaction_bytes", "bytes", "by the whole device under the data",
        _of_device(lambda cost: cost.written_bytes), title="device written",
        why_null=_why_no_device,
    ),
    *kept(
        "machine_cost", "machine_",
        {
            "user_ns": "all processors of the machine",
            "system_ns": "all processors, in the kernel",
            "idle_ns": "all processors",
            "iowait_ns": "all processors, idle with a thread waiting for a device",
            "steal_ns": "all processors, taken by other virtual machines",
            "load_1min_peak": "load of one minute, at most",
            "cached_peak_bytes": "files in the page cache, at most",
            "dirty_peak_bytes": "of them not yet written, at most",
            "load_5min_peak": "load of five minutes, at most",
            "load_15min_peak": "load of fifteen minutes, at most",
            "used_peak_bytes": "memory that programs could not have, at most",
            "free_least_bytes": "memory that held nothing, at least",
            "buffers_peak_bytes": "blocks of devices in the page cache, at most",
            "shared_peak_bytes": "shared by processes, and files in memory, at most",
            "swap_used_peak_bytes": "at most",
            "context_switches": "of all processors",
            "interrupts": "of all processors",
        },
    ),
)  # fmt: skip


_LEAST_AT_WORK = 0.01
"""Share of the time of the clients in transactions; with less of it, as with the pauses of people,
the rate is theirs."""


def commits_per_s(driven: Observation) -> float | None:
    """None where it is not known; 0 where the transactions only read."""
    if driven.commits is None or not driven.elapsed_ns:
        return None
    return driven.commits / (driven.elapsed_ns / 1e9)


def commit_efficiency(run: Run) -> float | None:
    """None where `why_null` has a reason."""
    commits, flushes = _commits_per_s(run), probed_flushes(run)
    if commits is None or flushes is None or why_no_commit_efficiency(run):
        return None
    return commits / flushes.per_s


def why_no_commit_efficiency(run: Run) -> str:
    """Why commits and flushes of the run are not divided; empty: they are."""
    commits, flushes = _commits_per_s(run), probed_flushes(run)
    if flushes is None:
        return why_no_probed_flushes(run) or "not probed"
    if not flushes.per_s:
        return "the probe did no flushes"
    if commits is None:
        return "commits are not known"
    if not commits:
        return "nothing was committed"

    return why_not_steady(run.warnings) or _why_paced(run)


def _why_paced(run: Run) -> str:
    """Why the clients, and not the storage, say how many commits there were: in a closed loop they
    paused most of the time. Empty: they did not."""
    if run.driven is None or run.driven.of_clients.arrival.kind != "closed":
        return ""
    own = run.driven.of_clients
    whole_ns, latency = own.clients * own.elapsed_ns, own.all_ok.latency
    share = latency.count * latency.mean_ns / whole_ns if whole_ns else 1.0
    if share >= _LEAST_AT_WORK:
        return ""
    return f"the clients paused: they were at work {units.percent(share)} of the time"


def _commits_per_s(run: Run) -> float | None:
    return commits_per_s(run.driven) if run.driven else None


def _one_load(run: Run) -> Hashable:
    return run.data.one_load if run.data else None


def _loaded(
    name: str, unit: str, meaning: str, words: DifferenceWords | None, exported: str = ""
) -> ReportColumn:
    """Once for all runs that share a load; 0 where the data were there."""
    return ReportColumn(
        name=name,
        unit=unit,
        meaning=meaning,
        value=lambda run: getattr(run.data, name) if run.data else None,
        words=words,
        is_result=lambda _run, value: bool(value),
        measured_once=_one_load,
        exported=exported,
    )


def _rows_loaded(run: Run) -> int | None:
    return sum(run.data.rows.values()) or None if run.data else None


def _write_amplification(run: Run) -> float | None:
    """Nothing counts the bytes of the rows themselves."""
    if run.driven is None or run.driven.device_cost is None or run.data is None:
        return None
    rows, data_bytes = sum(run.data.rows.values()), run.data.data_bytes
    changed = run.driven.server_counters.get("rows_changed")
    if not (rows and data_bytes and changed):
        return None
    return run.driven.device_cost.written_bytes / (changed * data_bytes / rows)


def _checks(
    name: str, meaning: str, ok: bool | None, words: DifferenceWords | None = None
) -> ReportColumn:
    """It is a result where an answer was compared with a right one."""
    return ReportColumn(
        name=name,
        unit="count",
        meaning=meaning,
        value=lambda run: sum(check["ok"] is ok for check in run.checks),
        is_nullable=False,
        words=words,
        is_result=lambda run, _value: any(check["ok"] is not None for check in run.checks),
    )


SIZE_ON_DISK = _loaded(
    "size_on_disk_bytes", "bytes", "after the load", SIZE, "Data of the system, once loaded."
)
CREATION = ReportColumn(
    name="creation_ns",
    unit="ns",
    meaning="to make the data directory of a server and to start it, until it answers",
    null="reached by URL, or the directory was a copy",
    value=lambda run: run.deployment.creation_ns if run.deployment else None,
    words=SPEED,
    measured_once=lambda run: run.deployment.creation_ns if run.deployment else None,
)
LOAD_TIME = ReportColumn(
    name="load_time_ns",
    unit="ns",
    meaning="of loading, indexing and analyzing",
    value=lambda run: (run.data.made_ns or None) if run.data else None,
    measured_once=_one_load,
)
OF_DATA = (
    *kept(
        "data_in_memory", "data_",
        {
            "file_bytes": "of the data directory, at the end",
            "cached_bytes": "of them, in the page cache",
        },
    ),
    ReportColumn(
        name="commits", unit="count", meaning="transactions that ended ok and change data",
        null="not counted", value=read_driven(lambda whole: whole.commits),
    ),
    ReportColumn(
        name="device_written_per_commit_bytes",
        unit="bytes",
        meaning="by the whole device under the data, for each transaction that changes data",
        null="one of both is not known, or nothing was committed",
        value=read_driven(
            lambda whole: (
                whole.device_cost.written_bytes / whole.commits
                if whole.device_cost and whole.commits
                else None
            )
        ),
        kind="number",
        words=SIZE,
    ),
    ReportColumn(
        name="write_amplification", unit="ratio",
        meaning="bytes that the device under the data wrote for each byte of the rows that were "
        "changed; these are as large as the loaded ones are in their files, on average",
        null="the device, the rows that the server changed, or their size is not known",
        value=_write_amplification, kind="number", words=USE, title="write amplification",
        exported="Bytes that the device wrote for each byte of the rows that were changed.",
    ),
    ReportColumn(
        name="commit_efficiency", unit="ratio",
        meaning="commits per second, divided by the flushes per second of the storage's probe",
        value=commit_efficiency, kind="number",
        exported="Commits per second, divided by the flushes per second of the storage's probe.",
    ),
    ReportColumn(name="rows_loaded", unit="count", meaning="in all tables", value=_rows_loaded),
    SIZE_ON_DISK,
    CREATION,
    _loaded("load_ns", "ns", "rows sent in one transaction", SPEED),
    _loaded("index_ns", "ns", "indexes and keys", SPEED),
    _loaded("analyze_ns", "ns", "statistics", None),
    LOAD_TIME,
    _checks("checks_right", "result checks", True),
    _checks("checks_wrong", "result checks", False, COUNT),
    _checks("checks_unknown", "no expected result", None),
)  # fmt: skip


NOT_PASSED_ON = "not passed on"


def probed_flushes(run: Run) -> Flushes | None:
    """None where its storage was not probed, or its flushes are not those of commits."""
    if run.probe is None or why_no_probed_flushes(run):
        return None
    return run.probe.flushes


def why_no_probed_flushes(run: Run) -> str:
    """Why commits do not wait for flushes of what was probed; empty: they may."""
    file_system = run.deployment.storage.file_system if run.deployment else None
    if file_system == RAW or (run.deployment and run.deployment.log_storage):
        return "log elsewhere"
    if file_system in IN_MEMORY:
        return "in memory"
    return "" if run.probe is None or run.probe.passes_flushes_on else NOT_PASSED_ON


def spread_of_flushes(flushes: Flushes) -> Spread:
    """Of its repeated measurements."""
    if flushes.low_per_s is None or flushes.high_per_s is None:
        return Spread(flushes.per_s, flushes.per_s, flushes.per_s, 1)
    return Spread(flushes.per_s, flushes.low_per_s, flushes.high_per_s, FLUSH_PARTS)


def uneven_flushes(flushes: Flushes | None) -> str:
    """What is said of measurements that lie far apart; empty: they do not."""
    if flushes is None or not flushes.is_uneven:
        return ""
    over = spread_of_flushes(flushes)
    return (
        f"the probe's flushes/s were between {units.digits(over.low)} and "
        f"{units.digits(over.high)}: the machine was busy; probe again when it is not"
    )
