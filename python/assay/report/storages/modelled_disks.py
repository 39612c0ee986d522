"""Takes runs; returns a table of the modelled disks among their storages: what they are, and how
well they kept their time before the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from assay.record import RunRecord
from assay.report.cells import in_force
from assay.report.values import Cell, Column, Number, Row, Table, text
from assay.text import units

_NEAR = 0.05
"""Share of the modelled time by which the measured one may differ."""
_WHAT = (
    "times of one request; flush: of one page that was written at a random place, so with a seek, "
    "where the flushes/s of the probe are of pages one after the other"
)
_READ = "read"
_SLOW = 10
"""A model that takes so many times the I/O path overhead can be that near."""


class _Model(msgspec.Struct, frozen=True):
    profile: str
    source: str


class _Kind(msgspec.Struct, frozen=True):
    depth: int
    path_cost_ns: int
    modelled_ns: int
    measured_ns: int
    operation: str = _READ
    """Earlier versions measured reads alone."""


class _Facts(msgspec.Struct, frozen=True):
    model: _Model
    path_cost: tuple[_Kind, ...]


def table(runs: Iterable[RunRecord]) -> Table | None:
    """None where no storage is one."""
    storages = [run.deployment.storage for run in runs if run.deployment]
    modelled = {storage.name: storage for storage in storages if "model" in storage.facts}
    disks = {name: msgspec.convert(one.facts, _Facts) for name, one in modelled.items()}
    if not disks:
        return None
    columns = (
        *map(Column, ("storage", "profile", "operation")),
        *(
            Column(title, is_number=True)
            for title in ("depth", "by the model", "measured", "I/O path overhead")
        ),
    )
    return Table(
        "modelled_disks",
        "Modelled disks: mean time of a request at a random place, before the runs",
        columns,
        tuple(row for name, facts in disks.items() for row in _rows(name, facts)),
        (
            _WHAT,
            *dict.fromkeys(_source(facts.model) for facts in disks.values()),
            *(
                f"{name} differs from its profile in {', '.join(changed)}"
                for name, storage in modelled.items()
                if (changed := in_force.changes(storage))
            ),
            *(note for name, facts in disks.items() for note in _misses(name, facts)),
        ),
        2,
    )


def overhead_ns(run: RunRecord, operation: str) -> int | None:
    """Time of such a request that the disk answers at once; None where that was not measured."""
    facts = run.deployment.storage.facts if run.deployment else {}
    if "path_cost" not in facts:
        return None
    found = msgspec.convert(facts["path_cost"], tuple[_Kind, ...])
    of_it = [one for one in found if one.operation == operation]
    return min(of_it, key=lambda one: one.depth).path_cost_ns if of_it else None


def _rows(name: str, facts: _Facts) -> Iterator[Row]:
    for found in facts.path_cost:
        times = (found.modelled_ns, found.measured_ns, found.path_cost_ns)
        yield Row((
            text(name),
            text(facts.model.profile),
            text(found.operation),
            Cell(str(found.depth), Number(found.depth, "count")),
            *(Cell(units.latency(time_ns), Number(time_ns, "ns")) for time_ns in times),
        ))  # fmt: skip


def _misses(name: str, facts: _Facts) -> Iterator[str]:
    for found in facts.path_cost:
        # What a write cache takes is less than the overhead, and has no such limit.
        if (
            found.operation != _READ
            or abs(found.measured_ns - found.modelled_ns) <= _NEAR * found.modelled_ns
        ):
            continue
        why = "the I/O path overhead is a large part of its time"
        beyond_ns = abs(found.measured_ns - found.modelled_ns)
        if found.modelled_ns >= _SLOW * found.path_cost_ns or beyond_ns > 2 * found.path_cost_ns:
            why = "was the machine busy with other programs?"
        yield f"{name} was not within {_NEAR:.0%} of its model at depth {found.depth}: {why}"


def _source(model: _Model) -> str:
    return f"{model.profile} is modelled on {model.source}"
