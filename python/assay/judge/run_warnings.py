"""Takes the evidence of a run; returns its warnings: the name of each way in which it can mislead
(`assay.judge.warning_kinds`), and what that says of this run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from assay.contracts.capabilities import CAPABILITIES
from assay.contracts.driving import CONTINUE, ISOLATION_LEVELS
from assay.contracts.observation import GeneratorReport, Observation, Standstill
from assay.contracts.observation.clients import most_unknown
from assay.contracts.observation.costs import OTHERS_LIMIT
from assay.judge import evidence, service_levels, storage_checks, warning_kinds
from assay.judge.machine_load import (
    client_shares,
    is_disturbed,
    memory_of,
    other_programs,
    processor_wait,
)
from assay.judge.run import EXCEEDED, Run, RunWarning
from assay.judge.storage_checks import missed_disk_times
from assay.judge.warning_kinds import WarningKind, unsteady
from assay.load.dataset import Dataset
from assay.text import pattern, units
from assay.text.units import share_beyond

_COUNTED_BY = {
    "read_iops": "reads",
    "write_iops": "writes",
    "read_bps": "read_bytes",
    "write_bps": "written_bytes",
}
"""Fields of `DeviceCost` that count what a storage limits."""


def of_run(run: Run) -> list[RunWarning]:
    """The warnings of a single run."""
    own = [RunWarning(kind.id, detail) for kind, detail in _of_run(run)]
    reported = (found for report in run.reports for found in report.warnings())
    return [*own, *(RunWarning(name, f"{run.named_run}: {detail}") for name, detail in reported)]


def _of_run(run: Run) -> Iterator[tuple[WarningKind, str]]:
    deployment, driven = run.deployment, run.driven
    yield from _of_dataset(run)
    if run.existing_data is not None and (unknown := run.existing_data.unknown):
        yield WarningKind.DATA_UNKNOWN, f"{run.system_label}: {unknown}"
    if changed := evidence.changed_while_reading(run):
        yield WarningKind.DATA_CHANGED, f"{run.named_run}: {changed}"
    for words in (
        storage_checks.what_lowers_durability(deployment) if deployment and run.may_commit else ()
    ):
        yield WarningKind.DURABILITY_LOWERED, f"{run.system_label}: {words}"
    held = deployment.durability if deployment else None
    if held is not None and held.is_contradicted:
        yield WarningKind.CLASS_CONTRADICTED, f"{run.named_run}: {held.reason}"
    if deployment is not None and (nodes := deployment.nodes_on_this_machine):
        yield WarningKind.NODES_ON_ONE_MACHINE, f"{run.system_label}: {nodes} nodes"
    shares = client_shares(run)
    busy = []
    if shares and shares[0] > warning_kinds.CLIENT_SHARE_LIMIT:
        share = share_beyond(shares[0], warning_kinds.CLIENT_SHARE_LIMIT)
        busy.append(f"used {share} of the machine's CPUs")
    if shares and shares[1] > warning_kinds.CLIENT_THREADS_LIMIT:
        busy_share = share_beyond(shares[1], warning_kinds.CLIENT_THREADS_LIMIT)
        busy.append(f"its threads were busy {busy_share} of the time")
    if busy:
        yield WarningKind.CLIENT_BUSY, f"{run.name}: {'; '.join(busy)}"
    waits = processor_wait(run)
    if waits and min(waits) > warning_kinds.WAIT_LIMIT:
        yield (
            WarningKind.CLIENT_WAITED_FOR_PROCESSOR,
            f"{run.named_run}: its threads waited {units.share(waits[0])} of the time, other "
            f"programs used {share_beyond(waits[1], OTHERS_LIMIT)} of the CPUs",
        )
    others = other_programs(run)
    if others and is_disturbed(run):
        share = share_beyond(others, OTHERS_LIMIT)
        words = f"other programs used {share} of the processors"
        yield WarningKind.OTHER_PROGRAMS, f"{run.named_run}: {words}"
    room = service_levels.headroom(run)
    if room and room.share > service_levels.CEILING_LIMIT:
        yield (
            WarningKind.NEAR_THE_CLIENT_CEILING,
            f"{run.name}: "
            f"{units.digits(room.statements_per_s)} statements/s, "
            f"{share_beyond(room.share, service_levels.CEILING_LIMIT)} of "
            f"{units.digits(room.ceiling.statements_per_s)} at "
            f"{units.counted(room.ceiling.clients, 'client')}",
        )
    yield from _of_servers(run)
    yield from _of_settings(run)
    yield from _of_storage_limits(run)
    yield from _of_cache(run)
    if driven is not None:
        yield from _of_service(run, driven)
        if run.state != EXCEEDED:  # its last transactions were cancelled, which is no error
            yield from _of_driving(run, driven)
        if driven.left_out:
            yield WarningKind.SCRIPTS_LEFT_OUT, f"{run.name}: without {', '.join(driven.left_out)}"
        for name in driven.went_without:
            words = f"without {name} ({CAPABILITIES[name]})"
            yield WarningKind.WENT_WITHOUT, f"{run.system_label}: {words}"
        if driven.declared_atomic:
            yield WarningKind.DECLARED_ATOMIC, f"{run.name}: {', '.join(driven.declared_atomic)}"
        for named, level in driven.other_isolation.items():
            is_weaker = ISOLATION_LEVELS.index(level) < ISOLATION_LEVELS.index(named)
            kind = WarningKind.ISOLATION_LOWERED if is_weaker else WarningKind.ISOLATION_RAISED
            yield kind, f"{run.name}: {named} → {level}"
        yield from _of_generators(run, driven)
        yield from _of_replicas(run, driven)
        for sentence in driven.script_warnings:
            yield WarningKind.SCRIPT, sentence
        if overflow := sum(one.latency.overflow for one in driven.transactions):
            yield WarningKind.RANGE_EXCEEDED, f"{run.name}: {overflow}"


def _of_generators(run: Run, driven: Observation) -> Iterator[tuple[WarningKind, str]]:
    lost = [one for one in driven.generators if one.is_lost]
    if run.driving.on_lost == CONTINUE and 0 < len(lost) < len(driven.generators):
        most = most_unknown(lost, "transactions unknown")
        words = f"{', '.join(driven.lost_generators)}, {most}"
        yield WarningKind.GENERATOR_LOST, f"{run.named_run}: {words}"
    yield from clocks_apart(run.named_run, driven.generators)


def _of_replicas(run: Run, driven: Observation) -> Iterator[tuple[WarningKind, str]]:
    for one in driven.staleness:
        if one.p50_ns is None or one.p99_ns is None or one.p99_ns <= warning_kinds.STALE_NS:
            continue
        times = f"median {units.latency(one.p50_ns)}, p99 {units.latency(one.p99_ns)}"
        never = f", {one.not_read} of {one.numbers} numbers not read at the end"
        words = f"{one.name}: {times}{never if one.not_read else ''}"
        yield WarningKind.STALE_REPLICA, f"{run.named_run}: {words}"


def clocks_apart(
    named_run: str, generators: Sequence[GeneratorReport]
) -> Iterator[tuple[WarningKind, str]]:
    for number, one in enumerate(generators, 1):
        name = f"{named_run}: load machine {number}"
        uncertain_ns, drift_ns_per_s = one.clock_uncertainty_ns, one.clock_drift_ns_per_s
        if uncertain_ns is not None and uncertain_ns > warning_kinds.CLOCKS_UNCERTAIN_NS:
            yield WarningKind.CLOCKS_APART, f"{name} is known to ±{uncertain_ns / 1e6:.1f} ms"
        drift_ms = abs(drift_ns_per_s or 0.0) * 60 / 1e6
        if drift_ms > warning_kinds.CLOCKS_DRIFT_MS_PER_MIN:
            yield WarningKind.CLOCKS_APART, f"{name} drifts by {drift_ms:.1f} ms a minute"


def _of_servers(run: Run) -> Iterator[tuple[WarningKind, str]]:
    """Who answered the sessions: more servers than the URL names, or one behind a pooler."""
    servers = run.driven.servers if run.driven else ()
    different: Counter[str] = Counter()
    for server in servers:
        different[server.described] += server.sessions
    named = len(run.deployment.members) if run.deployment is not None else 0
    if len(different) > max(1, named):
        shown = (f"{units.counted(n, 'session')} by {one}" for one, n in different.most_common())
        yield WarningKind.SEVERAL_SERVERS, f"{run.named_run}: {', '.join(shown)}"
    if run.deployment is not None and run.deployment.pooler:
        yield WarningKind.BEHIND_POOLER, f"{run.system_label}: {run.deployment.pooler} answers"
    elif any(server.is_behind_pooler for server in servers):
        yield (
            WarningKind.BEHIND_POOLER,
            f"{run.system_label}: the server's ids of its sessions are not those that the clients "
            "were given at login",
        )


def _of_dataset(run: Run) -> Iterator[tuple[WarningKind, str]]:
    """Of its size and origin."""
    dataset = run.data
    if dataset is None:
        return
    size_bytes, memory_bytes = dataset.size_on_disk_bytes, _memory_of_system(run)
    if size_bytes and memory_bytes and size_bytes < memory_bytes:
        of_memory = f"{units.size(size_bytes)} of {units.binary(memory_bytes)}"
        yield WarningKind.FITS_IN_MEMORY, of_memory
    if dataset.request.origin == "synthetic":
        yield WarningKind.SYNTHETIC_DATA, dataset.request.description
    if dataset.data_to_buffer_asked is not None:
        yield WarningKind.BUFFER_NOT_SIZED, f"{run.name}: {_of_buffer(dataset)}"
    if skipped := dataset.request.skipped_items:
        yield WarningKind.INPUT_SKIPPED, units.counted(skipped, "item")


def _of_buffer(dataset: Dataset) -> str:
    """``data 24 MB, 6 times the buffer asked; it has 128 MiB, the data are 0.19 times that``."""
    asked = f"{dataset.data_to_buffer_asked:.12g} times the buffer asked"
    data = f"data {units.size(dataset.data_bytes)}, {asked}" if dataset.data_bytes else asked
    if dataset.buffer_bytes is None:
        return f"{data}; its buffer is not known"
    buffer = f"{data}; it has {units.binary(dataset.buffer_bytes)}"
    if dataset.data_to_buffer is None:
        return buffer
    return f"{buffer}, the data are {units.digits(dataset.data_to_buffer)} times as large"


def _memory_of_system(run: Run) -> int:
    """Bytes: this machine's, or the limit that the system was given."""
    limit = run.deployment.memory_limit_bytes if run.deployment else None
    return min((size for size in (limit, memory_of(run.machine)) if size), default=0)


