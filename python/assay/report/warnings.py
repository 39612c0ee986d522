"""Every known way in which a run can mislead, by name, each with its cause and its cure.

A warning is kept with its run (name and detail) and printed with every report that shows the run.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from assay.provision.deployment import was_embedded
from assay.record import RunRecord
from assay.record.records import WarningRecord
from assay.report import headroom, service, standstills, units
from assay.report.settings import mean_the_same
from assay.report.values import WarningNote

NOISE_LIMIT = 0.20
"""Repetitions that lie further apart than this share of their median are noisy."""
CLIENT_SHARE_LIMIT = 0.20
"""Share of the machine's processors beyond which the client takes them from the server."""
CLIENT_THREADS_LIMIT = 0.70
"""Busy share of the engine's threads beyond which transactions wait for the client."""
SHORTEST_S = 10
"""A run that ends by time and measures less than so many seconds is short."""
REACHED = 0.95
"""Share of the offered rate that must end for the rate to be reached, beside chance."""
LATE_LIMIT = 0.01
"""Share of late and skipped transactions beyond which a warning is due."""
WARM_UP_LIMIT = 0.20
"""By how much the first fifth of a measurement may differ from the rest."""
DRAIN_LIMIT = 0.10
"""Share of the measurement that may be spent waiting for the last transactions."""
WAIT_LIMIT = 0.10
"""Share of their time that the client's threads may wait for a processor, and share of the
machine's processors that other programs may take meanwhile."""
LEAST_COST_NS = 100_000_000
"""Of a shorter measurement nothing is said of processors: the kernel counts in ticks of 1-10 ms,
and the clients' connecting and ending weighs in."""
_LEAST_SECONDS = 5
_DETAILS_SHOWN = 4


@dataclass(frozen=True)
class _Text:
    cause: str
    cure: str
    limits: bool = False
    """Whether it limits what may be concluded from the numbers of its run."""


