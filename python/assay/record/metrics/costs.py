"""The metrics of what a measurement cost: CPU time, memory, the device under the data, and the
whole machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from assay.contracts.metric import SIZE, USE, Metric, Value
from assay.contracts.observation import Observation
from assay.record.metrics.work import driven, kept


def _each(cpu_ns: Callable[[Observation], int | None]) -> Callable[[Observation], Value]:
    """CPU time per transaction that ended."""

    def value(whole: Observation) -> float | None:
        ended, total_ns = whole.outcomes.ended, cpu_ns(whole)
        return total_ns / ended if ended and total_ns is not None else None

    return value


def _client_cpu_ns(whole: Observation) -> int | None:
    return whole.client_cost.cpu_ns if whole.has("client_cost") else None


def _server_cpu_ns(whole: Observation) -> int | None:
    return whole.server_cost.known_cpu_ns if whole.server_cost else None


CLIENT_CPU = Metric(
    name="client_cpu_per_transaction_ns",
    unit="ns",
    meaning="CPU time of the client",
    value=driven(_each(_client_cpu_ns)),
    is_whole=False,
    exported="CPU time of clients.",
)
SERVER_CPU = Metric(
    name="server_cpu_per_transaction_ns",
    unit="ns",
    meaning="CPU time of the server",
    null="not seen, or embedded in the client",
    value=driven(_each(_server_cpu_ns)),
    is_whole=False,
    words=USE,
    exported="CPU time of servers.",
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


OF_COSTS = (
    CLIENT_CPU,
    SERVER_CPU,
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
        is_result=lambda _run, value: bool(value),
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