def _of_cache(run: Run) -> Iterator[tuple[WarningKind, str]]:
    """Whether a warm cache was warm, and whether a test of the device read from it."""
    per_transaction = storage_checks.read_per_transaction(run)
    is_of_device = run.driven is not None and run.driven.reads_device
    if (
        is_of_device
        and per_transaction is not None
        and per_transaction <= storage_checks.READ_LIMIT_BYTES
    ):
        yield WarningKind.NOT_FROM_DEVICE, f"{run.named_run}: nothing was read from the device"
    if not storage_checks.is_to_be_warm(run) or run.driven is None or not run.driven.ended:
        return
    read_bytes = storage_checks.read_per_transaction(run)
    if read_bytes is None:
        yield WarningKind.WARM_NOT_VERIFIED, run.name
    elif read_bytes > storage_checks.READ_LIMIT_BYTES:
        yield WarningKind.NOT_WARM, f"{run.name}: {units.size(read_bytes)} per transaction"


def _of_settings(run: Run) -> Iterator[tuple[WarningKind, str]]:
    """Whether the system took them, and is as far away as was asked."""
    deployment = run.deployment
    if deployment is None:
        return
    if kept_bytes := deployment.page_cache_kept_bytes:
        yield WarningKind.PAGE_CACHE_KEPT, f"{run.name}: {units.size(kept_bytes)}"
    delay = deployment.delay
    if delay and abs(delay.measured_rtt_s / delay.rtt_s - 1) > warning_kinds.RTT_LIMIT:
        yield (
            WarningKind.ROUND_TRIP_DIFFERS,
            f"{run.system_label}: {units.short_duration(delay.measured_rtt_s)} measured, "
            f"{units.short_duration(delay.rtt_s)} asked",
        )
    if unknown := deployment.settings_unknown:
        yield WarningKind.SETTINGS_UNKNOWN, f"{run.system_label}: {unknown}"
    for name, asked in deployment.settings_asked.items():
        if name in deployment.settings_confirmed:
            continue
        found = deployment.settings.get(name)
        if found is None:
            yield (
                WarningKind.SETTINGS_DIFFER,
                f"{run.system_label}: {name} = {asked} cannot be read back",
            )
        elif not mean_the_same(str(asked), str(found)):
            yield (
                WarningKind.SETTINGS_DIFFER,
                f"{run.system_label}: {name} = {asked} became {found}",
            )


