"""Takes the seconds of several machines; returns those of all: one line for each second and
group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.contracts.observation.merging import spans
from assay.contracts.observation.merging.fields import rules
from assay.contracts.observation.parts.intervals import Interval
from assay.contracts.observation.parts.latency import encoded, merged_latency_or_none
from assay.contracts.observation.parts.service import Standstill


def merged_intervals(
    parts: Sequence[Sequence[Interval]],
    stalls: Sequence[Standstill],
    suspensions: Sequence[Standstill],
) -> tuple[Interval, ...]:
    """In the order of seconds, and of groups as they first come."""
    groups = list(dict.fromkeys(line.group for lines in parts for line in lines))
    known = [{(line.second, line.group): line for line in lines} for lines in parts]
    seconds = 1 + max((line.second for lines in parts for line in lines), default=-1)
    connected = [dict.fromkeys(groups, 0) for _ in parts]
    found = []
    for second in range(seconds):
        for group in groups:
            lines = []
            for lines_of_machine, clients in zip(known, connected, strict=True):
                if (line := lines_of_machine.get((second, group))) is not None:
                    lines.append(line)
                    # Behind a machine's last line its clients are as they were.
                    clients[group] = line.clients_connected
            total = sum(clients[group] for clients in connected)
            found.append(line_of(second, group, lines, total, stalls, suspensions))
    return tuple(found)


def line_of(
    second: int,
    group: str,
    lines: Iterable[Interval],
    clients_connected: int,
    stalls: Sequence[Standstill],
    suspensions: Sequence[Standstill],
) -> Interval:
    """The lines of one group as that of one second; the spans are of the whole measurement."""
    lines = list(lines)
    latency = merged_latency_or_none([line.latency for line in lines])
    lag = merged_latency_or_none([line.schedule_lag for line in lines])
    sums = [name for name, rule in rules(Interval).items() if rule.together is sum]
    begin_ns, end_ns = second * spans.SECOND_NS, (second + 1) * spans.SECOND_NS
    return Interval(
        second=second,
        group=group,
        **{name: sum(getattr(line, name) for line in lines) for name in sums},
        clients_connected=clients_connected,
        latency=encoded(latency) if latency else None,
        schedule_lag=encoded(lag) if lag else None,
        p50_ns=(latency.p50_ns or 0) if latency else 0,
        p99_ns=(latency.p99_ns or 0) if latency else 0,
        max_ns=latency.max_ns if latency else 0,
        schedule_lag_p99_ns=lag.p99_ns if lag else None,
        stalled_ns=spans.within(stalls, begin_ns, end_ns),
        suspended_ns=spans.within(suspensions, begin_ns, end_ns),
    )