class Kind(Enum):
    """All warnings there are; the record holds their names."""

    ONE_REPETITION = _Text(
        "each cell was run once, so nothing is known of how much repetitions differ",
        "--repetitions 3 or more",
    )
    NOISY_REPETITIONS = _Text(
        f"repetitions differ by more than {units.share(NOISE_LIMIT)} of their median",
        "stop what else runs on this machine, drive longer, or use more --repetitions",
    )
    FEW_SAMPLES = _Text(
        "too few samples for some percentiles",
        "more clients, more passes or a longer run",
    )
    FITS_IN_MEMORY = _Text(
        "the data set fits in memory, so reads hardly touch the storage",
        "load more rows than the machine has memory, where the storage is the question",
    )
    DURABILITY_LOWERED = _Text(
        "settings let the system lose commits that it acknowledged",
        "leave these settings at their defaults; compare only what keeps the same promise",
        limits=True,
    )
    SETTINGS_UNKNOWN = _Text(
        "the server does not tell its settings, so what its speed rests on is not in the record",
        "name the server itself in the URL, and not a pooler or proxy in front of it",
    )
    SYNTHETIC_DATA = _Text(
        "the rows are synthetic: lengths and frequencies are those of real data, the rows are not",
        "load the real files",
    )
    INPUT_SKIPPED = _Text(
        "entries of the input could not be read and are not in the data set",
        "correct the places that are listed with the data set",
    )
    SCRIPT = _Text(
        "a script says what it probably does not mean",
        "change the places that are named",
    )
    ERRORS = _Text(
        "transactions failed; had they succeeded, the others might have taken longer",
        "look at the errors; --retries N tries again after deadlocks and serialization failures",
    )
    OUTAGE = _Text(
        "for a while no transaction succeeded, though clients sent some; the numbers include it",
        "look at the course of the run, and at the server's log",
        limits=True,
    )
    STALLED = _Text(
        "no transaction ended for a second or more, and ten times as long as they take in the "
        "median, while clients waited for an answer",
        "look at the server's log and at the machine's storage for these seconds (checkpoints, "
        "locks, flushes); a longer --duration shows whether it comes again",
        limits=True,
    )
    CLIENT_SUSPENDED = _Text(
        "this program did not run for a while (stopped by a signal, its container or virtual "
        "machine paused, or no processor left for it): what was measured then is no property of "
        "the system",
        "run it again on a machine that is not paused; fewer programs beside it",
        limits=True,
    )
    LONG_DRAIN = _Text(
        f"more than {units.share(DRAIN_LIMIT)} of the measurement was spent waiting for the last "
        "transactions: most clients were at rest then, and throughput divides by all of it",
        "a longer --duration, beside which the longest transaction is short; the course shows the "
        "throughput while all clients were at work",
        limits=True,
    )
    CLIENT_WAITED_FOR_PROCESSOR = _Text(
        "the client's threads were ready to run and had to wait for a processor, while other "
        "programs kept the machine busy: what was measured is that load too",
        "stop what else runs on this machine, or give the run processors of its own",
        limits=True,
    )
    STARVED_CLIENTS = _Text(
        f"some clients ended less than {units.share(service.STARVED_SHARE)} of what the most "
        "served one ended: they waited while others went ahead, and percentiles hold hardly "
        "anything of it",
        "fewer clients where only one can write at a time; look for locks that are handed over "
        "unfairly; judge by the transactions of each client and the oldest in flight",
        limits=True,
    )
    UNACCOUNTED_TIME = _Text(
        f"more than {units.share(service.LAW_LIMIT)} of the clients' time is in no figure: "
        "clients = throughput x (response time + pause), Little's law, does not hold",
        "a longer --duration, in which transactions begun in the warm-up weigh less; if these "
        "never end, look for what they wait for",
        limits=True,
    )
    LATE_ARRIVALS = _Text(
        "transactions came too late, or could not begin in time",
        "offer a lower rate, use more clients, or widen --latency-limit",
    )
    OFFERED_RATE_NOT_REACHED = _Text(
        "the system did not keep up with the offered rate: response times grow for as long as the "
        "run lasts, and say how long that was",
        "offer less; the highest rate that is kept up is what the system can do",
        limits=True,
    )
    SKIPPED_BY_LATENCY_LIMIT = _Text(
        "a part of the offered transactions could not begin within the latency limit and was "
        "skipped: the numbers are of those that were begun, at a lower rate than was offered",
        "offer less, use more clients, or widen --latency-limit",
        limits=True,
    )
    SHORT_WARM_UP = _Text(
        "throughput at the beginning of the measurement is unlike that of the rest",
        "a longer --warm-up",
        limits=True,
    )
    SHORT_MEASUREMENT = _Text(
        f"a measurement of less than {SHORTEST_S} s tells little of what a system does in the "
        "background (checkpoints, vacuum, compaction)",
        "a longer --duration",
        limits=True,
    )
    CLIENT_BUSY = _Text(
        f"the client used more than {units.share(CLIENT_SHARE_LIMIT)} of the machine's processors, "
        f"or kept its threads busy for more than {units.share(CLIENT_THREADS_LIMIT)} of the time, "
        "so its own speed is part of the numbers",
        "fewer clients, or more --threads where processors are idle",
        limits=True,
    )
    NEAR_THE_CLIENT_CEILING = _Text(
        f"more than {units.share(headroom.CEILING_LIMIT)} of what this machine's client can do, so "
        "the client's own speed is part of the numbers",
        "more --threads where processors are idle, or clients on another machine",
        limits=True,
    )
    SETTINGS_DIFFER = _Text(
        "the system did not take a setting as asked",
        "look up the allowed values of this setting in the system's manual",
    )
    RANGE_EXCEEDED = _Text(
        "response times above one hour are counted, but not in the percentiles",
        "fewer clients or passes",
    )

    @property
    def id(self) -> str:
        """``fits-in-memory``, as records and reports spell it."""
        return self.name.lower().replace("_", "-")


def of_run(run: RunRecord, machine: Mapping[str, Any]) -> list[WarningRecord]:
    """What can be said of one run by itself."""
    return [WarningRecord(kind.id, detail) for kind, detail in _of_run(run, machine)]


def notes(warnings: Iterable[WarningRecord]) -> tuple[WarningNote, ...]:
    """The warnings of many runs, each kind once. Kinds this program does not know (a newer one kept
    them) come last and without cause and cure."""
    details: dict[str, list[str]] = {}
    for name, detail in warnings:
        details.setdefault(name, []).append(detail)
    kinds = {kind.id: kind.value for kind in Kind}
    ordered = [name for name in kinds if name in details]
    ordered += [name for name in details if name not in kinds]
    return tuple(
        WarningNote(name, text.cause, _distinct(details[name]), text.cure)
        for name in ordered
        for text in [kinds.get(name, _Text("", ""))]
    )


def client_shares(run: RunRecord, machine: Mapping[str, Any]) -> tuple[float, float] | None:
    """(share of the machine's processors, busy share of the engine's threads) the client took.

    None where the system lives in the client's own process: its work cannot be told apart; and
    where the measurement is too short for the kernel's counting.
    """
    observation, site = run.observation or {}, run.site or {}
    cost, elapsed_ns = observation.get("client_cost"), observation.get("elapsed_ns")
    if not cost or not elapsed_ns or was_embedded(site):
        return None
    if elapsed_ns < LEAST_COST_NS:
        return None
    busy = (cost["user_ns"] + cost["system_ns"]) / elapsed_ns
    threads = max(1, observation.get("threads") or 1)
    return min(1.0, busy / _processors(machine)), min(1.0, busy / threads)