def _of_storage_limits(run: Run) -> Iterator[tuple[WarningKind, str]]:
    """Whether the model of the storage was kept, and its limits held for the device."""
    storage = run.deployment.storage if run.deployment else None
    if storage is None:
        return
    for words in missed_disk_times(storage):
        yield WarningKind.MODEL_NOT_KEPT, words
    if not storage.limits:
        return
    did = run.driven.device_cost if run.driven else None
    elapsed_s = run.driven.elapsed_ns / 1e9 if run.driven else 0.0
    exceeded = []
    for name, limit in storage.limits.items():
        done = getattr(did, _COUNTED_BY[name], None) if name in _COUNTED_BY else None
        if done and elapsed_s and done / elapsed_s > warning_kinds.STORAGE_LIMIT_TOLERANCE * limit:
            shown = units.size if name.endswith("_bps") else units.digits
            exceeded.append(f"{name} {shown(limit)}/s, of the device {shown(done / elapsed_s)}/s")
    if exceeded:
        yield WarningKind.STORAGE_LIMIT_EXCEEDED, f"{run.named_run}: {'; '.join(exceeded)}"
    elif storage.is_write_back_free:
        yield WarningKind.WRITE_BACK_NOT_LIMITED, storage.name


def _of_service(run: Run, observation: Observation) -> Iterator[tuple[WarningKind, str]]:
    """Whether all clients were served all the time; also where no transaction ended at all."""
    elapsed_ns = observation.elapsed_ns
    for kind, words in (
        (WarningKind.STALLED, _stood_still(observation.stalls, elapsed_ns)),
        (WarningKind.CLIENT_SUSPENDED, _stood_still(observation.suspensions, elapsed_ns)),
        (WarningKind.STARVED_CLIENTS, service_levels.starved(observation)),
        (WarningKind.UNACCOUNTED_TIME, service_levels.missing_by_law(observation)),
    ):
        if words:
            yield kind, f"{run.name}: {words}"


