"""The metrics of what a measurement cost: CPU time, memory, the device under the data, and the
whole machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from assay.contracts.metric import COUNT, SIZE, USE, Metric
from assay.contracts.observation import ClientCost, DeviceCost, Observation, ServerCost
from assay.judge.run import Run
from assay.record.metrics.work import driven, kept

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
) -> Metric:
    """Of each that ended."""

    def value(whole: Observation) -> float | None:
        ended, counted = of(whole), total(whole)
        return counted / ended if ended and counted is not None else None

    return Metric(
        name=name, unit=unit, meaning=meaning, value=driven(value), is_whole=False, **more
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
    column="client CPU",
    exported="CPU time of clients.",
)
SERVER_CPU = _per_transaction(
    "server_cpu_per_transaction_ns",
    "ns",
    "CPU time of the server",
    _of_server(lambda cost: cost.known_cpu_ns),
    null="not seen, or embedded in the client",
    words=USE,
    column="server CPU",
    why_none=_why_no_server_cpu,
    exported="CPU time of servers.",
)


def _of_kernel(name: str, meaning: str, exported: str) -> Metric:
    """What the kernel counted of the server's processes."""
    return _per_transaction(
        f"server_{name}_per_transaction",
        "ratio",
        meaning,
        _of_server(lambda cost: cost.counts.get(name)),
        null="not known, or embedded in the client",
        words=COUNT,
        column=f"server {name.replace('_', ' ')}",
        why_none=_why_no_server,
        exported=exported,
    )


def _fields(
    field: str, prefix: str, fields: Iterable[tuple[str, str, str, str]]
) -> Iterator[Metric]:
    """Of a part of the observation: name, unit, meaning, and when it is null."""
    for name, unit, meaning, null in fields:
        yield Metric(
            name=f"{prefix}{name}",
            unit=unit,
            meaning=meaning,
            null=null,
            value=kept(field, name),
            is_whole=not name.startswith("load_"),
        )


_OF_LOG = "by the whole device under the log, where that is on a storage of its own"

OF_COSTS = (
    CLIENT_CPU,
    _per_transaction(
        "client_user_per_transaction_ns", "ns", "of it, in the client's own code",
        _of_client(lambda cost: cost.user_ns), of=_observed, column="user",
    ),
    _per_transaction(
        "client_system_per_transaction_ns", "ns", "of it, in the kernel",
        _of_client(lambda cost: cost.system_ns), of=_observed, column="system",
    ),
    _per_transaction(
        "client_context_switches_per_transaction", "ratio", "of the client's threads",
        _of_client(lambda cost: cost.voluntary_switches + cost.involuntary_switches), of=_observed,
        column="context switches",
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
    Metric(
        name="waited_for_processor_ns", unit="ns",
        meaning="client threads, ready to run; summed",
        value=kept("client_cost", "waited_for_processor_ns"),
    ),
    Metric(
        name="client_memory_bytes", unit="bytes", meaning="resident, at most",
        value=kept("client_cost", "resident_peak_bytes"),
    ),
    Metric(
        name="server_memory_bytes", unit="bytes", meaning="resident, at most",
        value=kept("server_cost", "resident_peak_bytes"), words=SIZE,
        is_result=lambda _run, value: bool(value), column="server memory",
        why_none=_why_no_server,
    ),
    *_fields(
        "log", "log_",
        (
            ("rows", "count", "transactions that --log wrote", "it was not asked for"),
            ("bytes", "bytes", "of them in the file, as CSV", ""),
            ("cpu_ns", "ns", "of the thread that wrote them, part of the client's", ""),
        ),
    ),
    *_fields(
        "device_cost", "device_",
        (
            ("read_bytes", "bytes", "by the whole device under the data", ""),
            ("written_bytes", "bytes", "by the whole device under the data", ""),
            ("reads", "count", "requests, by the whole device", ""),
            (
                "writes", "count",
                "requests, by the whole device, with flushes that carry no data", "",
            ),
            (
                "empty_writes", "count", "of these writes, flushes that carry no data",
                "not counted",
            ),
            ("flushes", "count", "of the device's cache", "not counted, or it has none"),
            ("busy_ns", "ns", "with a request under way", ""),
            ("queue_ns", "ns", "of all requests under way, summed", ""),
        ),
    ),
    *_fields(
        "log_device_cost", "log_device_",
        (
            ("read_bytes", "bytes", _OF_LOG, ""),
            ("written_bytes", "bytes", _OF_LOG, ""),
            ("reads", "count", f"requests, {_OF_LOG}", ""),
            (
                "writes", "count", f"requests, {_OF_LOG}, with flushes that carry no data", "",
            ),
            ("flushes", "count", f"of its cache, {_OF_LOG}", "not counted, or it has none"),
            ("busy_ns", "ns", f"with a request under way, {_OF_LOG}", ""),
        ),
    ),
    _per_transaction(
        "device_read_per_transaction_bytes", "bytes", "by the whole device under the data",
        _of_device(lambda cost: cost.read_bytes), column="device read", why_none=_why_no_device,
    ),
    _per_transaction(
        "device_written_per_transaction_bytes", "bytes", "by the whole device under the data",
        _of_device(lambda cost: cost.written_bytes), column="device written",
        why_none=_why_no_device,
    ),
    *_fields(
        "machine_cost", "machine_",
        (
            ("user_ns", "ns", "all processors of the machine", ""),
            ("system_ns", "ns", "all processors, in the kernel", ""),
            ("idle_ns", "ns", "all processors", ""),
            (
                "iowait_ns", "ns",
                "all processors, idle with a thread waiting for a device", "",
            ),
            ("steal_ns", "ns", "all processors, taken by other virtual machines", ""),
            ("load_1min_peak", "count", "load of one minute, at most", ""),
            ("cached_peak_bytes", "bytes", "files in the page cache, at most", ""),
            ("dirty_peak_bytes", "bytes", "of them not yet written, at most", ""),
            ("load_5min_peak", "count", "load of five minutes, at most", ""),
            ("load_15min_peak", "count", "load of fifteen minutes, at most", ""),
            ("used_peak_bytes", "bytes", "memory that programs could not have, at most", ""),
            ("free_least_bytes", "bytes", "memory that held nothing, at least", ""),
            (
                "buffers_peak_bytes", "bytes", "blocks of devices in the page cache, at most", "",
            ),
            (
                "shared_peak_bytes", "bytes",
                "shared by processes, and files in memory, at most", "",
            ),
            ("swap_used_peak_bytes", "bytes", "at most", ""),
            ("context_switches", "count", "of all processors", ""),
            ("interrupts", "count", "of all processors", ""),
        ),
    ),
)  # fmt: skip