def processor_wait(run: RunRecord, machine: Mapping[str, Any]) -> tuple[float, float] | None:
    """(share of their time that the client's threads waited for a processor, share of the machine's
    processors that other programs took meanwhile).

    None where it cannot be told: a server behind a URL may be one of these programs.
    """
    observation, site = run.observation or {}, run.site or {}
    cost, elapsed_ns = observation.get("client_cost") or {}, observation.get("elapsed_ns") or 0
    waited_ns, busy_ns = cost.get("waited_for_processor_ns"), cost.get("machine_busy_ns")
    if waited_ns is None or busy_ns is None or elapsed_ns < LEAST_COST_NS:
        return None
    server_ns = (observation.get("server_cost") or {}).get("cpu_ns")
    if server_ns is None and not was_embedded(site):
        return None
    others_ns = max(0, busy_ns - cost["user_ns"] - cost["system_ns"] - (server_ns or 0))
    threads = max(1, observation.get("threads") or 1)
    processors = machine.get("processors") or _processors(machine)
    return (
        min(1.0, waited_ns / elapsed_ns / threads),
        min(1.0, others_ns / elapsed_ns / processors),
    )


def _processors(machine: Mapping[str, Any]) -> int:
    return machine.get("processors_usable") or machine.get("processors") or 1


def _of_run(run: RunRecord, machine: Mapping[str, Any]) -> Iterator[tuple[Kind, str]]:
    dataset, site, observation = run.dataset or {}, run.site or {}, run.observation or {}
    size_bytes, memory_bytes = dataset.get("size_on_disk_bytes"), memory_of(machine)
    if size_bytes and memory_bytes and size_bytes < memory_bytes:
        yield Kind.FITS_IN_MEMORY, f"{units.size(size_bytes)} of {units.size(memory_bytes)}"
    for setting in site.get("durability_lowered_by", ()):
        yield Kind.DURABILITY_LOWERED, f"{run.system_label}: {setting}"
    if dataset.get("source") == "synthetic":
        yield Kind.SYNTHETIC_DATA, str(dataset.get("description", ""))
    if skipped := dataset.get("skipped_entries"):
        yield Kind.INPUT_SKIPPED, units.counted(skipped, "entry", "entries")
    shares = client_shares(run, machine)
    if shares and (shares[0] > CLIENT_SHARE_LIMIT or shares[1] > CLIENT_THREADS_LIMIT):
        yield (
            Kind.CLIENT_BUSY,
            f"{run.system_label}, {units.counted(run.clients, 'client')}: {units.share(shares[0])} "
            f"of the processors, its threads {units.share(shares[1])} busy",
        )
    waits = processor_wait(run, machine)
    if waits and min(waits) > WAIT_LIMIT:
        yield (
            Kind.CLIENT_WAITED_FOR_PROCESSOR,
            f"{run.system_label}, {units.counted(run.clients, 'client')}: its threads waited "
            f"{units.share(waits[0])} of the time, other programs took {units.share(waits[1])} of "
            "the processors",
        )
    room = headroom.of_run(run)
    if room and room.share > headroom.CEILING_LIMIT:
        yield (
            Kind.NEAR_THE_CLIENT_CEILING,
            f"{run.system_label}, {units.counted(run.clients, 'client')}: "
            f"{units.digits(room.statements_per_s)} statements/s, {units.share(room.share)} of "
            f"{units.digits(room.ceiling.statements_per_s)} at "
            f"{units.counted(room.ceiling.clients, 'client')}",
        )
    if unknown := site.get("settings_unknown"):
        yield Kind.SETTINGS_UNKNOWN, f"{run.system_label}: {unknown}"
    effective, confirmed = site.get("settings", {}), site.get("settings_confirmed", ())
    for name, asked in site.get("settings_asked", {}).items():
        if name in confirmed:
            continue
        found = effective.get(name)
        if found is None:
            yield Kind.SETTINGS_DIFFER, f"{run.system_label}: {name} = {asked} cannot be read back"
        elif not mean_the_same(str(asked), str(found)):
            yield Kind.SETTINGS_DIFFER, f"{run.system_label}: {name} = {asked} became {found}"
    yield from _of_service(run)
    yield from _of_driving(run)
    for sentence in observation.get("script_warnings", ()):
        yield Kind.SCRIPT, sentence
    overflow = sum(one["response_time"]["overflow"] for one in observation.get("transactions", ()))
    if overflow:
        yield (
            Kind.RANGE_EXCEEDED,
            f"{run.system_label}, {units.counted(run.clients, 'client')}: {overflow}",
        )