def _of_driving(run: Run, observation: Observation) -> Iterator[tuple[WarningKind, str]]:
    """What happened to the transactions of the clients."""
    outcomes, elapsed_ns = observation.outcomes, observation.elapsed_ns
    if not outcomes.scheduled:
        return
    name, scheduled = run.name, outcomes.scheduled
    observed = observation.observed_outcomes
    if lost := observed.lost:
        share = units.percent(lost / scheduled)
        counts = {"failed": observed.failed, "unknown": observed.unknown}
        counted = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        yield WarningKind.ERRORS, f"{name}: {counted} of {scheduled} ({share})"
    if count := observation.partly_durable:
        yield WarningKind.PARTLY_DURABLE, f"{name}: {count} of {scheduled}"
    if count := observation.not_retried:
        yield WarningKind.RETRIES_IMPOSSIBLE, f"{name}: {count} of {scheduled}"
    if count := observation.prepared_again:
        yield WarningKind.PREPARED_AGAIN, f"{name}: {units.counted(count, 'time')}"
    if outcomes.aborted == scheduled:
        yield WarningKind.ALL_ABORTED, f"{name}: {scheduled} of {scheduled}"
    if outages := observation.outages:
        lasted_ns = sum(one.lasted_ns for one in outages)
        yield (
            WarningKind.OUTAGE,
            f"{name}: {units.counted(len(outages), 'time')}, {lasted_ns / 1e9:.1f} s",
        )
    pauses = [one for one in (run.driving.keying_time, run.driving.think_time) if one]
    is_one_each = observation.transactions_per_client.most <= 1
    if pauses and is_one_each and run.driving.duration_s and not run.driving.is_open:
        measured = units.short_duration(elapsed_ns / 1e9)
        yield WarningKind.PAUSES_TOO_LONG, f"{name}: {', '.join(pauses)}; measured {measured}"
    drained_ns = observation.drained_ns
    is_lost = observed.lost == scheduled  # the errors say why
    if drained_ns > warning_kinds.DRAIN_LIMIT * elapsed_ns and not is_lost:
        yield (
            WarningKind.LONG_DRAIN,
            f"{name}: {drained_ns / 1e9:.1f} s of the {elapsed_ns / 1e9:.1f} s were waiting for "
            "the last transactions",
        )
    late, skipped = outcomes.late, outcomes.skipped
    if (late + skipped) / scheduled > service_levels.LATE_LIMIT:
        share = units.percent((late + skipped) / scheduled)
        yield (
            WarningKind.LATE_ARRIVALS,
            f"{name}: {late} late, {skipped} skipped of {scheduled} ({share})",
        )
    rate = service_levels.offered_and_reached(run.driving, observation)
    if rate is not None and not rate.is_kept:
        words = f"{name}: {units.digits(rate.reached_per_s)}/s of {rate.offered_per_s:.15g}/s"
        if run.driving.latency_limit_s and skipped:
            yield WarningKind.SKIPPED_BY_LATENCY_LIMIT, f"{words}, {skipped} skipped"
        else:
            yield WarningKind.OFFERED_RATE_NOT_REACHED, words
    if observation.ended_by == "stop":
        measured_ns = elapsed_ns - drained_ns
        # The time that passes take is their result, not the length of a sample.
        is_of_passes = set(run.driving.stop) == {"passes"}
        shortest_s = warning_kinds.SHORTEST_PASSES_S if is_of_passes else warning_kinds.SHORTEST_S
        if measured_ns < shortest_s * 1e9:
            kind = WarningKind.SHORT_PASSES if is_of_passes else WarningKind.SHORT_MEASUREMENT
            yield kind, units.short_duration(measured_ns / 1e9)
        if run.driving.duration_s and not storage_checks.is_to_be_cold(run):
            from assay.judge import seconds

            yield from seconds.warnings_of_seconds(run, observation)


