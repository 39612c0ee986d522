"""Takes the clients of a cell's repetitions; returns the latency of their transactions in words:
percentiles of all, of each type where these are unlike, of each group of clients, and of what was
deferred.

Percentiles are medians of the repetitions; a maximum is the greatest of them.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from assay.contracts.observation import GroupReport, Latency, Observation, Resolution
from assay.judge.statistics.samples import known_ns
from assay.record import Run
from assay.record.metrics.deferred import of_run
from assay.report.cells import percentiles
from assay.text import units

Times = Sequence[tuple[Latency, Resolution]]
"""Of each repetition."""
TOGETHER = "\u00a0"
"""A blank at which no line is broken."""
_UNLIKE = 2
"""Times the median of one transaction type that of another is, where they are unlike."""
_MOST_TYPES = 3
_PERCENTILES = ("p50", "p95", "p99", "p99.9")
_FEWER = (_PERCENTILES, ("p50", "p99", "p99.9"), ("p50", "p99"), ("p99",), ())
"""Percentiles of a group, whose line must have room for the maximum."""


def times(measured: Iterable[Run]) -> Times:
    return [
        (run.measurement.of_clients.all_ok.latency, run.measurement.resolution) for run in measured
    ]


def unlike_types(measured: Sequence[Run]) -> dict[str, Times]:
    """The times of each transaction type, where the median of one is more than `_UNLIKE` times that
    of another: then that of all is the median of the most frequent one, and says nothing of the
    others. Else empty."""
    found: dict[str, list[tuple[Latency, Resolution]]] = {}
    for run in measured:
        for one in run.measurement.of_clients.transactions:
            if one.outcome == "ok":
                found.setdefault(one.name, []).append((one.latency, run.measurement.resolution))
    medians = [
        statistics.median(known)
        for of_type in found.values()
        if (known := [value for one, _ in of_type if (value := known_ns(one, "p50")) is not None])
    ]
    is_unlike = len(medians) > 1 and max(medians) > _UNLIKE * min(medians)
    return {name: of_type for name, of_type in found.items() if is_unlike}


def of_mix(measured: Sequence[Run]) -> str:
    """Of a mix of unlike types the median of each in place of one of all."""
    types = unlike_types(measured)
    if not types:
        return in_words(times(measured))
    most_first = sorted(types, key=lambda name: -types[name][0][0].due)
    shown = [f"{name} {percentile(types[name], 'p50')}" for name in most_first[:_MOST_TYPES]]
    if left := len(most_first) - len(shown):
        shown.append(f"{left} more types")
    rest = in_words(times(measured), _PERCENTILES[1:])
    return f"p50 of {', '.join(one.replace(' ', TOGETHER) for one in shown)}  {rest}"


def in_words(times: Times, names: Sequence[str] = _PERCENTILES) -> str:
    """``p50 9.79 µs  p95 20 µs …  max 2 ms``; without those of too few samples."""
    shown = {name: percentile(times, name) for name in (*names, "max")}
    said = [f"{name} {text}" for name, text in shown.items() if "n<" not in text]
    return "  ".join(one.replace(" ", TOGETHER) for one in said)


def percentile(times: Times, name: str) -> str:
    """The median of a percentile over the repetitions, with the digits of the one in the middle, or
    the greatest maximum; in the unit in which it is best read."""
    cells = [percentiles.cell(latency, name, "ms", resolution) for latency, resolution in times]
    if without := next((cell for cell in cells if cell.is_absent), None):
        return without.shown
    numbers = [cell.number for cell in cells if cell.number is not None]
    values_ns = [number.value for number in numbers]
    value_ns = max(values_ns) if name == "max" else statistics.median(values_ns)
    unit = "µs" if value_ns < 1_000_000 else "ms" if value_ns < 1_000_000_000 else "s"
    width_ns = 0 if name == "max" else percentiles.middle_width(numbers) or 0
    return units.time_with_unit(value_ns, unit, resolution_ns=width_ns)


def groups(measured: Sequence[Run]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(name, texts) of each group of clients, where there are several; the texts from the longest
    to the shortest, which has fewer percentiles."""
    if not measured or len(measured[0].measurement.groups) < 2:
        return ()
    by_name: dict[str, list[tuple[GroupReport, Observation]]] = {}
    for run in measured:
        for group in run.measurement.groups:
            by_name.setdefault(group.name, []).append((group, run.measurement))
    found = []
    for name, of_runs in by_name.items():
        tps = units.digits(statistics.median([group.throughput_per_s for group, _ in of_runs]))
        tps = f"{tps} TPS{_until([group.until_s(whole.elapsed_ns) for group, whole in of_runs])}"
        times_of_runs = [(group.all_ok.latency, whole.resolution) for group, whole in of_runs]
        texts = (f"{tps}  {in_words(times_of_runs, names)}" for names in _FEWER)
        found.append((name, tuple(texts)))
    return tuple(found)


def _until(of_runs: Sequence[float | None]) -> str:
    """`` until 3.90 s``, of a group that ended before the others; else empty."""
    early = [until_s for until_s in of_runs if until_s is not None]
    if not early:
        return ""
    few = f" in {len(early)} of {len(of_runs)} runs" if len(early) < len(of_runs) else ""
    return f" until {units.digits(statistics.median(early), 3)} s{few}"


def deferred(measured: Sequence[Run]) -> str:
    """``83 queued, 0 late, 0 not run; longest queue 2; wait p90 1.2 ms  max 3 ms; run p90 …``, of
    all repetitions; empty where nothing is deferred."""
    found = ((of_run(run), run) for run in measured)
    groups = [(group, run) for group, run in found if group is not None]
    if not groups:
        return ""
    queued, late, skipped = (
        sum(getattr(group.outcomes, name) for group, _ in groups)
        for name in ("scheduled", "late", "skipped")
    )
    longest = max(group.longest_queue or 0 for group, _ in groups)
    said = [f"{queued} queued, {late} late, {skipped} not run", f"longest queue {longest}"]
    waits = [
        (lag, run.measurement.resolution)
        for group, run in groups
        if (lag := group.all_ok.schedule_lag)
    ]
    runs = [(group.all_ok.service_time, run.measurement.resolution) for group, run in groups]
    for title, times in (("waited", waits), ("took", runs)):
        if shown := in_words(times, ("p90",)):
            said.append(f"{title} {shown}")
    return "; ".join(said)