def _of_service(run: RunRecord) -> Iterator[tuple[Kind, str]]:
    """Whether all clients were served all the time; also where no transaction ended at all."""
    observation = run.observation or {}
    for kind, words in (
        (Kind.STALLED, standstills.summary(observation, standstills.STALLED)),
        (Kind.CLIENT_SUSPENDED, standstills.summary(observation, standstills.SUSPENDED)),
        (Kind.STARVED_CLIENTS, service.starved(observation)),
        (Kind.UNACCOUNTED_TIME, service.missing_by_law(observation)),
    ):
        if words:
            yield kind, f"{run.system_label}, {units.counted(run.clients, 'client')}: {words}"


def _of_driving(run: RunRecord) -> Iterator[tuple[Kind, str]]:
    """What can be said of how the clients fared."""
    observation = run.observation or {}
    outcomes, elapsed_ns = observation.get("outcomes"), observation.get("elapsed_ns") or 0
    if not outcomes or not outcomes["scheduled"]:
        return
    name = f"{run.system_label}, {units.counted(run.clients, 'client')}"
    scheduled = outcomes["scheduled"]
    if lost := outcomes["failed"] + outcomes["unknown"]:
        share = units.percent(lost / scheduled)
        yield Kind.ERRORS, f"{name}: {lost} of {scheduled} ({share})"
    if outages := observation.get("outages"):
        lasted_ns = sum(one["to_ns"] - one["from_ns"] for one in outages)
        yield Kind.OUTAGE, f"{name}: {units.counted(len(outages), 'time')}, {lasted_ns / 1e9:.1f} s"
    drained_ns = observation.get("drained_ns") or 0
    if drained_ns > DRAIN_LIMIT * elapsed_ns:
        yield (
            Kind.LONG_DRAIN,
            f"{name}: {drained_ns / 1e9:.1f} s of the {elapsed_ns / 1e9:.1f} s were waiting for "
            "the last transactions",
        )
    late, skipped = outcomes.get("late") or 0, outcomes.get("skipped") or 0
    if (late + skipped) / scheduled > LATE_LIMIT:
        share = units.percent((late + skipped) / scheduled)
        yield Kind.LATE_ARRIVALS, f"{name}: {late} late, {skipped} skipped of {scheduled} ({share})"
    offered_per_s = run.driving.get("offered_rate_per_s")
    if offered_per_s and elapsed_ns > drained_ns:
        # Nothing is due while the last transactions are waited for.
        asked_s = (elapsed_ns - drained_ns) / 1e9
        expected = offered_per_s * asked_s
        ended = scheduled - skipped
        # Poisson arrivals scatter by the root of their number.
        if ended < REACHED * expected and expected - ended > 3 * math.sqrt(expected):
            words = f"{name}: {units.digits(ended / asked_s)}/s of {offered_per_s:g}/s"
            if run.driving.get("latency_limit_s") and skipped:
                yield Kind.SKIPPED_BY_LATENCY_LIMIT, f"{words}, {skipped} skipped"
            else:
                yield Kind.OFFERED_RATE_NOT_REACHED, words
    if run.driving.get("duration_s") and observation.get("ended_by", "stop") == "stop":
        if elapsed_ns - drained_ns < SHORTEST_S * 1e9:
            yield Kind.SHORT_MEASUREMENT, f"{(elapsed_ns - drained_ns) / 1e9:.1f} s"
        yield from _of_warm_up(run, name, elapsed_ns - drained_ns)


def _of_warm_up(run: RunRecord, name: str, asked_ns: int) -> Iterator[tuple[Kind, str]]:
    """Whether the first fifth of the whole seconds in which transactions began is like the rest."""
    intervals = (run.observation or {}).get("intervals", ())
    ok = [one["ok"] for one in intervals][: int(asked_ns // 1_000_000_000)]
    if len(ok) < _LEAST_SECONDS:
        return
    fifth = len(ok) // 5
    first, rest = statistics.fmean(ok[:fifth]), statistics.median(ok[fifth:])
    if rest and abs(first / rest - 1) > WARM_UP_LIMIT:
        yield (
            Kind.SHORT_WARM_UP,
            f"{name}: {units.digits(first)}/s in the first {units.counted(fifth, 'second')}, "
            f"{units.digits(rest)}/s then",
        )


def memory_of(machine: Mapping[str, Any]) -> int:
    """Bytes this process may use: the machine's memory, or its control group's limit."""
    limits = [machine.get("memory_bytes"), machine.get("memory_limit_bytes")]
    return min((limit for limit in limits if limit), default=0)


def _distinct(details: Iterable[str]) -> tuple[str, ...]:
    """Each detail once, the first few; what is left is counted."""
    distinct = list(dict.fromkeys(detail for detail in details if detail))
    more = len(distinct) - _DETAILS_SHOWN
    return (*distinct[:_DETAILS_SHOWN], *([f"and {more} more"] if more > 0 else []))