def _stood_still(standstills: Sequence[Standstill], elapsed_ns: int) -> str:
    """``2 times, 5.1 s of 6.0 s, the longest 4.0 s from 1.2 s on``; empty where there are none."""
    if not standstills:
        return ""
    lasted_s = [one.lasted_ns / 1e9 for one in standstills]
    longest_s, since_ns = max(zip(lasted_s, (one.from_ns for one in standstills), strict=True))
    words = f"{sum(lasted_s):.1f} s of {elapsed_ns / 1e9:.1f} s, "
    if len(standstills) > 1:
        words = f"{len(standstills)} times, {words}the longest {longest_s:.1f} s "
    return f"{words}from {since_ns / 1e9:.1f} s on"


# Takes the value of a setting as given and as read back; returns whether they mean the same.
#
# Servers report values in their own spelling: ``1GB`` may be read back as ``1073741824``, and
# ``on`` as ``1``. No setting is known here by name.

_BOOLEANS = {"on": "1", "true": "1", "yes": "1", "off": "0", "false": "0", "no": "0"}
_QUANTITY = pattern(r"([-+]?\d+(?:\.\d+)?)\s*([a-zµ]*)")
_BYTES: Mapping[str, float] = {
    f"{prefix}{ending}": 1024.0**power
    for power, prefix in enumerate(("k", "m", "g", "t"), start=1)
    for ending in ("", "b", "ib")
} | {"b": 1.0}
_SECONDS: Mapping[str, float] = {
    "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0
}  # fmt: skip


def mean_the_same(asked: str, effective: str) -> bool:
    return _meaning(asked) == _meaning(effective)


def _meaning(word: str) -> tuple[str, float] | str:
    word = word.strip().strip("'\"").casefold()
    word = _BOOLEANS.get(word, word)
    if parts := _QUANTITY.fullmatch(word):
        number, unit = float(parts[1]), parts[2]
        if unit in _SECONDS:
            return "time", round(number * _SECONDS[unit], 9)
        if unit == "" or unit in _BYTES:
            return "number", number * _BYTES.get(unit, 1.0)
    return word


_OF_ANOTHER_RATE = {
    WarningKind.OFFERED_RATE_NOT_REACHED.id,
    WarningKind.SKIPPED_BY_LATENCY_LIMIT.id,
}


def why_not_steady(warnings: Iterable[RunWarning]) -> str:
    """``starved clients, unaccounted time``; empty where nothing is known against it."""
    return _those(unsteady(), warnings)


def why_not_ranked(warnings: Iterable[RunWarning]) -> str:
    """Also where latencies belong to another rate than was offered; empty where nothing is known
    against a comparison."""
    return _those(unsteady() | _OF_ANOTHER_RATE, warnings)


def _those(kinds: Collection[str], warnings: Iterable[RunWarning]) -> str:
    names = dict.fromkeys(warning.name for warning in warnings if warning.name in kinds)
    return ", ".join(name.replace("-", " ") for name in names)
