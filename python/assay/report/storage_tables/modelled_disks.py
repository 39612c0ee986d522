"""Takes runs; returns a table of the modelled disks among their storages: what they are, and how
well they kept their time before the runs."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter, itemgetter

import msgspec

from assay.judge.evidence.modelled_disks import NEAR, Calibrated, calibrated, missed
from assay.record import Run
from assay.report import columns
from assay.report.columns import counts, numbers, of, words
from assay.report.sections.storages import changes
from assay.report.values import Number, ReportCell, ReportColumn, ReportTable
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


def table(runs: Iterable[Run]) -> ReportTable | None:
    """None where no storage is one."""
    storages = [run.deployment.storage for run in runs if run.deployment]
    modelled = {storage.name: storage for storage in storages if "model" in storage.facts}
    disks = {name: msgspec.convert(one.facts, _Facts) for name, one in modelled.items()}
    if not disks:
        return None
    requests = (
        (name, one.model.profile, found) for name, one in disks.items() for found in one.path_cost
    )
    return columns.table(
        "modelled_disks",
        "Modelled disks: mean time of a request at a random place, before the runs",
        (
            words("storage", itemgetter(0), is_label=True),
            words("profile", itemgetter(1), is_label=True),
            *of(itemgetter(2), _COLUMNS),
        ),
        requests,
        notes=(
            _WHAT,
            *dict.fromkeys(_source(facts.model) for facts in disks.values()),
            *(
                f"{name} differs from its profile in {', '.join(changed)}"
                for name, storage in modelled.items()
                if (changed := changes(storage))
            ),
            *(
                f"not within {NEAR:.0%} of its model: {words}"
                for storage in modelled.values()
                for words in missed(storage)
            ),
        ),
    )


def overhead_ns(run: Run, operation: str) -> int | None:
    """Time of such a request that the disk answers at once; None where that was not measured."""
    found = calibrated(run.deployment.storage) if run.deployment else ()
    of_it = [one for one in found if one.operation == operation]
    return min(of_it, key=lambda measured: measured.depth).path_cost_ns if of_it else None


def _time(title: str, name: str) -> ReportColumn:
    def shown(source: Calibrated) -> ReportCell:
        time_ns = getattr(source, name)
        return ReportCell(units.latency(time_ns), Number(time_ns, "ns"))

    return numbers(title, shown)


_COLUMNS = (
    words("operation", attrgetter("operation")),
    counts("depth", attrgetter("depth")),
    _time("by the model", "modelled_ns"),
    _time("measured", "measured_ns"),
    _time("I/O path overhead", "path_cost_ns"),
)


def _source(model: _Model) -> str:
    return f"{model.profile} is modelled on {model.source}"
