"""Takes runs; returns a table of the modelled disks among their storages: what they are, and how
well they kept their time before the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from assay.judge.evidence.modelled_disks import NEAR, Calibrated, calibrated, missed
from assay.record import RunRecord
from assay.report.cells import in_force
from assay.report.values import Number, ReportCell, ReportColumn, ReportTable, Row, text
from assay.text import units

_WHAT = (
    "times of one request; flush: of one page that was written at a random place, so with a seek, "
    "where the flushes/s of the probe are of pages one after the other"
)


class _Model(msgspec.Struct, frozen=True):
    profile: str
    source: str


class _Facts(msgspec.Struct, frozen=True):
    model: _Model
    path_cost: tuple[Calibrated, ...]


def table(runs: Iterable[RunRecord]) -> ReportTable | None:
    """None where no storage is one."""
    storages = [run.deployment.storage for run in runs if run.deployment]
    modelled = {storage.name: storage for storage in storages if "model" in storage.facts}
    disks = {name: msgspec.convert(one.facts, _Facts) for name, one in modelled.items()}
    if not disks:
        return None
    columns = (
        *map(ReportColumn, ("storage", "profile", "operation")),
        *(
            ReportColumn(title, is_number=True)
            for title in ("depth", "by the model", "measured", "I/O path overhead")
        ),
    )
    return ReportTable(
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
            *(
                f"not within {NEAR:.0%} of its model: {words}"
                for storage in modelled.values()
                for words in missed(storage)
            ),
        ),
        2,
    )


def overhead_ns(run: RunRecord, operation: str) -> int | None:
    """Time of such a request that the disk answers at once; None where that was not measured."""
    found = calibrated(run.deployment.storage) if run.deployment else ()
    of_it = [one for one in found if one.operation == operation]
    return min(of_it, key=lambda measured: measured.depth).path_cost_ns if of_it else None


def _rows(name: str, facts: _Facts) -> Iterator[Row]:
    for found in facts.path_cost:
        times = (found.modelled_ns, found.measured_ns, found.path_cost_ns)
        yield Row((
            text(name),
            text(facts.model.profile),
            text(found.operation),
            ReportCell(str(found.depth), Number(found.depth, "count")),
            *(ReportCell(units.latency(time_ns), Number(time_ns, "ns")) for time_ns in times),
        ))  # fmt: skip


def _source(model: _Model) -> str:
    return f"{model.profile} is modelled on {model.source}"
