"""The evidence by which a run is judged: its settings, its results and how it ended; that of a run
under way; and what differs between the runs of a cell without being asked for."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import cast

from msgspec import convert
from msgspec.structs import replace

from assay.contracts.driving import DEFERRED
from assay.contracts.engine import ClientsSoFar
from assay.contracts.observation import (
    Arrival,
    ClientEnd,
    DeviceCost,
    DeviceRequests,
    GeneratorReport,
    Interval,
    LittlesLaw,
    MachineCost,
    MachineSecond,
    Observation,
    Outcomes,
    ServerCost,
    ServerReport,
    Standstill,
)
from assay.contracts.observation.clients import ArrivalKind
from assay.contracts.observation.merging import empty_observation
from assay.experiment import Driving
from assay.judge.run import Run
from assay.load.existing_data import ExistingTable
from assay.provision.undo import ledger
from assay.text import units

_SECOND_NS = 1_000_000_000
_SLOW = 10
"""As for the engine: what lasts less than so many median transactions is no stall."""
_CLOSED_LOOP = LittlesLaw(0.0, 0.0, 0.0, 0.0, 0.0)
"""Stands for a closed loop: how many clients the law finds in transactions is known at the end."""
_COUNTS = ("ok", "aborted", "failed", "unknown", "skipped", "late", "retries")


class SoFar:
    """Of one step."""

    def __init__(self, driving: Driving, clients: int) -> None:
        self._nothing = empty_observation(
            clients, Arrival(cast(ArrivalKind, driving.arrival), None)
        )
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
                _note_standstill(self._stalls, before, _SECOND_NS)
            self._still.clear()
        _note_standstill(self._stalls, second, stalled_ns)
        _note_standstill(self._suspensions, second, suspended_ns)
        return tuple(replace(one, stalled_ns=stalled_ns) for one in groups)

    def _are_short(self) -> bool:
        """Whether a second without the end of any is a stall; not as long as nothing is known."""
        return 0 < self._median_ns * _SLOW <= _SECOND_NS

    def observation(
        self, generators: Sequence[GeneratorReport] = (), clients: ClientsSoFar | None = None
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
                scheduled=attempted + sums["skipped"], attempts=attempted + sums["retries"], **sums
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
        grown = {name: self._grown(name) for name in DeviceRequests.__struct_fields__}
        if grown["read_bytes"] is None or grown["written_bytes"] is None:
            return None
        return convert({**grown, "device": self._machine[-1].device}, DeviceCost)


def _is_still(own: Sequence[Interval]) -> bool:
    """Whether clients waited and nothing ended."""
    has_ended = any(one.ok + one.aborted + one.failed + one.unknown for one in own)
    return not has_ended and any(one.clients_connected for one in own)


def _note_standstill(spans: list[Standstill], second: int, lasted_ns: int) -> None:
    """Extends the last span where this one continues it."""
    if not lasted_ns:
        return
    begins_ns = second * _SECOND_NS
    if spans and spans[-1].to_ns == begins_ns:
        spans[-1] = replace(spans[-1], to_ns=begins_ns + lasted_ns)
    else:
        from_ns = begins_ns + _SECOND_NS - lasted_ns
        spans.append(Standstill(from_ns, begins_ns + _SECOND_NS))


SAME_ROWS = 0.01
"""Runs that write change the number of rows themselves: by this share it is the same data."""
_DIGITS = 8
"""Of a digest, as it is shown."""
_MOST_VALUES = 3
_MOST_SETTINGS = 3

Values = Sequence[tuple[int, str]]
"""Number of the run → what was found there."""


def unasked_changes(runs: Sequence[Run]) -> str:
    """``version 15.18 in runs 1-2, 18.6 in runs 3-4``; empty where all found the same. ``runs``:
    those that were measured."""
    return "; ".join(_changes_of_runs(runs))


def changed_while_reading(run: Run) -> str:
    """The tables that did not hold the same after the run as before, though it committed
    nothing; empty: there are none, it may have changed them itself, or several servers answer at
    that address (which is said), so that two looks at one table may be at two."""
    if run.existing_data is None or writes(run):
        return ""
    if run.driven is not None and len({one.described for one in run.driven.servers}) > 1:
        return ""
    after = {one.name: one for one in run.existing_data.after}
    return ", ".join(
        f"{before.name} had {_shown_table(before)} before and {_shown_table(later)} after"
        if before.rows != later.rows
        else f"{before.name} has other values"
        for before in run.existing_data.before
        if (later := after.get(before.name)) is not None
        and not (before.unknown or later.unknown)
        and held_rows(before) != held_rows(later)
    )


def writes(run: Run) -> bool:
    """Whether its clients may have changed data; what those of a lost load generator committed is
    not known."""
    if run.driven is None or any(one.is_lost for one in run.driven.generators):
        return True
    return run.driven.commits != 0


def changed_tables(run: Run) -> set[str]:
    """Names of those that its clients changed: they held something else after it than before."""
    data = run.existing_data if writes(run) else None
    before = {one.name: held_rows(one) for one in (data.before if data else ())}
    after = data.after if data else ()
    return {one.name for one in after if held_rows(one) != before.get(one.name)}


def held_rows(table: ExistingTable) -> tuple[int | None, str]:
    return table.rows, table.digest


def is_same_number(rows: Sequence[int], *, is_written: bool) -> bool:
    """Whether tables with so many rows may hold the same data; ``is_written``: the runs write."""
    allowed = SAME_ROWS if is_written else 0
    return not rows or max(rows) - min(rows) <= allowed * max(rows)


def _changes_of_runs(runs: Sequence[Run]) -> Iterator[str]:
    versions = [(run.id, run.deployment.version) for run in runs if run.deployment]
    if len({value for _, value in versions}) > 1:
        yield f"version {_in_runs(versions)}"
    roles = [(run.id, run.deployment.role) for run in runs if run.deployment]
    said = [(number, role.described) for number, role in roles if role]
    if len({value for _, value in said}) > 1:
        yield f"role {_in_runs(said)}"
    servers = [(run.id, run.driven.servers) for run in runs if run.driven and run.driven.servers]
    places = [(number, _places(found)) for number, found in servers]
    if len({value for _, value in places}) > 1:
        yield f"server {_in_runs(places)}"
    yield from _changed_settings(runs)
    yield from _changed_tables(runs)


def _places(servers: Sequence[ServerReport]) -> str:
    return " and ".join(sorted({one.address or one.version for one in servers}))


def _changed_settings(runs: Sequence[Run]) -> Iterator[str]:
    known = [
        (run.id, run.deployment.settings)
        for run in runs
        if run.deployment and run.deployment.settings and not run.deployment.settings_unknown
    ]
    if all(settings == known[0][1] for _, settings in known):
        return  # as nearly always
    names = dict.fromkeys(name for _, settings in known for name in settings if name != "port")
    changed = []
    for name in names:
        values = [(number, str(settings.get(name, "default"))) for number, settings in known]
        different = {value for _, value in values}
        if len(different) > 1 and not any(map(ledger.is_path_of_a_run, different)):
            changed.append(f"{name} {_in_runs(values)}")
    yield from changed[:_MOST_SETTINGS]
    if left := len(changed[_MOST_SETTINGS:]):
        yield f"and {units.counted(left, 'further setting')}"


def _changed_tables(runs: Sequence[Run]) -> Iterator[str]:
    """Before each run. Rows that runs only add are their own work, and so are values that they
    change."""
    tables = [
        (run.id, table)
        for run in runs
        if run.existing_data
        for table in run.existing_data.before
        if not table.is_only_added_to and not table.unknown
    ]
    for name in dict.fromkeys(table.name for _, table in tables if table.indexes):
        indexes = [(number, table.indexes) for number, table in tables if table.name == name]
        if len({known for _, known in indexes if known}) > 1:
            yield f"indexes of {name} {_in_runs(indexes)}"
    by_writers = any(map(writes, runs))
    for name in dict.fromkeys(table.name for _, table in tables):
        here = [(number, table) for number, table in tables if table.name == name]
        rows = [table.rows or 0 for _, table in here]
        if not is_same_number(rows, is_written=by_writers):
            yield f"rows of {name} {_in_runs([(number, str(one.rows)) for number, one in here])}"
        elif not by_writers and len({table.digest for _, table in here if table.digest}) > 1:
            digests = [(number, one.digest[:_DIGITS]) for number, one in here]
            yield f"values of {name} {_in_runs(digests)}"


def _in_runs(values: Values) -> str:
    """``15.18 in runs 1-2, 18.6 in run 3``."""
    runs_of: dict[str, list[int]] = {}
    for number, value in values:
        runs_of.setdefault(value, []).append(number)
    shown = [
        f"{value or 'empty'} in {_shown_runs(numbers)}"
        for value, numbers in list(runs_of.items())[:_MOST_VALUES]
    ]
    if left := len(runs_of) - _MOST_VALUES:
        shown += [f"and {left} others"] if left > 0 else []
    return ", ".join(shown)


def _shown_runs(numbers: Sequence[int]) -> str:
    """``run 3``, ``runs 1-2 and 5``: runs in a row are a range."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][-1] + 1:
            spans[-1] = [spans[-1][0], number]
        else:
            spans.append([number])
    words = ["-".join(map(str, span)) for span in spans]
    return f"{'run' if len(numbers) == 1 else 'runs'} {' and '.join(words)}"


def _shown_table(table: ExistingTable) -> str:
    return units.counted(table.rows or 0, "row")
