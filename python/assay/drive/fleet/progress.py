"""Takes how far each part of a drive is; returns how far the whole is, its seconds, and what its
clients have done so far."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from assay.contracts.engine.drive import ClientsSoFar, DrainProgress, DriveProgress
from assay.contracts.observation import Interval, Outage
from assay.contracts.observation.merging import spans
from assay.contracts.observation.merging.merged_intervals import line_of
from assay.contracts.observation.merging.simultaneous import client_cost


class Seconds:
    """The seconds of all parts; each is complete when every part has reported it."""

    def __init__(self, parts: Collection[int]) -> None:
        self._parts = set(parts)
        self._reported: dict[int, dict[int, list[Interval]]] = {}
        """Second → part → its intervals."""

    def add(self, part: int, intervals: Sequence[Interval]) -> None:
        for interval in intervals:
            self._reported.setdefault(interval.second, {}).setdefault(part, []).append(interval)

    def leave_out(self, part: int) -> None:
        """It reports no more."""
        self._parts.discard(part)

    def take(self) -> tuple[Interval, ...]:
        """Those that were completed since the last call, one of each group."""
        complete = [
            at for at, parts in sorted(self._reported.items()) if parts.keys() >= self._parts
        ]
        return tuple(line for at in complete for line in _lines(at, self._reported.pop(at)))


class ClientsOfAll:
    """What the clients of all parts have done so far; anew when every part has said it again. Of
    one that was lost nothing is measured."""

    def __init__(self, parts: Collection[int], *, on_one_machine: bool) -> None:
        self._awaited = set(parts)
        self._on_one_machine = on_one_machine
        self._said: dict[int, ClientsSoFar] = {}
        self._new: set[int] = set()

    def add(self, part: int, so_far: ClientsSoFar | None) -> None:
        if so_far is not None:
            self._said[part] = so_far
            self._new.add(part)

    def end(self, part: int) -> None:
        """It has done all that it was to do."""
        self._awaited.discard(part)

    def leave_out(self, part: int) -> None:
        """It was lost."""
        self.end(part)
        self._said.pop(part, None)
        self._new.discard(part)

    def take(self) -> ClientsSoFar | None:
        if not self._new or not self._new >= self._awaited:
            return None
        self._new.clear()
        parts = list(self._said.values())
        loads = [part.load_1min for part in parts if part.load_1min is not None]
        transactions: dict[str, tuple[int, ...]] = {}
        for part in parts:
            for group, counts in part.transactions.items():
                transactions[group] = (*transactions.get(group, ()), *counts)
        return ClientsSoFar(
            elapsed_ns=max(part.elapsed_ns for part in parts),
            threads=sum(part.threads for part in parts),
            client_cost=client_cost([part.client_cost for part in parts], 0, self._on_one_machine),
            statements=sum(part.statements for part in parts),
            load_1min=max(loads, default=None),
            outages=spans.common([part.outages for part in parts], Outage),
            transactions=transactions,
        )


def _lines(second: int, parts: Mapping[int, Sequence[Interval]]) -> Iterator[Interval]:
    by_group: dict[str, list[Interval]] = {}
    for intervals in parts.values():
        for interval in intervals:
            by_group.setdefault(interval.group, []).append(interval)
    for group, intervals in by_group.items():
        connected = sum(interval.clients_connected for interval in intervals)
        yield line_of(second, group, intervals, connected, (), ())


def together(
    reports: Sequence[DriveProgress], seconds: tuple[Interval, ...], so_far: ClientsSoFar | None
) -> DriveProgress:
    """The progress of all parts as that of one."""
    scheduled = [report.scheduled for report in reports if report.scheduled is not None]
    drains = [report.draining for report in reports if report.draining is not None]
    return DriveProgress(
        elapsed_s=max(report.elapsed_s for report in reports),
        done=sum(report.done for report in reports),
        scheduled=sum(scheduled) if len(scheduled) == len(reports) else None,
        ok=sum(report.ok for report in reports),
        failed=sum(report.failed for report in reports),
        clients_running=sum(report.clients_running for report in reports),
        seconds=seconds,
        so_far=so_far,
        draining=DrainProgress(
            open=sum(drain.open for drain in drains),
            elapsed_s=max(drain.elapsed_s for drain in drains),
            limit_s=max(drain.limit_s for drain in drains),
        )
        if drains
        else None,
    )
