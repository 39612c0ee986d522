"""Takes the seconds of a step that is under way; gives its observation as far as it is known, by
which its warnings are those of a run that has ended.

What is known only at the end is left out: it is not `stop` by which it ended, and the distribution
of its latencies and the time between transactions are not known.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import cast

from msgspec.structs import replace

from assay.contracts.driving import DEFERRED
from assay.contracts.engine.drive import ClientsSoFar
from assay.contracts.observation import (
    Arrival,
    ClientEnd,
    DeviceCost,
    GeneratorReport,
    Interval,
    LittlesLaw,
    MachineCost,
    MachineSecond,
    Observation,
    Outcomes,
    ServerCost,
    Standstill,
)
from assay.contracts.observation.of_nothing import of_nothing
from assay.contracts.observation.parts.groups import ArrivalKind
from assay.experiment import Driving

_SECOND_NS = 1_000_000_000
_SLOW = 10
"""As for the engine: what lasts less than so many median transactions is no stall."""
_CLOSED_LOOP = LittlesLaw(0.0, 0.0, 0.0, 0.0, 0.0)
"""Stands for a closed loop: how many clients the law finds in transactions is known at the end."""
_COUNTS = ("ok", "aborted", "failed", "unknown", "skipped", "late", "retries")


class SoFar:
    """Of one step."""

    def __init__(self, driving: Driving, clients: int) -> None:
        self._nothing = of_nothing(clients, Arrival(cast(ArrivalKind, driving.arrival), None))
        self._sums = dict.fromkeys(_COUNTS, 0)
        self._seconds = 0
        self._median_ns = 0
        """The longest of any second and group."""
        self._still: list[int] = []
        """Seconds in which clients waited and nothing ended, before a median was known."""
        self._stalls: list[Standstill] = []
        self._suspensions: list[Standstill] = []
        self._machine: list[MachineSecond] = []

    def add(
        self, groups: Sequence[Interval], machine: MachineSecond | None = None
    ) -> tuple[Interval, ...]:
        """Adds a second; returns it with its stalled time, which the engine itself reports only at
        the end, and then of parts of seconds as well."""
        own = [one for one in groups if one.group != DEFERRED] or list(groups)
        for name in _COUNTS:
            self._sums[name] += sum(getattr(one, name) for one in own)
        second = own[0].second
        self._seconds = second + 1
        if machine is not None:
            self._machine.append(machine)
        suspended_ns = max(one.suspended_ns for one in own)
        stalled_ns = max(one.stalled_ns for one in own)
        is_still = not stalled_ns and not suspended_ns and _is_still(own)
        if is_still and self._are_short():
            stalled_ns = _SECOND_NS
        elif is_still and not self._median_ns:
            self._still.append(second)
        self._median_ns = max(self._median_ns, *(one.p50_ns for one in own))
        if self._are_short():
            for before in self._still:
                _note(self._stalls, before, _SECOND_NS)
            self._still.clear()
        _note(self._stalls, second, stalled_ns)
        _note(self._suspensions, second, suspended_ns)
        return tuple(replace(one, stalled_ns=stalled_ns) for one in groups)

    def _are_short(self) -> bool:
        """Whether a second without the end of any is a stall; not as long as nothing is known."""
        return 0 < self._median_ns * _SLOW <= _SECOND_NS

    def observation(
        self,
        generators: Sequence[GeneratorReport] = (),
        clients: ClientsSoFar | None = None,
    ) -> Observation | None:
        """None where no second has passed. ``generators``: what is known of them; the seconds have
        what one that was lost had reported. ``clients``: as it was last said."""
        if not self._seconds:
            return None
        sums = self._sums
        lost_unknown = sum(one.unknown for one in generators if one.is_lost)
        sums = sums | {"unknown": sums["unknown"] + lost_unknown}
        attempted = sum(sums[name] for name in ("ok", "aborted", "failed", "unknown"))
        return replace(
            self._nothing if clients is None else self._with(clients),
            elapsed_ns=self._seconds * _SECOND_NS,
            outcomes=Outcomes(
                scheduled=attempted + sums["skipped"],
                attempts=attempted + sums["retries"],
                **sums,
            ),
            all_ok=replace(self._nothing.all_ok, count=sums["ok"]),
            stalls=tuple(self._stalls),
            suspensions=tuple(self._suspensions),
            server_cost=self._server_cost(),
            machine_cost=self._machine_cost(),
            device_cost=self._device_cost(),
            generators=tuple(generators),
        )

    def _with(self, clients: ClientsSoFar) -> Observation:
        """As much as there would be after so many seconds, at the rate so far: it was said a moment
        behind them."""
        share = self._seconds * _SECOND_NS / max(1, clients.elapsed_ns)
        cost = clients.client_cost
        busy_ns = cost.machine_busy_ns
        return replace(
            self._nothing,
            threads=clients.threads,
            statements=round(clients.statements * share),
            outages=clients.outages,
            littles_law=_CLOSED_LOOP if clients.transactions else None,
            client_ends=tuple(
                ClientEnd(number, group, clients.elapsed_ns, 0, count, "done")
                for group, counts in clients.transactions.items()
                for number, count in enumerate(counts)
            ),
            client_cost=replace(
                cost,
                user_ns=round(cost.user_ns * share),
                system_ns=round(cost.system_ns * share),
                waited_for_processor_ns=round(cost.waited_for_processor_ns * share),
                machine_busy_ns=None if busy_ns is None else round(busy_ns * share),
            ),
        )

    def _grown(self, name: str, unit: int = 1) -> int | None:
        """Since the measurement began, of a number per second; None: never known."""
        known = [value for one in self._machine if (value := getattr(one, name)) is not None]
        return round(statistics.fmean(known) * self._seconds * unit) if known else None

    def _server_cost(self) -> ServerCost | None:
        """Of it only its CPU time."""
        cpu_ns = self._grown("server_cpus", _SECOND_NS)
        return None if cpu_ns is None else ServerCost(cpu_ns, None, 0, 0)

    def _machine_cost(self) -> MachineCost | None:
        """Of its states only how busy it was."""
        busy_ns = self._grown("machine_cpus", _SECOND_NS)
        if busy_ns is None:
            return None
        others_ns = self._grown("other_cpus", _SECOND_NS)
        return MachineCost(busy_ns, 0, 0, 0, 0, 0.0, 0, 0, other_programs_ns=others_ns)

    def _device_cost(self) -> DeviceCost | None:
        names = ("reads", "writes", "flushes", "read_bytes", "written_bytes")
        grown = {name: self._grown(name) for name in names}
        read_bytes, written_bytes = grown.pop("read_bytes"), grown.pop("written_bytes")
        if read_bytes is None or written_bytes is None:
            return None
        return DeviceCost(self._machine[-1].device, read_bytes, written_bytes, **grown)


def _is_still(own: Sequence[Interval]) -> bool:
    """Whether clients waited and nothing ended."""
    has_ended = any(one.ok + one.aborted + one.failed + one.unknown for one in own)
    return not has_ended and any(one.clients_connected for one in own)


def _note(spans: list[Standstill], second: int, lasted_ns: int) -> None:
    """Extends the last span where this one continues it."""
    if not lasted_ns:
        return
    begins_ns = second * _SECOND_NS
    if spans and spans[-1].to_ns == begins_ns:
        spans[-1] = replace(spans[-1], to_ns=begins_ns + lasted_ns)
    else:
        from_ns = begins_ns + _SECOND_NS - lasted_ns
        spans.append(Standstill(from_ns, begins_ns + _SECOND_NS))
